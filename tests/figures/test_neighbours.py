"""Nearest neighbours of words: which, how near, and how they are shown."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import DataError
from mtl_tf.figures import neighbour_figure, neighbours
from mtl_tf.figures.neighbours import Neighbours
from mtl_tf.figures.page import DEFAULT, Page
from tests.figures import layout


@pytest.fixture(scope="module")
def run(translation_run):
    """A run in whose source "tree" and "no" are near "house"."""
    run = mtl_tf.load(translation_run)
    embedding = run.model.encoder.embedding
    tokens = run.encoder.source.vocabulary.tokens
    vectors = np.full(embedding.vectors.shape, -1.0)
    for place in (run.encoder.source.vocabulary.PAD, tokens.index("▁yes▁")):
        vectors[place] = [2, 0, 0, 0, 0, 0]
    vectors[tokens.index("▁no▁")] = [1, 1, 0, 0, 0, 0]
    vectors[tokens.index(".▁")] = [3, 4, 0, 0, 0, 0]
    embedding.set_vectors(vectors)
    return run


def test_neighbours_are_by_cosine_not_by_length(run):
    [found] = neighbours.read(run, ["yes"], 2)
    assert found.word == "yes"
    words, cosines = zip(*found.nearest)
    # Neither padding, which has the same vector, nor the word itself.
    assert words == ("no", "+.")
    assert cosines == pytest.approx((0.5**0.5, 0.6))


def test_runs_that_do_not_translate_have_neighbours_too(toy_run):
    toy = mtl_tf.load(toy_run)
    word = toy.encoder.vocabulary.tokens[2]
    [found] = neighbours.read(toy, [word], 3)
    vectors = toy.model.embedding.vectors.numpy().astype(np.float64)
    place = toy.encoder.vocabulary.tokens.index(found.nearest[0][0])
    one, two = vectors[2], vectors[place]
    cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert found.nearest[0][1] == pytest.approx(cosine)
    scores = [score for _, score in found.nearest]
    assert scores == sorted(scores, reverse=True) and len(scores) == 3


def test_words_without_a_vector_of_their_own(run):
    with pytest.raises(DataError, match="run x does not know the word 'zeb"):
        neighbours.read(run, ["zebra"], label="x")
    with pytest.raises(DataError, match="reads 'no tree' as .*▁no▁ ▁tree▁"):
        neighbours.read(run, ["no tree"])
    with pytest.raises(DataError, match="reads '' as nothing"):
        neighbours.read(run, [""])


FOUND = {
    "Multi": [
        Neighbours("six", (("eight", 0.98), ("seven", 0.96))),
        Neighbours("crime", (("terrorism", 0.66), ("criminal", 0.65))),
    ],
    "Single": [
        Neighbours("six", (("eight", 0.87), ("three", 0.69))),
        Neighbours("crime", (("care", 0.75),)),
    ],
}


def test_tables_say_the_same_as_the_picture():
    header, _, six, crime = neighbours.markdown(FOUND).strip().split("\n")
    assert [cell.strip() for cell in header.split("|")[1:-1]] == [
        "word",
        "Multi",
        "Single",
    ]
    assert "| six   | eight 0.98, seven 0.96" in six
    assert "| care 0.75 " in crime
    plain = json.loads(json.dumps(neighbours.to_json(FOUND)))
    assert plain["Single"]["crime"] == [{"word": "care", "cosine": 0.75}]
    multi, single = neighbour_figure.neighbour_figure(FOUND).axes
    assert [t.get_text() for t in multi.get_yticklabels()] == ["six", "crime"]
    shown = [text.get_text() for text in single.texts]
    assert shown == ["eight  0.87", "three  0.69", "care  0.75"]
    assert [bar.get_width() for bar in single.patches] == [0.87, 0.69, 0.75]
    assert multi.get_xlabel() and multi.get_title() == "Multi"


@pytest.mark.by_default("5-page0", "2-page1")
@pytest.mark.parametrize("page", [DEFAULT, Page(width=3.2, font_size=7)])
@pytest.mark.parametrize("runs", [1, 2, 5])
def test_neighbours_are_readable(page, runs):
    found = {f"A run, number {n}": FOUND["Multi"] for n in range(runs)}
    figure = neighbour_figure.neighbour_figure(found, page)
    assert len(figure.axes) == runs
    # Of five panels the second row lacks one.
    layout.check(figure, 0.18)
