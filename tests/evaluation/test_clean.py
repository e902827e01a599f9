"""The clean part, on made texts and on the released FDU-MTL files."""

import os
import pathlib

import numpy as np
import pytest

from mtl_tf.evaluation.clean import SeenTexts, normalize


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a  good\tbook \n", "a good book"),
        (b"caf\xc3\xa9 noir", "caf\u00e9 noir"),
        ("a\u00a0b", "a b"),
        ("", "   "),
    ],
)
def test_white_space_does_not_matter(text, same):
    assert normalize(text) == normalize(same)
    assert text in SeenTexts([same])


@pytest.mark.parametrize("other", ["A good book", "a good book.", "a goodbook"])
def test_everything_else_matters(other):
    assert other not in SeenTexts(["a good book"])


def test_clean_keeps_the_order():
    seen = SeenTexts(["a", "b"], ["c"])
    clean = seen.clean(["x", "b ", "c", "y"])
    assert clean.dtype == bool
    assert clean.tolist() == [True, False, False, True]


def test_clean_of_nothing():
    assert SeenTexts().clean([]).shape == (0,)
    assert SeenTexts().clean(np.array(["a"])).tolist() == [True]


def test_count_counts_repeats_each_time():
    assert SeenTexts(["a"]).count(["a", "a ", "b"]) == 2


def test_texts_are_added_once():
    seen = SeenTexts(["a", "a"])
    seen.add(iter(["a ", "b"]))
    assert len(seen) == 2


def test_sets_are_merged():
    seen, other = SeenTexts(["a", "b"]), SeenTexts(["b", "c"])
    seen.merge(other)
    assert len(seen) == 3 and "c" in seen and "a" not in other


def test_lone_surrogates_do_not_stop_it():
    assert "a\ud800" in SeenTexts(["a\ud800"])


def test_undecodable_bytes_are_replaced():
    assert b"caf\xe9" in SeenTexts(["caf\ufffd"])


@pytest.fixture(scope="module")
def fdu_mtl():
    folder = pathlib.Path(os.environ.get("MTL_TF_MANUAL_DIR", ""), "fdu_mtl")
    if not os.environ.get("MTL_TF_MANUAL_DIR") or not folder.is_dir():
        pytest.skip("needs fdu_mtl in MTL_TF_MANUAL_DIR")
    return folder


def read(path):
    lines = path.read_bytes().split(b"\n")
    return [line.partition(b"\t")[2] for line in lines if b"\t" in line]


def test_magazines_repeat_92_of_200_validation_texts(fdu_mtl):
    texts = read(fdu_mtl / "magazines.task.train")
    assert SeenTexts(texts[:-200]).count(texts[-200:]) == 92


def test_the_clean_part_of_fdu_mtl(fdu_mtl):
    training = [read(path) for path in fdu_mtl.glob("*.task.train")]
    seen = SeenTexts(*training)
    for name in ("MR", "imdb"):
        assert seen.clean(read(fdu_mtl / f"{name}.task.test")).all()
    magazines = seen.clean(read(fdu_mtl / "magazines.task.test"))
    assert 0.3 < 1 - magazines.mean() < 0.5  # 169 of 400 in the full test set
