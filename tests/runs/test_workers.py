"""Whole runs on several workers: real processes over loopback."""

import os

import pytest

from mtl_tf.runs import training_run
from tests.runs import worker_processes
from tests.runs.worker_processes import assert_as_one_device
from tests.system import families

GROUPS = (
    ("lstm", "meta_lstm", "hyper_lstm", "psp", "ssp", "asp"),
    ("me_lstm", "arc_i", "arc_ii", "mt_cnn", "mt_dnn", "nbow"),
    ("s_p", "s_c", "l_i", "l_e", "tagging", "translation", "answering"),
    (*families.METHODS, "fine_tuned", "token_budget", "adam", "lazy_adam"),
    ("several_types", "compared_pairs", "accumulated"),
    ("encoder", "adapters", "wide", "taught"),
)


def test_no_family_is_forgotten():
    tested = {name for group in GROUPS for name in group}
    assert tested | {"separate"} == set(families.FAMILIES)


@pytest.mark.extended
def test_two_workers_train_as_one_device(tmp_path):
    config = families.write(tmp_path, ["nbow"])["nbow"]
    worker_processes.train({"run": config}, tmp_path / "two")
    one, two = tmp_path / "one", tmp_path / "two/run"
    training_run.train(config, str(one), strategy="one_device")
    assert_as_one_device(one, two)
    # What one process writes is there, and nothing else.
    assert files_below(two) == files_below(one)


@pytest.mark.slow
def test_one_model_a_task_trains_on_two_workers(tmp_path):
    """One after another, in the same processes."""
    config = families.write(tmp_path, ["separate"])["separate"]
    worker_processes.train({"run": config}, tmp_path / "two")
    one, two = tmp_path / "one", tmp_path / "two/run"
    training_run.train(config, str(one), strategy="one_device")
    for task in ("plain", "mirror"):
        assert_as_one_device(one / "tasks" / task, two / "tasks" / task)


def files_below(directory):
    found = set()
    for folder, _, names in os.walk(directory):
        # Events have names of the host and the process.
        kept = [n for n in names if not n.startswith("events.")]
        inside = os.path.relpath(folder, directory)
        found |= {os.path.join(inside, name) for name in kept}
        found |= {inside} if len(kept) < len(names) else set()
    return found


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_every_family_trains_as_on_one_device(tmp_path, group):
    configs = families.write(tmp_path, group)
    worker_processes.train(configs, tmp_path / "two", seconds=3600)
    for name, config in configs.items():
        one = str(tmp_path / "one" / name)
        training_run.train(config, one, strategy="one_device")
        assert_as_one_device(one, tmp_path / "two" / name)


@pytest.mark.slow
def test_three_workers_train_as_one_device(tmp_path):
    config = families.write(tmp_path, ["meta_lstm"])["meta_lstm"]
    config["pipeline"]["batch_size"] = 9
    worker_processes.train({"run": config}, tmp_path / "three", 3)
    one = str(tmp_path / "one")
    training_run.train(config, one, strategy="one_device")
    assert_as_one_device(one, tmp_path / "three/run")
