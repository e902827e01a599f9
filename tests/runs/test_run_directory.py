import json
import os

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.runs.directory.run_directory import (
    RunDirectory,
    flatten,
    no_weights,
)
from mtl_tf.runs.loaded.loading import load
from mtl_tf.training.optimizers import learning_rates
from tests.core import strict

CONFIG = json.loads(json.dumps(fields.defaults()))
CONFIG |= {"seed": 1, "tasks": ["a"]}
CONFIG["training"] |= {"epochs": 2, "steps": 0, "l2": 0.1}


def changed(**training):
    return {**CONFIG, "training": {**CONFIG["training"], **training}}


@pytest.fixture
def run(tmp_path):
    directory = RunDirectory(str(tmp_path / "run"))
    directory.claim(CONFIG)
    return directory


@pytest.fixture
def trained(run):
    os.makedirs(run.file("checkpoints"))
    with open(run.file("checkpoints", "checkpoint"), "w"):
        pass
    return run


def test_flatten_names_nested_fields():
    nested = {"seed": 1, "training": {"l2": 0.1, "fine_tune": {"epochs": 2}}}
    assert flatten(nested | {"tasks": ["a"], "init": {}}) == {
        "seed": 1,
        "training.l2": 0.1,
        "training.fine_tune.epochs": 2,
        "tasks": ["a"],
        "init": {},
    }


def test_the_same_config_continues(trained):
    # Tuples are lists in JSON: that is no difference.
    trained.write("results.json", {})
    trained.claim({**CONFIG, "tasks": ("a",)})
    assert trained.has("results.json")


def test_a_config_of_an_older_version_continues(trained):
    old = json.loads(json.dumps(CONFIG))
    old["pipeline"]["schedule"] = old["pipeline"].pop("mixing")
    for group, field in (("pipeline", "fractions"), ("text", "casing")):
        del old[group][field]
    trained.write("config.json", old)
    trained.write("results.json", {})
    trained.claim(CONFIG)
    assert trained.has("results.json")
    assert trained.read("config.json") == CONFIG
    with pytest.raises(RunError, match=r"pipeline.mixing.name: 'uniform' th"):
        trained.claim(
            CONFIG
            | {"pipeline": CONFIG["pipeline"] | {"mixing": {"name": "joint"}}}
        )


def test_a_new_run_takes_no_name_of_an_older_version(tmp_path):
    run = RunDirectory(str(tmp_path / "run"))
    pipeline = CONFIG["pipeline"] | {"schedule": {"name": "joint"}}
    with pytest.raises(ConfigError, match="is called pipeline.mixing.name"):
        run.claim(CONFIG | {"pipeline": pipeline})
    assert not run.has("config.json")


def test_a_longer_training_is_told_and_kept(trained):
    trained.write("results.json", {})
    trained.claim(changed(epochs=3))
    assert not trained.has("results.json")
    assert trained.read("config.json")["training"]["epochs"] == 3


@pytest.mark.parametrize("name", list(learning_rates.SCHEDULES))
def test_a_training_that_slowed_down_is_not_prolonged(run, name):
    """Refused are those whose learning rate depends on the length."""
    scheduled = CONFIG["training"]["optimizer"] | {"schedule": name}
    run.claim(changed(optimizer=scheduled))
    os.makedirs(run.file("tasks"))
    first, longer = (
        learning_rates.WarmupThen(1.0, name, 2, total)(5) for total in (8, 12)
    )
    longer_config = changed(optimizer=scheduled, epochs=90)
    if first == longer:
        run.claim(longer_config)
        return
    with pytest.raises(RunError, match=f"schedule '{name}'.* more training.ep"):
        run.claim(longer_config)
    assert run.read("config.json")["training"]["epochs"] != 90
    # Fine-tuning begins anew from the best joint weights.
    tuning = CONFIG["training"]["fine_tune"] | {"epochs": 3}
    run.claim(changed(optimizer=scheduled, fine_tune=tuning))


