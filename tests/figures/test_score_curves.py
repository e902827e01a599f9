"""Validation scores as training goes on, from `metrics.jsonl`."""

import json
import pathlib

import pytest

pytest.importorskip("matplotlib")

from mtl_tf.config_fields import fields
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.figures import score_curve_figure, score_curves
from mtl_tf.figures.page import DEFAULT, Page
from mtl_tf.figures.score_curves import ScoreCurve
from tests.figures import layout


def write(folder, names, scores, mixing=None, sizes=None, wall_time=None):
    """A run that was evaluated after 10 steps, 20 and so on."""
    folder.mkdir(parents=True)
    described = {"labels": [], "metrics": ["bleu", "bleu_lc"]}
    tasks = [{"name": n, "loss_weight": 1.0, **described} for n in names]
    config = fields.defaults()
    config["seed"] = 3
    config["pipeline"]["mixing"] = mixing or {"name": "round_robin"}
    sizes = sizes or [40] * len(names)
    contents = {
        "config": config,
        "labels": {"tasks": tasks},
        "data": {
            "boundaries": [[8, 8]],
            "tasks": {
                name: {"train": {"examples": size}}
                for name, size in zip(names, sizes)
            },
        },
        "batches": {"steps_per_epoch": 10},
    }
    if wall_time:
        about = {"run": {"wall_time": wall_time}}
        contents["results"] = {"tasks": {}, "mean": {}, **about}
    for name, value in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    lines = [
        json.dumps(
            {
                "stage": "joint",
                "step": 10 * n,
                "validation": {
                    "tasks": {
                        name: {"bleu": one, "bleu_lc": one and one + 1}
                        for name, one in zip(names, found)
                    }
                },
            }
        )
        for n, found in enumerate(scores, 1)
    ]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")
    return str(folder)


def change(path, name, how):
    """Changes a JSON file of a run."""
    file = pathlib.Path(path, f"{name}.json")
    value = json.loads(file.read_text())
    how(value)
    file.write_text(json.dumps(value))


SCORES = [(1.0, 2.0), (3.0, None), (5.0, 6.0)]


def test_scores_stand_against_the_tasks_own_minibatches(tmp_path):
    blocks = {"name": "blocks", "block": 8}
    path = write(tmp_path / "a", ["en-de", "en-fr"], SCORES, blocks)
    german, french = score_curves.read(path, "Multi")
    assert german == ScoreCurve(
        "Multi", "en-de", "bleu", (8.0, 12.0, 16.0), (1.0, 3.0, 5.0)
    )
    # What has no score has no point.
    assert (french.places, french.scores) == ((2.0, 14.0), (2.0, 6.0))
    other = score_curves.read(path, "Multi", metric="bleu_lc")[0]
    assert (other.metric, other.scores) == ("bleu_lc", (2.0, 4.0, 6.0))


def test_a_mixing_by_size_takes_the_sizes(tmp_path):
    proportional = {"name": "proportional"}
    path = write(
        tmp_path / "a", ["x", "y"], [(1, 1)] * 40, proportional, [90, 10]
    )
    large, small = score_curves.read(path, "x")
    assert large.places[-1] + small.places[-1] == 400
    assert small.places[-1] < 80


def test_hours_are_a_share_of_the_runs(tmp_path):
    path = write(tmp_path / "a", ["en-de"], [(1,), (2,)], wall_time=7200.0)
    [curve] = score_curves.read(path, "x", score_curves.HOURS)
    assert curve.places == pytest.approx((1.0, 2.0))
    (tmp_path / "a" / "results.json").unlink()
    with pytest.raises(RunError, match="is not finished.*minibatches"):
        score_curves.read(path, "x", score_curves.HOURS)


def test_a_model_a_pair_has_all_of_its_minibatches(tmp_path):
    root = tmp_path / "single"
    for pair in ("en-de", "en-fr"):
        write(root / "tasks" / pair, [pair], [(4.0,), (5.0,)])
    (root / "config.json").write_text(json.dumps(fields.defaults()))
    curves = score_curves.read(str(root), "Single")
    assert [c.task for c in curves] == ["en-de", "en-fr"]
    assert all(c.places == (10.0, 20.0) for c in curves)


