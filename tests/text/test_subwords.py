import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.subwords import MODEL_FILE, SentencePieceTokenizer
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary, first_tokens
from tests.launch import helpers

TEXTS = ["Das alte Haus .", "das Haus ist alt !", "Ein\taltes \\ Haus"] * 4


@pytest.fixture(scope="module")
def tokenizer():
    untrained = make_tokenizer({"name": "sentencepiece"})
    return untrained.trained([tf.constant(TEXTS)], 40)


def encoder_of(tokenizer):
    tokens = [*first_tokens(BOUNDS), *tokenizer.pieces]
    return TextEncoder(tokenizer, Vocabulary(tokens))


def test_pieces_join_to_the_text(tokenizer):
    texts = ["Das Haus , alt\\neu", "", "\\pad \\ ☃ </s>", "a  b\nc"]
    pieces = tokenizer(tf.constant(texts))
    joined = tokenizer.detokenize(pieces).numpy().tolist()
    expected = [" ".join(text.split()) for text in texts]
    assert [text.decode() for text in joined] == expected
    assert pieces[1].shape == [0]


def test_frequent_words_are_pieces_and_rare_ones_are_not(tokenizer):
    assert tokenizer(["Haus"]).to_list() == [["▁Haus".encode()]]
    assert len(tokenizer(["Hausboot"]).to_list()[0]) > 1


def test_a_piece_never_has_the_id_of_a_marker(tokenizer):
    encoder = encoder_of(tokenizer)
    ids = encoder(tf.constant(["\\pad \\<s> \\</s> <s>", "alt ☃"]))
    flat = ids.flat_values.numpy()
    assert flat.min() >= 1
    assert not {2, 3} & set(flat.tolist())
    assert 1 in ids[1].numpy()  # the snowman


@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_equal_texts_give_equal_models(model):
    config = {"name": "sentencepiece", "lowercase": True, "model": model}
    first, second = (
        make_tokenizer(config).trained([tf.constant(TEXTS)], 30)
        for _ in range(2)
    )
    assert first.pieces == second.pieces
    assert len(first.pieces) <= 30
    assert "D" not in "".join(first.pieces)
    assert first.get_config() == config


def test_few_texts_give_fewer_pieces():
    tokenizer = make_tokenizer({"name": "sentencepiece"})
    assert len(tokenizer.trained([tf.constant(["a b"])], 8000).pieces) < 10


@pytest.mark.extended
def test_loading_a_model_is_no_news(tokenizer, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(tokenizer._proto)
    # Who has trained a model in the same process hears nothing anyway.
    program = (
        "import sys; from mtl_tf.text.tokenizers import subwords; "
        "proto = open(sys.argv[1], 'rb').read(); "
        "subwords.SentencePieceTokenizer(proto=proto)"
    )
    status, _, err = helpers.execute("-c", program, path)
    assert not status, err
    assert "LOG(INFO)" not in err


def test_it_is_saved_loaded_and_served(tokenizer, tmp_path):
    encoder = encoder_of(tokenizer)
    directory = str(tmp_path / "vocabulary")
    encoder.save(directory)
    loaded = TextEncoder.load(directory)
    module = tf.Module()
    module.tables = loaded.tables
    module.serve = tf.function(
        lambda text: {"ids": loaded(text).to_tensor()},
        input_signature=[tf.TensorSpec([None], tf.string)],
    )
    tf.saved_model.save(module, str(tmp_path / "export"))
    served = tf.saved_model.load(str(tmp_path / "export"))
    texts = tf.constant(["das Haus", "", "neu"])
    expected = encoder(texts).to_tensor().numpy().tolist()
    assert served.serve(texts)["ids"].numpy().tolist() == expected


@pytest.mark.parametrize("good", [0, 3])
def test_an_error_of_the_texts_is_raised_as_it_is(good):
    def batches():
        for _ in range(good):
            yield tf.constant(["a few words", "to learn from"])
        raise DataError("x.en has 20 lines, but x.fr has 19")

    with pytest.raises(DataError, match="^x.en has 20 lines, but x.fr has 19$"):
        SentencePieceTokenizer().trained(batches(), 30)


def test_errors(tokenizer, tmp_path):
    untrained = make_tokenizer({"name": "sentencepiece"})
    with pytest.raises(ConfigError, match="before it is trained"):
        untrained(["a"])
    with pytest.raises(ConfigError, match="'bpe'"):
        make_tokenizer({"name": "sentencepiece", "model": "bpf"})
    characters = {*"".join(TEXTS)} - {"\t"}
    for model in ("bpe", "unigram"):
        learner = SentencePieceTokenizer(model=model)
        with pytest.raises(ConfigError) as raised:
            learner.trained([tf.constant(TEXTS)], 3)
        assert str(raised.value) == (
            "SentencePiece cannot learn 3 pieces from these texts, which have "
            f"{len(characters)} different characters, the space too, and need "
            "a piece for each: raise text.max_size by at least "
            f"{len(characters) - 3}"
        )
        learner.trained([tf.constant(TEXTS)], len(characters))
    with pytest.raises(DataError, match="no text"):
        untrained.trained([tf.constant(["", " "])], 30)
    with pytest.raises(ConfigError, match="parts of words"):
        tokenizer.words(["a"])
    with pytest.raises(DataError, match="cannot read"):
        untrained.loaded(str(tmp_path))
    (tmp_path / MODEL_FILE).write_bytes(b"damaged")
    with pytest.raises(DataError, match="no model of SentencePiece"):
        untrained.loaded(str(tmp_path))


@pytest.mark.parametrize("model", ["bpe", "unigram"])
def test_it_learns_from_texts_of_any_length(model):
    """SentencePiece leaves out what is longer than it expects."""
    tokenizer = make_tokenizer({"name": "sentencepiece", "model": model})
    long = " ".join(["Donaudampfschiff"] * 600)
    trained = tokenizer.trained([tf.constant(["kurz", long])], 80)
    assert max(map(len, trained.pieces)) > len("▁kurz")
