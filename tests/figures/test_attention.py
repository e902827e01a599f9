"""The attention of L-E's columns: what is read, and how it is drawn."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import attention, attention_figure
from mtl_tf.figures.attention import Attention

TEXT = "no tree yes zebra"


@pytest.fixture(scope="module")
def run(transformer_run):
    return mtl_tf.load(transformer_run)


def test_columns_and_words_are_parts_of_the_schemes_maps(run):
    found = attention.read(run, TEXT)
    assert found.tokens == ("no", "tree", "yes", "zebra")
    assert found.known.tolist() == [True, True, True, False]
    assert found.tasks == ("plain", "mirror")
    assert found.columns.shape == (2, 2, 2) and found.words.shape == (2, 2, 4)
    whole = found.columns.sum(-1) + found.words.sum(-1)
    np.testing.assert_allclose(whole, 1.0, atol=1e-5)
    ids = run.encoder(tf.constant([TEXT])).to_tensor()[None]
    batch = {"task": tf.constant([1]), "tokens": ids}
    maps = run.model(batch, inspect=True)["inspect"]
    second = maps["attention_1"].numpy()[0, 0].mean(0)
    np.testing.assert_allclose(found.words[1], second[:2, 2:], atol=1e-6)
    np.testing.assert_allclose(found.columns[1], second[:2, :2], atol=1e-6)


def test_what_cannot_be_shown_is_refused(run, toy_run):
    with pytest.raises(DataError, match="no tokens"):
        attention.read(run, " ")
    with pytest.raises(ConfigError, match="the run toy has no column.* l_e"):
        attention.read(mtl_tf.load(toy_run), TEXT, "toy")


def made(tokens, tasks, layers):
    draw = np.random.default_rng(tokens)
    weights = draw.dirichlet(np.ones(tasks + tokens), (layers, tasks))
    return Attention(
        tuple(f"word{n}" for n in range(tokens)),
        np.arange(tokens) != 1,
        tuple(f"a_task_with_a_long_name_{n}" for n in range(tasks)),
        weights[:, :, :tasks],
        weights[:, :, tasks:],
    )


def drawn_labels(axes):
    """The labels of the ticks within the limits: others are not drawn."""
    for axis, limits in (
        (axes.xaxis, sorted(axes.get_xlim())),
        (axes.yaxis, sorted(axes.get_ylim())),
    ):
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels()):
            if label.get_text() and limits[0] <= place <= limits[1]:
                yield label


@pytest.mark.parametrize("sizes", [(3, 2, 1), (70, 16, 4)])
def test_all_labels_are_readable(sizes):
    """None leaves the figure, meets another one or lies on a picture."""
    texts = [made(*sizes), made(2, 2, 2)]
    figure = attention_figure.attention_figure(texts, "Attention")
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    labels = [label for axes in figure.axes for label in drawn_labels(axes)]
    named = [t for t in (*figure.texts, *labels) if t.get_text()]
    shown = [label.get_text() for label in labels]
    for place in range(sizes[0]):
        word = f"word{place}" if place != 1 else "[word1]"
        assert word in shown
    page = figure.bbox
    boxes = [text.get_window_extent(renderer) for text in named]
    for box in boxes:
        assert page.x0 <= box.x0 and box.x1 <= page.x1
        assert page.y0 <= box.y0 and box.y1 <= page.y1
    for one, two in itertools.combinations(boxes, 2):
        assert not one.overlaps(two)
    pictures = [axes.get_window_extent(renderer) for axes in figure.axes]
    for one, two in itertools.combinations(pictures, 2):
        assert not one.overlaps(two)
    for picture, box in itertools.product(pictures, boxes):
        assert not picture.overlaps(box)


def test_shares_of_the_words_stand_beside_the_columns():
    text = made(5, 2, 1)
    matrix = attention_figure.attention_figure([text]).axes[0]
    shares = [label.get_text() for label in matrix.texts]
    expected = [f"{share:.0%}" for share in text.words[0].sum(-1)]
    assert shares == [*expected, "words"]
    np.testing.assert_array_equal(matrix.images[0].get_array(), text.columns[0])
