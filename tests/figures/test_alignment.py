"""What translations attend to: that it is their own, and can be read."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import alignment, alignment_figure
from mtl_tf.figures.alignment import Alignment

TEXT = "no zebra of the house."


@pytest.fixture(scope="module")
def run(translation_run):
    return mtl_tf.load(translation_run)


def test_the_weights_are_those_of_the_translation(run):
    found = alignment.read(run, "xx-bb", TEXT, "x")
    assert found.languages == ("xx", "bb")
    # The full stop stands at the word before it, without a space.
    assert found.source == ("no", "zebra", "of", "the", "house", "+.")
    assert found.known.tolist() == [True, False, True, True, True, True]
    said = run.predict("xx-bb", [TEXT])[0]["translation"]
    assert " ".join(found.target) == said
    np.testing.assert_allclose(found.weights.sum(-1), 1.0, atol=1e-5)
    # The same, from the decoder that reads the whole translation at once.
    target = run.encoder.target("xx-bb")
    batch = {
        "tokens": run.encoder.source(tf.constant([TEXT])).to_tensor()[None],
        "target": tf.concat(
            [target(tf.constant([said])).to_tensor(), [[3]]], 1
        )[None],
    }
    forced = run.model(batch, inspect=True, key=1)["inspect"]["attention"]
    np.testing.assert_allclose(
        found.weights, forced.numpy()[0, 0, : len(found.target)], atol=1e-5
    )


def test_what_has_no_alignment_is_refused(run, toy_run):
    with pytest.raises(DataError, match="no tokens"):
        alignment.read(run, "xx-aa", "")
    with pytest.raises(ConfigError, match="did you mean 'xx-aa'"):
        alignment.read(run, "xx-a", TEXT)
    with pytest.raises(ConfigError, match="the run toy does not translate"):
        alignment.read(mtl_tf.load(toy_run), "plain", TEXT, "toy")


def made(source, target):
    draw = np.random.default_rng(source)
    return Alignment(
        "A label",
        ("en", "de"),
        tuple(f"word{n}" if n % 5 else "+ibilities" for n in range(source)),
        np.arange(source) != 1,
        tuple("Donaudampfschiff" if n == 2 else f"w{n}" for n in range(target)),
        draw.dirichlet(np.ones(source), target),
    )


@pytest.mark.parametrize("sizes", [(1, 1), (70, 60)])
def test_all_labels_are_readable(sizes):
    """None leaves the figure, meets another one or lies on a picture."""
    texts = [[made(*sizes), made(5, 4)], [made(3, 2)]]
    figure = alignment_figure.alignment_figure(texts, "Attention, en-de")
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    maps, bars = figure.axes[::2], figure.axes[1::2]
    assert [axes.get_title(loc="left") for axes in maps] == [
        "Text 1, A label",
        "Text 1, A label",
        "Text 2, A label",
    ]
    first = texts[0][0]
    np.testing.assert_array_equal(maps[0].images[0].get_array(), first.weights)
    assert maps[0].get_xlabel() == "source (en)"
    assert maps[0].get_ylabel() == "translation (de)"
    assert [t.get_text() for t in maps[0].get_yticklabels()] == [*first.target]
    labels = [*figure.texts]
    for axes in maps:
        labels += [*axes.get_xticklabels(), *axes.get_yticklabels()]
        labels += [axes.xaxis.label, axes.yaxis.label]
    boxes = [t.get_window_extent(renderer) for t in labels if t.get_text()]
    page = figure.bbox
    for box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1
        assert page.y0 <= box.y0 and box.y1 <= page.y1
    for one, two in itertools.combinations(boxes, 2):
        assert not one.overlaps(two)
    pictures = [a.get_window_extent(renderer) for a in (*maps, *bars)]
    for picture, box in itertools.product(pictures, boxes):
        assert not picture.overlaps(box)


def test_signs_on_tokens_are_explained_where_they_are():
    def notes(one):
        title, notes = alignment_figure.alignment_figure([[one]], "A").texts
        assert title.get_text() == "A"
        return notes.get_text()

    assert notes(made(5, 2)) == (
        "[word]: not in the vocabulary; +x: continues the word before"
    )
    pair, known = ("en", "de"), np.array([True])
    plain = Alignment("x", pair, ("a",), known, ("b",), np.ones([1, 1]))
    assert notes(plain) == ""