def test_a_warm_up_that_is_a_share_of_the_steps_is_not_prolonged(tmp_path):
    chosen = CONFIG["training"]["optimizer"] | {"warmup_ratio": 0.1}
    for steps in (0, 5):
        run = RunDirectory(str(tmp_path / str(steps)))
        scheduled = chosen | {"warmup_steps": steps}
        run.claim(changed(optimizer=scheduled))
        os.makedirs(run.file("checkpoints"))
        open(run.file("checkpoints", "checkpoint"), "w").close()
        longer = changed(optimizer=scheduled, min_steps=90)
        if steps:
            run.claim(longer)
            continue
        with pytest.raises(RunError, match="ratio.* more training.min_steps"):
            run.claim(longer)


def test_a_longer_training_is_never_taken_for_finished(trained, monkeypatch):
    trained.write("results.json", {})
    monkeypatch.setattr(trained, "write", lambda *_: 1 / 0)  # killed here
    with pytest.raises(ZeroDivisionError):
        trained.claim(changed(epochs=3))
    assert not trained.has("results.json")
    assert trained.read("config.json") == CONFIG


def test_more_steps_are_a_longer_training(run):
    run.claim(changed(steps=5))
    run.write("results.json", {})
    run.claim(changed(steps=6))
    assert not run.has("results.json")


def test_more_hours_are_a_longer_training(run):
    run.claim(changed(max_hours=1.0))
    os.makedirs(run.file("tasks"))
    for hours in (1.5, 0.0):  # 0 sets no limit.
        run.write("results.json", {})
        run.claim(changed(max_hours=hours))
        assert not run.has("results.json")
    with pytest.raises(RunError, match="max_hours: 0.0 there, 2.0 asked for"):
        run.claim(changed(max_hours=2.0))


def test_more_hours_leave_a_decaying_learning_rate_as_it_is(run):
    optimizer = {**CONFIG["training"]["optimizer"], "schedule": "linear"}
    run.claim(changed(optimizer=optimizer, max_hours=1.0))
    os.makedirs(run.file("tasks"))
    run.claim(changed(optimizer=optimizer, max_hours=2.0))
    with pytest.raises(RunError, match="decays towards"):
        run.claim(changed(optimizer=optimizer, max_hours=2.0, epochs=3))


@pytest.mark.parametrize(
    "change", [{"epochs": 1}, {"steps": 5}, {"l2": 0.2}, {"new": 1}]
)
def test_anything_else_is_refused_with_the_difference(trained, change):
    (name, value), *_ = change.items()
    with pytest.raises(RunError, match=rf"training.{name}: .* {value} asked"):
        trained.claim(changed(**change))
    assert trained.read("config.json") == CONFIG


def with_pipeline(**fields):
    return {**CONFIG, "pipeline": {**CONFIG["pipeline"], **fields}}


def test_of_a_task_only_the_fields_that_differ_are_told(tmp_path):
    entry = {"name": "a", "files": {"train": "/a.tsv", "test": "/b.tsv"}}
    other = {"name": "a", "files": {"train": "/c.tsv", "test": "/b.tsv"}}
    directory = RunDirectory(str(tmp_path / "run"))
    directory.claim({**CONFIG, "tasks": ["b", entry]})
    directory.write("results.json", {})
    with pytest.raises(RunError) as raised:
        directory.claim({**CONFIG, "tasks": ["b", {**other, "labels": ["x"]}]})
    assert str(raised.value).splitlines()[1:3] == [
        "  tasks[1].files.train: '/a.tsv' there, '/c.tsv' asked for",
        "  tasks[1].labels: not set there, ['x'] asked for",
    ]


def test_what_only_one_config_has_is_told_with_both_values(trained):
    with pytest.raises(RunError) as caught:
        trained.claim(with_pipeline(fractions={"a": 0.5}))
    line = "\n  pipeline.fractions: {} there, {'a': 0.5} asked for\n"
    assert line in str(caught.value)
    # Options of a choice are fields one by one.
    mixing = {"name": "temperature", "temperature": 2.0}
    assert "temperature" not in CONFIG["pipeline"]["mixing"]
    with pytest.raises(RunError) as caught:
        trained.claim(with_pipeline(mixing=mixing))
    line = "\n  pipeline.mixing.temperature: not set there, 2.0 asked for\n"
    assert line in str(caught.value)


