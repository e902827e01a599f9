import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.text.encoding.decoding import TextDecoder, aligned_words, distinct
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.translation import (
    PairEncoder,
    TranslationText,
    languages_of,
    source_of,
)
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary, first_tokens

# Words that are spelled like specials, and what is written differently.
TEXTS = ["ein <s> Hut , </s> .", "\\<s> \\</s> \\pad ▁ \\n", ""]


def encoder_of(name="whitespace", texts=TEXTS, specials=BOUNDS):
    tokenizer = make_tokenizer({"name": name})
    counts = Vocabulary.count([tokenizer(tf.constant(texts))])
    vocabulary = Vocabulary.from_counts(counts, specials=specials)
    return TextEncoder(tokenizer, vocabulary)


def decoded(encoder, ids, *args, **options):
    texts = TextDecoder(encoder, **options)(tf.constant(ids), *args)
    return [text.decode() for text in texts.numpy().ravel()]


def test_specials_have_their_ids_and_no_text_does(tmp_path):
    encoder = encoder_of()
    encoder.save(str(tmp_path))
    for vocabulary in (
        encoder.vocabulary,
        TextEncoder.load(str(tmp_path)).vocabulary,
    ):
        assert vocabulary.specials == BOUNDS
        assert vocabulary.tokens[:4] == ["\\pad", "\\oov", "\\<s>", "\\</s>"]
        assert (vocabulary.BOS, vocabulary.EOS) == (2, 3)
        assert vocabulary.tokens.index("<s>") > 3
    assert encoder(tf.constant(TEXTS)).flat_values.numpy().min() > 3
    assert encoder_of(specials=()).vocabulary.specials == ()


def test_specials_count_among_the_entries():
    counts = {"a": 3, "b": 2, "c": 1}
    made = Vocabulary.from_counts(counts, max_size=6, specials=BOUNDS)
    assert made.tokens[4:] == ["a", "b"]
    with pytest.raises(ConfigError, match="max_size must be 0 or above 4"):
        Vocabulary.from_counts(counts, max_size=4, specials=BOUNDS)
    with pytest.raises(ValueError, match="begin with '<'"):
        Vocabulary.from_counts(counts, specials=("\\s",))


# The regex tokenizer forgets where spaces were.
@pytest.mark.parametrize("name", ["whitespace", "reversible"])
@pytest.mark.parametrize("saved", [False, True])
def test_decoding_undoes_encoding(tmp_path, name, saved):
    encoder = encoder_of(name)
    if saved:
        encoder.save(str(tmp_path))
        encoder = TextEncoder.load(str(tmp_path))
    ids = encoder(tf.constant(TEXTS)).to_tensor()
    assert decoded(encoder, ids) == TEXTS


def test_a_text_ends_at_its_first_end():
    encoder = encoder_of()
    hut, ein = map(encoder.vocabulary.tokens.index, ("Hut", "ein"))
    ids = [
        [[2, ein, hut, 3, hut], [3, ein, 2, 3, 0]],
        [[hut, 0, ein, 3, 0]] * 2,
    ]
    assert decoded(encoder, ids) == ["ein Hut", "", "Hut", "Hut"]


@pytest.mark.parametrize(
    "name, expected",
    [("whitespace", "ein ? Hut \\n"), ("reversible", "ein ? Hut \\n")],
)
def test_unknown_words_are_written_or_replaced(name, expected):
    encoder = encoder_of(name, ["ein Hut"])
    tokens = encoder.vocabulary.tokens
    ein = next(i for i, token in enumerate(tokens) if "ein" in token)
    hut = next(i for i, token in enumerate(tokens) if "Hut" in token)
    ids = [[ein, 1, hut, 10**6, 3]]
    words = tf.constant([["x", "?", "x", "\\n", "x"]])
    assert decoded(encoder, ids, words) == [expected]
    assert decoded(encoder, ids, unknown="UNK") == ["ein UNK Hut UNK"]


