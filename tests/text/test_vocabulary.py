import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text.vocabulary import OOV_TOKEN, PAD_TOKEN, Vocabulary

MARKERS = [PAD_TOKEN, OOV_TOKEN]


def vocabulary_of(*words):
    return Vocabulary([*MARKERS, *words])


def test_count_takes_ragged_tensors_and_arrays():
    ragged = tf.ragged.constant([["a", "b"], [], ["a", "é"]])
    arrays = [np.array([[b"a", b"c"]], object), ["c"]]
    counts = Vocabulary.count([ragged, *arrays])
    assert counts == {"a": 3, "b": 1, "é": 1, "c": 2}


def test_count_keeps_final_nul_characters():
    counts = Vocabulary.count([["a\x00", "a"], tf.constant([["a\x00"]])])
    assert counts == {"a\x00": 2, "a": 1}


def test_from_counts_orders_by_frequency_then_code_points():
    counts = {"b": 2, "z": 5, "a": 2, "once": 1, "A": 2}
    assert Vocabulary.from_counts(counts, min_count=2).tokens == [
        *MARKERS,
        *["z", "A", "a", "b"],
    ]
    reordered = dict(sorted(counts.items(), reverse=True))
    assert (
        Vocabulary.from_counts(reordered).tokens
        == Vocabulary.from_counts(counts).tokens
    )


def test_max_size_includes_padding_and_the_unknown_word():
    vocabulary = Vocabulary.from_counts({"a": 3, "b": 2, "c": 1}, max_size=4)
    assert vocabulary.tokens == [*MARKERS, "a", "b"]
    assert len(vocabulary) == 4


@pytest.mark.parametrize(
    "options", [{"min_count": 0}, {"max_size": -1}, {"max_size": 2}]
)
def test_from_counts_refuses_useless_limits(options):
    with pytest.raises(ConfigError, match=next(iter(options))):
        Vocabulary.from_counts({"a": 1}, **options)


def test_a_size_without_a_place_for_words_is_told_in_the_fields_terms():
    with pytest.raises(
        ConfigError, match="max_size must be 0 or above 3, .* 3"
    ):
        Vocabulary.from_counts({"a": 1}, max_size=3, specials=["<sep>"])


def test_lookup_of_ragged_and_dense_tokens():
    vocabulary = vocabulary_of("a", "b")
    ids = vocabulary.lookup(tf.ragged.constant([["b", "x"], [], ["a"]]))
    assert ids.dtype == tf.int32
    assert ids.to_list() == [[3, 1], [], [2]]
    dense = vocabulary.lookup(tf.constant([["a", "?"]]))
    assert dense.numpy().tolist() == [[2, 1]]


def test_file_is_one_token_a_line_and_lookups_agree(tmp_path):
    words = ["the", "\x85", "é", "\\n", "▁a▁", "a\tb", "\u2028", "c\rd", "#"]
    vocabulary = vocabulary_of(*words)
    path = str(tmp_path / "vocabulary.txt")
    vocabulary.save(path)
    content = (tmp_path / "vocabulary.txt").read_bytes().decode()
    assert content == "".join(f"{word}\n" for word in MARKERS + words)
    loaded = Vocabulary.load(path)
    assert loaded.tokens == vocabulary.tokens
    asked = tf.constant([*words, "unknown", ""])
    expected = [*range(2, 2 + len(words)), 1, 1]
    for one in (vocabulary, loaded):
        assert one.lookup(asked).numpy().tolist() == expected


def test_a_rewritten_file_is_not_served_from_the_old_table(tmp_path):
    path = str(tmp_path / "vocabulary.txt")
    vocabulary_of("a", "b").save(path)
    old = Vocabulary.load(path)
    vocabulary_of("b", "a").save(path)
    new = Vocabulary.load(path)
    assert old.lookup(tf.constant(["a"])).numpy() == [2]
    assert new.lookup(tf.constant(["a"])).numpy() == [3]


def test_table_refuses_the_file_of_another_vocabulary(tmp_path):
    path = str(tmp_path / "vocabulary.txt")
    vocabulary_of("a").save(path)
    with pytest.raises(DataError, match="holds another vocabulary"):
        vocabulary_of("b").table(path)


def test_export_carries_the_file_but_not_its_path(tmp_path):
    home = tmp_path / "home_of_the_run"
    path = str(home / "vocabulary.txt")
    vocabulary_of("a", "b").save(path)
    vocabulary = Vocabulary.load(path)
    module = tf.Module()
    module.table = vocabulary.lookup_table
    module.look_up = tf.function(
        vocabulary.lookup, input_signature=[tf.TensorSpec([None], tf.string)]
    )
    tf.saved_model.save(module, str(tmp_path / "export"))
    shutil.rmtree(home)
    shutil.move(tmp_path / "export", tmp_path / "moved")
    assert os.listdir(tmp_path / "moved" / "assets") == ["vocabulary.txt"]
    graph = (tmp_path / "moved" / "saved_model.pb").read_bytes()
    assert b"home_of_the_run" not in graph
    served = tf.saved_model.load(str(tmp_path / "moved"))
    assert served.look_up(tf.constant(["b", "c"])).numpy().tolist() == [3, 1]


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", 1, "starts with the lines"),
        (b"\\pad\nthe\n", 2, "found 'the'"),
        (b"\xef\xbb\xbf\\pad\n\\oov\n", 1, "starts with the lines"),
        (b"\\pad\n\\oov\na\nb\na\n", 5, "'a' stands on line 3"),
        (b"\\pad\n\\oov\n\nb\n", 3, "must not be empty"),
        (b"\\pad\n\\oov\nb\r\n", 3, "line break"),
        (b"\\pad\n\\oov\na\n\xff\n", 4, "not UTF-8"),
    ],
)
def test_damaged_files(tmp_path, content, line, message):
    path = tmp_path / "vocabulary.txt"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        Vocabulary.load(str(path))
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_missing_file(tmp_path):
    with pytest.raises(DataError, match="No such file"):
        Vocabulary.load(str(tmp_path / "none.txt"))


def test_tokens_with_line_breaks_are_refused():
    with pytest.raises(DataError, match="vocabulary:3"):
        vocabulary_of("a\nb")