def test_a_run_without_weights_says_how_it_gets_them(trained):
    message = "before the first evaluation. The same training again .* contin"
    with pytest.raises(RunError, match=message):
        load(trained.path)
    os.unlink(trained.file("checkpoints", "checkpoint"))
    with pytest.raises(RunError, match="before its first checkpoint. The same"):
        load(trained.path)


def test_a_run_that_never_trained_takes_another_config(run):
    run.write("labels.json", {})
    os.makedirs(run.file("vocabulary"))
    run.claim(changed(l2=0.2))
    assert run.read("config.json")["training"]["l2"] == 0.2
    assert not run.has("labels.json") and not run.has("vocabulary")


def test_other_values_than_at_the_beginning_are_named(run):
    data = {"boundaries": [8], "tasks": {"a": {"rows": 1}}}
    run.check_or_write("data.json", data, "the data")
    run.check_or_write("data.json", data, "the data")
    data = {"boundaries": [8], "tasks": {"a": {"rows": 2}}}
    with pytest.raises(
        RunError, match="the data changed .*first diff.* tasks.a.rows"
    ):
        run.check_or_write("data.json", data, "the data")


def test_configs_of_other_names_are_compared_as_of_today(run):
    rest = {k: v for k, v in CONFIG["pipeline"].items() if k != "mixing"}
    old = CONFIG | {"pipeline": rest | {"schedule": {"name": "joint"}}}
    new = CONFIG | {"pipeline": rest | {"mixing": {"name": "joint"}}}
    for name, wrap in (
        ("sweep_config.json", lambda config: config),
        ("row/config.json", lambda config: config),
        ("transfer.json", lambda config: {"config": config}),
    ):
        run.write(name, wrap(old))
        run.check_or_write(name, wrap(new), "the config")
        with pytest.raises(RunError, match="the config changed"):
            run.check_or_write(name, wrap(new | {"seed": 2}), "the config")


def test_metrics_after_the_last_checkpoint_are_cut(run):
    for stage, step in (("joint", 5), ("joint", 10), ("tuned", 7)):
        run.append_metrics({"stage": stage, "step": step})
    with open(run.file("metrics.jsonl"), "a") as file:
        file.write('{"stage": "joint", "st')
    run.cut_metrics("joint", 5)
    with open(run.file("metrics.jsonl")) as file:
        kept = [json.loads(line) for line in file]
    assert kept == [
        {"stage": "joint", "step": 5},
        {"stage": "tuned", "step": 7},
    ]


@pytest.mark.parametrize("line", ['"x"', "null", "[]", '{"stage": "joint"}'])
def test_lines_that_hold_no_metrics_are_dropped(run, caplog, line):
    with open(run.file("metrics.jsonl"), "w") as file:
        file.write(f"{line}\n")
    run.append_metrics({"stage": "joint", "step": 1})
    run.cut_metrics("joint", 1)
    assert list(run.metrics()) == [{"stage": "joint", "step": 1}]
    assert "Dropping half a line" in caplog.text


def test_a_loss_that_is_no_number_is_noted_as_null(run):
    run.append_metrics({"stage": "joint", "step": 1, "loss": float("nan")})
    run.cut_metrics("joint", 1)
    with open(run.file("metrics.jsonl")) as file:
        assert strict.loads(file.read())["loss"] is None


def test_a_damaged_config_is_named(run):
    with open(run.file("config.json"), "w") as file:
        file.write("{")
    with pytest.raises(RunError, match="config.json is not valid JSON"):
        run.claim(CONFIG)


def test_a_baseline_has_no_weights(tmp_path):
    run = RunDirectory(str(tmp_path))
    assert "first checkpoint" in no_weights(run)
    run.write("config.json", {**CONFIG, "baseline": {}})
    assert "it is a linear baseline" in no_weights(run)
