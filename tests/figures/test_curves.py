"""Losses by epoch from `metrics.jsonl`."""

import json

import pytest

from mtl_tf.core.errors import RunError
from mtl_tf.figures import curves


def write(folder, *entries):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"stage": "joint", **entry}) for entry in entries]
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n")


def entry(epoch, train, development, stage="joint"):
    tasks = {
        name: {"accuracy": 50.0, "loss": loss}
        for name, loss in development.items()
    }
    return {
        "stage": stage,
        "step": round(10 * epoch),
        "epoch": epoch,
        "train_loss": train,
        "validation": {"mean": 50.0, "tasks": tasks},
    }


@pytest.fixture
def run(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    return tmp_path


def test_means_over_the_tasks(run):
    write(
        run,
        entry(1.0, {"a": 0.5, "b": 0.7}, {"a": 0.2, "b": 0.6}),
        entry(2.0, {"a": 0.1}, {"a": 0.4, "b": 0.6}),
        entry(3.0, {"a": 9.0}, {"a": 9.0}, stage="fine_tuned"),
    )
    curve = curves.read(str(run), "x")
    assert curve.label == "x"
    assert curve.epochs == (1.0, 2.0)
    assert curve.train == pytest.approx((0.6, 0.1))
    assert curve.development == pytest.approx((0.4, 0.5))


def test_a_model_per_task_counts_as_far_as_all_of_them_went(run):
    first, second = run / "tasks" / "a", run / "tasks" / "group" / "b"
    write(
        first,
        entry(1.0, {"a": 0.5}, {"a": 0.2}),
        entry(2.0, {"a": 0.4}, {"a": 0.1}),
    )
    write(second, entry(1.0, {"b": 0.7}, {"b": 0.6}))
    curve = curves.read(str(run), "x")
    assert curve.epochs == (1.0,)
    assert curve.train == pytest.approx((0.6,))
    assert curve.development == pytest.approx((0.4,))


def test_a_run_without_a_development_loss(run):
    write(run, entry(1.0, {"a": 0.5}, {"a": None}))
    assert curves.read(str(run), "x").development == (None,)


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunError, match="not a run directory"):
        curves.read(str(tmp_path), "x")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RunError, match="no evaluations"):
        curves.read(str(tmp_path), "x")


def losses(*points):
    return [entry(epoch, {"a": x}, {"a": y}) for epoch, x, y in points]


def test_models_that_were_evaluated_at_different_epochs(run):
    """As tasks of different sizes are, with `training.evaluate_every`."""
    write(
        run / "tasks" / "a",
        *losses((1.0, 8.0, 4.0), (2.0, 4.0, 2.0), (3.0, 2.0, 1.0)),
    )
    write(
        run / "tasks" / "b",
        *losses((0.5, 6.0, 3.0), (1.5, 4.0, 2.0), (2.0, 2.0, None)),
    )
    curve = curves.read(str(run), "x")
    assert curve.epochs == (1.0, 1.5, 2.0)
    assert curve.train == pytest.approx((6.5, 5.0, 3.0))
    # Where one model has no loss there is that of the other.
    assert curve.development == pytest.approx((3.25, 2.5, 2.0))


def test_nothing_is_made_up_beside_an_unknown_loss(run):
    write(run / "tasks" / "a", *losses((1.0, 1.0, None), (2.0, 1.0, 5.0)))
    write(run / "tasks" / "b", *losses((1.0, 1.0, 3.0), (1.5, 1.0, 3.0)))
    assert curves.read(str(run), "x").development == (3.0, 3.0)


def test_epochs_that_are_too_near_to_differ_are_all_drawn(run):
    write(run, *losses((0.0001, 2.0, 1.0), (0.0001, 1.0, 1.0)))
    assert curves.read(str(run), "x").train == (2.0, 1.0)


def test_models_without_an_epoch_in_common(run):
    write(run / "tasks" / "a", *losses((0.1, 1.0, 1.0), (0.2, 1.0, 1.0)))
    write(run / "tasks" / "b", *losses((1.0, 1.0, 1.0), (2.0, 1.0, 1.0)))
    with pytest.raises(
        RunError,
        match="do not overlap .tasks/a from epoch 0.1 to 0.2, tasks/b from "
        "epoch 1 to 2.; draw them one by one",
    ):
        curves.read(str(run), "x")


def test_a_model_that_was_not_evaluated_yet_is_named(run):
    write(run / "tasks" / "a", *losses((1.0, 1.0, 1.0)))
    write(run / "tasks" / "b")
    with pytest.raises(RunError, match="tasks/b has no evaluations"):
        curves.read(str(run), "x")
