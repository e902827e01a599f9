"""Scores against layers."""

import json

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from mtl_tf.config_fields import fields
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.figures import depth, depth_figure
from mtl_tf.figures.depth import Depth
from mtl_tf.figures.page import DEFAULT, Page
from tests.figures import layout


def write(folder, scheme, layers, score, separately=False):
    folder.mkdir()
    scheme = {"name": scheme} | ({"layers": layers} if layers else {})
    config = fields.defaults()
    config |= {"train_separately": separately}
    config["model"]["scheme"] = scheme
    (folder / "config.json").write_text(json.dumps(config))
    results = {"split": "test", "tasks": {}, "mean": {"overall": score}}
    (folder / "results.json").write_text(json.dumps(results))
    return str(folder)


def test_a_run_says_its_structure_layers_and_score(tmp_path):
    one = write(tmp_path / "a", "l_i", 2, 80.0)
    assert depth.read(one) == Depth("L-I", 2, 80.0, "test")
    assert depth.read(one, "mine").structure == "mine"
    single = write(tmp_path / "b", "s_p", 4, 70.0, separately=True)
    assert depth.read(single).structure == "S-P, single tasks"
    with pytest.raises(ConfigError, match="no number of layers.* is lstm"):
        depth.read(write(tmp_path / "c", "lstm", 0, 1.0))
    with pytest.raises(RunError, match="no finished run: it has no config"):
        depth.read(str(tmp_path))


def test_one_line_a_structure_with_the_spread_of_its_runs():
    runs = [
        Depth("L-I", 4, 85.0, "test"),
        Depth("L-I", 2, 82.0, "test"),
        Depth("S-C", 2, 81.0, "test"),
        Depth("L-I", 2, 84.0, "test"),
    ]
    figure = depth_figure.depth_figure(runs)
    [axes] = figure.axes
    implicit, hard = axes.containers
    line, _, [bars] = implicit.lines
    np.testing.assert_array_equal(line.get_xydata(), [[2, 83], [4, 85]])
    low, high = bars.get_segments()[0][:, 1]
    np.testing.assert_allclose([low, high], 83 + np.sqrt(2) * np.array([-1, 1]))
    assert hard.lines[0].get_xydata().tolist() == [[2, 81]]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["2", "4"]
    [legend] = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["L-I", "S-C"]
    with pytest.raises(ConfigError, match="different splits"):
        depth_figure.depth_figure([*runs, Depth("S-C", 4, 1.0, "validation")])


@pytest.mark.parametrize(
    "page", [DEFAULT, Page(width=3.2, height=3.0, font_size=7)]
)
@pytest.mark.parametrize("structures", [1, 7])
def test_the_figure_is_readable(page, structures):
    runs = [
        Depth(f"A structure, number {n}", layers, 80.0 + n + layers, "test")
        for n in range(structures)
        for layers in (1, 2, 2, 4)
    ]
    layout.check(depth_figure.depth_figure(runs, page))
