"""What translations attend to: that it is their own, and can be read."""

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import alignment, alignment_figure
from mtl_tf.figures.alignment import Alignment
from mtl_tf.figures.page import DEFAULT, Page
from tests.figures import layout

TEXT = "no zebra of the house."


@pytest.fixture(scope="module")
def run(translation_run):
    return mtl_tf.load(translation_run)


@pytest.mark.extended
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


@pytest.mark.parametrize(
    "sizes", [(1, 1), pytest.param((70, 60), marks=pytest.mark.extended)]
)
@pytest.mark.parametrize("page", [DEFAULT, Page(width=3.4, font_size=7)])
def test_all_labels_are_readable(sizes, page):
    """None leaves the figure, meets another one or lies on a picture."""
    texts = [[made(*sizes), made(5, 4)], [made(3, 2)]]
    figure = alignment_figure.alignment_figure(texts, "Attention, en-de", page)
    layout.check(figure)
    greatest = max(float(one.weights.max()) for text in texts for one in text)
    assert layout.norms(figure) == {(0.0, greatest)}
    # A text that is too long for a line goes on below.
    first = texts[0][0]
    parts = [axes.images[0].get_array() for axes in figure.axes[:-1]]
    rows = figure.axes[0].get_yticklabels()
    assert [t.get_text() for t in rows] == [*first.target]
    start = 0
    while start < sizes[0]:
        part = parts.pop(0)
        stop = start + part.shape[1]
        np.testing.assert_array_equal(part, first.weights[:, start:stop])
        start = stop
    assert [part.shape for part in parts] == [(4, 5), (2, 3)]


def test_signs_on_tokens_are_explained_where_they_are():
    def written(one):
        figure = alignment_figure.alignment_figure([[one]], "A")
        return [text.get_text() for text in figure.texts]

    title, heading, about, _, *notes = written(made(5, 2))
    assert title == "A"
    assert heading == "“+ibilities word1 word2 word3 word4”"
    assert about.startswith("A label: text (en) in columns, translation (de)")
    assert notes == [
        "[word]: not in the vocabulary",
        "+x: continues the word before",
    ]
    pair, known = ("en", "de"), np.array([True])
    plain = Alignment("x", pair, ("a",), known, ("b",), np.ones([1, 1]), "A!")
    assert written(plain)[1] == "“A!”" and len(written(plain)) == 4
