"""The attention of L-E's columns: what is read, and how it is drawn."""

import numpy as np
import pytest
import tensorflow as tf

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import attention, attention_figure
from mtl_tf.figures.attention import Attention
from mtl_tf.figures.page import DEFAULT, Page
from tests.figures import layout
from tests.system import corpus, random_runs

TEXT = "no tree yes zebra"


@pytest.fixture(scope="module")
def run(tmp_path_factory, small_files):
    config = corpus.transformer(small_files, mixed_precision="mixed_bfloat16")
    folder = tmp_path_factory.mktemp("attention") / "run"
    return mtl_tf.load(random_runs.write_weights(folder, config)[0].path)


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


def test_what_cannot_be_shown_is_refused(run, small_files, tmp_path):
    with pytest.raises(DataError, match="no tokens"):
        attention.read(run, " ")
    config = corpus.quick(small_files)
    toy = mtl_tf.load(random_runs.write_weights(tmp_path, config)[0].path)
    with pytest.raises(ConfigError, match="the run toy has no column.* l_e"):
        attention.read(toy, TEXT, "toy")


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


@pytest.mark.by_default("page0-sizes0", "page1-sizes0")
@pytest.mark.parametrize(
    "sizes",
    [
        (3, 2, 1),
        pytest.param((70, 16, 4), marks=pytest.mark.extended),
        (9, 3, 6),
    ],
)
@pytest.mark.parametrize("page", [DEFAULT, Page(width=3.4, font_size=7)])
def test_all_labels_are_readable(sizes, page):
    """None leaves the figure, meets another one or lies on a picture."""
    texts = [made(*sizes), made(2, 2, 2)]
    figure = attention_figure.attention_figure(texts, "Attention", page)
    layout.check(figure)
    shown = [
        label.get_text()
        for axes in figure.axes
        for label in axes.get_xticklabels()
    ]
    for place in range(sizes[0]):
        word = f"word{place}" if place != 1 else "[word1]"
        assert word in shown
    assert len(layout.norms(figure)) == 1


def test_shares_of_the_words_stand_beside_the_columns():
    text = made(5, 2, 1)
    figure = attention_figure.attention_figure([text])
    matrix = figure.axes[0]
    shares = [label.get_text() for label in matrix.texts]
    expected = [f"{share:.0%}" for share in text.words[0].sum(-1)]
    assert shares == [*expected, "words"]
    np.testing.assert_array_equal(matrix.images[0].get_array(), text.columns[0])
    greatest = float(max(text.columns.max(), text.words.max()))
    assert layout.norms(figure) == {(0.0, greatest)}
    written = [one.get_text() for one in figure.texts]
    assert "“word0 word1 word2 word3 word4”" in written
