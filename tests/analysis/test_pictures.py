"""Learning curves with bands, confusion matrices."""

import numpy as np
import pytest

from mtl_tf.analysis.confusion_picture import confusion_picture
from mtl_tf.analysis.curve_picture import Trained, band, curve_picture
from mtl_tf.analysis.histories import Curves
from mtl_tf.figures import style
from tests.figures import layout

ONE = Trained((1, 2, 3), Curves((1, 2, None), (1, 1, 1), (5, 6, 7)), 3)
TWO = Trained((1, 2), Curves((3, 2), (1, None), (7, 8)), 2)


def test_a_band_lies_between_the_runs_that_came_so_far():
    found = band([ONE, TWO], "train")
    assert found.steps == (1, 2)
    assert found.mean == (2, 2)
    assert (found.lowest, found.highest) == ((1, 2), (3, 2))
    found = band([ONE, TWO], "score")
    assert found.steps == (1, 2, 3) and found.mean == (6, 7, 7)


@pytest.mark.parametrize(("runs", "bands"), [([ONE], 0), ([ONE, TWO], 1)])
def test_curves_have_bands_where_runs_differ(runs, bands):
    pytest.importorskip("matplotlib")
    losses, scores = curve_picture(runs).axes
    assert len(losses.collections) == len(scores.collections) == bands
    lines = {line.get_label(): line for line in losses.lines}
    assert {"training", "validation", "weights that were kept"} <= set(lines)
    assert list(lines["training"].get_xdata()) == [1, 2]
    # A dotted line for each run's best weights, one of them in the legend.
    assert len(losses.lines) == 2 + len(runs)
    assert scores.get_title() == "validation score (mean of the tasks)"


def test_a_run_without_losses_is_drawn():
    pytest.importorskip("matplotlib")
    bare = Trained((1,), Curves((None,), (None,), (5.0,), "accuracy"), 1)
    losses, scores = curve_picture([bare]).axes
    assert len(losses.lines) == 1
    assert scores.get_title() == "validation score (accuracy)"


def test_cells_have_counts_and_the_colour_of_their_share():
    pytest.importorskip("matplotlib")
    figure = confusion_picture(("a", "b"), [[30, 10], [0, 0]])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.texts] == ["30", "10", "0", "0"]
    shares = np.asarray(axes.images[0].get_array())
    assert shares.tolist() == [[0.75, 0.25], [0.0, 0.0]]
    assert axes.get_xlabel() == "predicted" and axes.get_ylabel() == "label"


def test_many_classes_have_no_numbers():
    pytest.importorskip("matplotlib")
    names = [f"class {n}" for n in range(30)]
    figure = confusion_picture(names, np.eye(30))
    assert not figure.axes[0].texts
    assert max(figure.get_size_inches()) < 12


@pytest.mark.by_default("2")
@pytest.mark.parametrize("classes", [2, 15, 40])
def test_confusions_are_readable(classes):
    pytest.importorskip("matplotlib")
    names = [f"a class with a long name, {n}" for n in range(classes)]
    figure = confusion_picture(names, np.full([classes, classes], 9876))
    # Beside long names below and to the left a corner stays empty.
    layout.check(figure, 0.25)
    assert figure.axes[0].get_ylabel() == "label"


@pytest.mark.parametrize("runs", [[ONE], [ONE, TWO]])
def test_learning_curves_are_readable(runs):
    pytest.importorskip("matplotlib")
    layout.check(curve_picture(runs))


def test_a_figure_is_a_png_file():
    pytest.importorskip("matplotlib")
    assert style.png(style.new_figure(1, 1)).startswith(b"\x89PNG")
