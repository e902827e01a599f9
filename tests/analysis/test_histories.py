"""What `metrics.jsonl` says of the stages of a run."""

import json

import pytest

from mtl_tf.analysis import histories
from mtl_tf.core.errors import RunError
from tests.analysis.made_runs import entry, make_run, note


def test_losses_and_scores_of_each_task_and_of_the_means(tmp_path):
    path = make_run(tmp_path / "run")
    first = entry(10, ("books", "films"))
    first["train_loss"] = {"books": 0.2, "films": 0.6}
    second = entry(20, ("books", "films"), score=80.0)
    second["train_loss"] = {"films": 0.4}
    note(tmp_path / "run", first, second)
    [found] = histories.read(path)
    assert found.stage == "joint" and found.steps == (10, 20)
    assert found.mean.train == pytest.approx((0.4, 0.4))
    assert found.mean.score == (50.0, 80.0)
    books = found.tasks["books"]
    assert books.train == (0.2, None) and books.metric == "accuracy"
    assert books.validation == pytest.approx((0.6, 0.6))
    assert books.score == (50.0, 80.0)


def test_a_training_to_its_end(tmp_path):
    [found] = histories.read(make_run(tmp_path / "run", patience=1))
    assert not found.stopped_early
    assert found.ending == (
        "Trained to its planned end, epoch 4 (step 40); the weights of step "
        "30 were kept."
    )


@pytest.mark.parametrize(
    "length",
    [
        {"epochs": 9},
        {"steps": 90},
        {"epochs": 1, "min_steps": 60},
    ],
)
def test_a_training_that_stopped_early(tmp_path, length):
    path = make_run(tmp_path / "run", best=20, patience=2, **length)
    [found] = histories.read(path)
    assert found.stopped_early and found.best_step == 20
    assert found.ending == (
        "Stopped early after epoch 4 (step 40): no better validation score "
        "for 2 evaluations; the weights of step 20 were kept."
    )


@pytest.mark.parametrize(
    "length",
    [
        {"epochs": 1, "min_steps": 40},
        {"epochs": 9, "steps": 40},
    ],
)
def test_the_last_step_of_a_plan_is_no_early_stop(tmp_path, length):
    path = make_run(tmp_path / "run", best=20, patience=2, **length)
    [found] = histories.read(path)
    assert not found.stopped_early
    assert found.ending.startswith("Trained to its planned end")


def test_a_training_whose_tasks_keep_weights_of_their_own(tmp_path):
    options = {"patience": 2, "epochs": 9, "best_per_task": True}
    path = make_run(tmp_path / "run", best=10, **options)
    for task, step in (("books", 20), ("films", 10)):
        folder = tmp_path / "run" / "best_per_task" / task / "best"
        folder.mkdir(parents=True)
        best = {"step": step, "score": 70.0, "weights": "x"}
        (folder / "best.json").write_text(json.dumps(best))
    [found] = histories.read(path)
    assert found.stopped_early and found.best_step == 10
    assert found.ending == (
        "Stopped early after epoch 4 (step 40): no better validation score "
        "for 2 evaluations; each task kept the weights of its best score."
    )


def test_a_training_that_its_time_ended(tmp_path):
    path = make_run(tmp_path / "run", patience=3, epochs=9, max_hours=0.5)
    [found] = histories.read(path)
    assert found.stopped_early
    assert found.ending == (
        "Stopped after epoch 4 (step 40) after training.max_hours; the weights "
        "of step 30 were kept."
    )


def test_stages_of_fine_tuning_and_models_of_single_tasks(tmp_path):
    tuning = {"epochs": 1, "scope": "all", "learning_rate": 0.0}
    path = make_run(tmp_path / "run", fine_tune=tuning)
    books = tmp_path / "run" / "fine_tuned" / "books" / "best"
    books.mkdir(parents=True)
    (books / "best.json").write_text(
        json.dumps({"step": 5, "score": 1.0, "weights": "x"})
    )
    lines = entry(10, ("books", "films")), entry(5, ("books",))
    lines[1]["stage"] = "fine_tuned/books"
    note(tmp_path / "run", *lines)
    found = histories.read(path)
    assert [one.stage for one in found] == ["joint", "fine_tuned/books"]
    assert [list(one.tasks) for one in found] == [["books", "films"], ["books"]]
    assert found[1].best_step == 5

    make_run(tmp_path / "each" / "tasks" / "a", ("a",))
    make_run(tmp_path / "each" / "tasks" / "b", ("b",))
    (tmp_path / "each" / "config.json").write_text("{}")
    found = histories.read(str(tmp_path / "each"))
    assert [list(one.tasks) for one in found] == [["a"], ["b"]]


def test_no_run_and_one_without_evaluations(tmp_path):
    with pytest.raises(RunError, match="not a run directory"):
        histories.read(str(tmp_path))
    path = make_run(tmp_path / "run")
    (tmp_path / "run" / "metrics.jsonl").unlink()
    assert histories.read(path) == []


def test_a_damaged_line_names_the_file(tmp_path):
    path = make_run(tmp_path / "run")
    damaged = entry(20, ("books", "films"))
    del damaged["train_loss"]
    note(tmp_path / "run", entry(10, ("books", "films")), damaged)
    with pytest.raises(RunError, match=r"metrics\.jsonl .*train_loss"):
        histories.read(path)