@pytest.mark.parametrize(
    "mixing",
    [
        {"name": "weighted", "weights": {"en-de": 2.0}},
        {"name": "phases", "phases": [{"tasks": ["en-de"], "steps": 5}]},
    ],
)
def test_a_model_a_pair_whose_mixing_names_other_pairs(tmp_path, mixing):
    root = tmp_path / "single"
    for pair in ("en-de", "en-fr"):
        write(root / "tasks" / pair, [pair], [(4.0,), (5.0,)], mixing)
    (root / "config.json").write_text(json.dumps(fields.defaults()))
    curves = score_curves.read(str(root), "Single")
    assert [c.places for c in curves] == [(10.0, 20.0)] * 2


def test_a_step_of_accumulated_gradients_has_several_minibatches(tmp_path):
    path = write(tmp_path / "a", ["en-de", "en-fr"], [(1, 2), (3, 4)])
    change(path, "config", lambda c: c["training"].update(accumulate_steps=3))
    assert [c.places for c in score_curves.read(path, "x")] == [(15, 30)] * 2


def test_hours_of_a_run_that_was_fine_tuned_are_those_of_the_joint_stage(
    tmp_path,
):
    path = write(tmp_path / "a", ["en-de"], [(1,), (2,)], wall_time=7200.0)
    with open(tmp_path / "a" / "metrics.jsonl", "a") as file:
        for step in (10, 20):
            entry = {"stage": "fine_tuned", "step": step, "validation": {}}
            file.write(json.dumps(entry) + "\n")
    # Of older runs only the time of all 40 steps is known.
    [curve] = score_curves.read(path, "x", score_curves.HOURS)
    assert curve.places == pytest.approx((0.5, 1.0))
    seconds = {"joint": 1800.0, "fine_tuned": 5400.0}
    change(path, "results", lambda r: r["run"].update(stage_seconds=seconds))
    [curve] = score_curves.read(path, "x", score_curves.HOURS)
    assert curve.places == pytest.approx((0.25, 0.5))


def test_what_cannot_be_read_is_refused(tmp_path):
    path = write(tmp_path / "a", ["en-de"], [(1.0,)])
    with pytest.raises(ConfigError, match="metric of en-de 'blue'; did you"):
        score_curves.read(path, "x", metric="blue")
    with pytest.raises(ConfigError, match="did you mean 'hours'"):
        score_curves.read(path, "x", axis="hour")
    (tmp_path / "a" / "metrics.jsonl").unlink()
    with pytest.raises(RunError, match="no evaluations"):
        score_curves.read(path, "x")


CURVES = [
    ScoreCurve("Multi", "en-de", "bleu", (1.0, 2.0), (10.0, 20.0)),
    ScoreCurve("Multi", "en-fr", "bleu", (1.0, 2.0), (15.0, 35.0)),
    ScoreCurve("Single", "en-fr", "bleu", (2.0, 4.0), (5.0, 30.0)),
]


def test_a_panel_a_task_and_a_look_a_run():
    figure = score_curve_figure.score_curve_figure(CURVES)
    german, french = figure.axes
    assert [axes.get_title() for axes in (german, french)] == ["en-de", "en-fr"]
    assert german.get_ylabel() == "validation BLEU"
    assert french.get_xlabel() == "minibatches of the task"
    multi, single = french.lines
    assert single.get_xydata().tolist() == [[2.0, 5.0], [4.0, 30.0]]
    # A run looks the same in every panel, and unlike the others.
    assert multi.get_color() == german.lines[0].get_color()
    assert multi.get_linestyle() != single.get_linestyle()
    [legend] = figure.legends
    assert [t.get_text() for t in legend.get_texts()] == ["Multi", "Single"]


@pytest.mark.by_default("page0-4", "page1-2")
@pytest.mark.parametrize("tasks", [1, 2, 4, 5, 7, 16])
@pytest.mark.parametrize("page", [DEFAULT, Page(width=3.3, font_size=8)])
def test_nothing_meets_or_leaves_the_figure(tasks, page):
    labels = [f"A label of a run, the one with number {n}" for n in range(5)]
    curves = [
        ScoreCurve(label, f"en-{n}", "bleu", (1e5, 2e5), (80.0, 82.0))
        for label in labels
        for n in range(tasks)
    ]
    figure = score_curve_figure.score_curve_figure(curves, "hours", page)
    assert len(figure.axes) == tasks
    # Of an odd number of tasks a row lacks one.
    layout.check(figure, 0.2)
    # Scores between 80 and 82 fill their axis.
    assert figure.axes[0].get_ylim()[0] > 79


def test_scores_of_different_metrics_do_not_share_a_panel():
    other = ScoreCurve("Single", "en-de", "bleu_lc", (1.0,), (1.0,))
    with pytest.raises(ConfigError, match="en-de by bleu and bleu_lc"):
        score_curves.by_task([*CURVES, other])