def test_words_of_no_characters_leave_no_runs_of_spaces():
    """A source of subwords may hold a piece that is but a space."""
    tokenizer = make_tokenizer({"name": "sentencepiece"})
    tokenizer = tokenizer.trained([tf.constant(["ein Hut", "ein Hut"])], 20)
    tokens = [*first_tokens(BOUNDS), "▁ein", "▁Hut", "▁"]
    encoder = TextEncoder(tokenizer, Vocabulary(tokens))
    source = tf.constant([["▁", "☃", "▁x", "\\\\"]])
    ids = tf.constant([[[1, 1, 1, 4, 1, 5, 6, 5, 1, 3]]])
    places = tf.constant([[[0, 1, 2, 0, 0, 0, 0, 0, 0, 0]]])
    words = aligned_words(source, places)
    assert decoded(encoder, ids, words) == ["☃ x ein Hut Hut"]
    words = aligned_words(source, tf.ones_like(places) * 3)
    expected = "\\ \\ \\ ein \\ Hut Hut \\"
    assert decoded(encoder, ids, words) == [expected]
    expected = "<unk> <unk> <unk> ein <unk> Hut Hut <unk>"
    assert decoded(encoder, ids) == [expected]


def test_aligned_words_are_those_of_the_most_attention():
    source = tf.constant([["▁a▁", "b\\\\", "c"], ["▁d", "", ""], ["", "", ""]])
    places = tf.constant([[[2, 1]], [[0, 0]], [[0, 0]]])
    words = aligned_words(source, places)
    assert words.numpy().tolist() == [
        [[b"c", b"b\\"]],
        [[b"d", b"d"]],
        [[b"", b""]],
    ]
    nothing = aligned_words(source[2:, :0], places[2:])
    assert nothing.numpy().tolist() == [[[b"", b""]]]


def test_of_equal_texts_the_first_stays():
    texts = [["a", "b", "a", "c"], ["d", "", "d", "d"], ["", "", "", ""]]
    scores = [[-1.0, -2.0, -3.0, -4.0]] * 3
    texts, scores = distinct(tf.constant(texts), tf.constant(scores), -9.0)
    assert texts.numpy().tolist() == [
        [b"a", b"b", b"c", b""],
        [b"d", b"", b"", b""],
        [b""] * 4,
    ]
    assert scores.numpy().tolist() == [
        [-1.0, -2.0, -4.0, -9.0],
        [-1.0, -2.0, -9.0, -9.0],
        [-1.0, -9.0, -9.0, -9.0],
    ]
    none = distinct(tf.zeros([0, 2], tf.string), tf.zeros([0, 2]), 0.0)
    assert [part.shape for part in none] == [(0, 2)] * 2


def test_pairs_end_with_an_end_and_are_read_again(tmp_path):
    text = TranslationText(
        encoder_of(texts=["a hat"], specials=()), {"de": encoder_of()}
    )
    pair = text.pair("en-de")
    assert isinstance(pair, PairEncoder)
    sources, targets = tf.constant(["a hat", "cat"]), tf.constant(["Hut", ""])
    found = pair({"source": sources, "target": targets})
    hut = text.targets["de"].vocabulary.tokens.index("Hut")
    assert found["tokens"].to_list() == [[2, 3], [1]]
    assert found["target"].to_list() == [[hut, 3], [3]]
    assert found["target"].dtype == tf.int32
    # Each side is as long as it is; a source may come alone.
    assert pair.axes == {"tokens": "source", "target": "target"}
    alone = pair({"source": sources})
    assert list(alone) == ["tokens"]
    assert alone["tokens"].to_list() == found["tokens"].to_list()
    text.save(str(tmp_path))
    loaded = TranslationText.load(str(tmp_path), ["en-de"])
    assert loaded.target_sizes == text.target_sizes
    assert len(loaded.source.vocabulary) == 4
    assert len(loaded.tables) == 2
    with pytest.raises(ConfigError, match="target language 'fr'"):
        text.pair("en-fr")


def test_names_of_pairs():
    assert languages_of("en-pt-BR") == ("en", "pt-BR")
    assert source_of(["en-de", "en-fr"]) == "en"
    for name in ("en", "-de", "en-"):
        with pytest.raises(ConfigError, match="source-target"):
            languages_of(name)
    with pytest.raises(ConfigError, match="language can be called 'source'"):
        languages_of("en-source")
    with pytest.raises(ConfigError, match="one source language.*en-de and fr"):
        source_of(["en-de", "fr-de"])
