"""Configs of runs on fewer tasks than those of a config."""

import copy

import pytest

from mtl_tf.runs.loaded import fewer_tasks
from tests.system import corpus

FILES = {"train": "train.tsv", "test": "test.tsv"}
A, B, C = ({"name": name, "files": FILES} for name in "abc")


@pytest.fixture
def config():
    made = corpus.config([A, B, C])
    made["pipeline"]["fractions"] = {"a": 0.5, "b": 0.1}
    made["training"] |= {
        "main_tasks": ["a", "b"],
        "loss_weights": {"a": 2.0, "c": 3.0},
    }
    return made


def test_what_is_said_of_other_tasks_goes(config):
    before = copy.deepcopy(config)
    found = fewer_tasks.config_for(config, [B, C])
    assert config == before
    assert found["tasks"] == [B, C]
    assert found["pipeline"].pop("fractions") == {"b": 0.1}
    assert found["training"].pop("main_tasks") == ["b"]
    assert found["training"].pop("loss_weights") == {"c": 3.0}
    for key in ("main_tasks", "loss_weights"):
        config["training"].pop(key)
    config["pipeline"].pop("fractions")
    assert found == {**config, "tasks": [B, C]}


def test_tasks_of_groups_are_told_by_their_names(config):
    config["tasks"] = ["multi30k", A]
    config["training"]["loss_weights"] = {"a": 2.0, "en-de": 3.0, "en-fr": 1.0}
    found = fewer_tasks.config_for(config, ["multi30k/en-de", A])
    assert found["training"]["loss_weights"] == {"a": 2.0, "en-de": 3.0}


def test_weights_of_a_mixing_are_those_of_the_tasks_that_are_left(config):
    # A name that is no task at all is refused later.
    weights = {"a": 2.0, "b": 3.0, "mistake": 1.0}
    config["pipeline"]["mixing"] = {"name": "weighted", "weights": weights}
    found = fewer_tasks.config_for(config, [B, C])["pipeline"]["mixing"]
    assert found["weights"] == {"b": 3.0, "mistake": 1.0}


def test_phases_have_the_tasks_that_are_left(config):
    phase = {"tasks": ["a", "c"], "steps": 3}
    weighted = {"name": "weighted", "weights": {"a": 2.0, "b": 3.0}}
    mixing = {"name": "phases", "phases": [phase], "mixing": weighted}
    config["pipeline"]["mixing"] = mixing
    found = fewer_tasks.config_for(config, [B, C])["pipeline"]["mixing"]
    assert found == {
        "name": "phases",
        "phases": [{"tasks": ["c"], "steps": 3}],
        "mixing": {"name": "weighted", "weights": {"b": 3.0}},
    }


def test_without_phases_there_is_what_comes_after_them(config):
    phases = [{"tasks": ["a"], "steps": 3}]
    weighted = {"name": "weighted", "weights": {"a": 2.0, "b": 3.0}}
    mixing = config["pipeline"]["mixing"] = {"name": "phases", "phases": phases}
    for after, expected in (
        (None, {"name": "uniform"}),
        ("round_robin", {"name": "round_robin"}),
        (weighted, {"name": "weighted", "weights": {"b": 3.0}}),
    ):
        mixing["mixing"] = after
        found = fewer_tasks.config_for(config, [B, C])
        assert found["pipeline"]["mixing"] == expected


def test_the_vocabulary_and_the_group_are_those_of_all_tasks(config):
    found = fewer_tasks.part_of(config, [B])
    assert found["tasks"] == [B]
    assert found["text"]["vocabulary_tasks"] == [A, B, C]
    assert found["evaluation"]["group"] == [A, B, C]
    config["text"]["vocabulary_tasks"] = config["evaluation"]["group"] = [A]
    found = fewer_tasks.part_of(config, [B])
    assert found["text"]["vocabulary_tasks"] == [A]
    assert found["evaluation"]["group"] == [A]


def test_of_one_task_there_is_nothing_to_choose_or_to_balance(config):
    config["training"]["best_per_task"] = True
    two, one = (
        fewer_tasks.part_of(config, entries)["training"]
        for entries in ([A, B], [A])
    )
    assert two["main_tasks"] == ["a", "b"] and not one["main_tasks"]
    assert two["loss_weights"] == {"a": 2.0} and not one["loss_weights"]
    assert two["best_per_task"] and not one["best_per_task"]


def test_a_share_of_steps_is_rounded_up_and_nothing_stays_nothing():
    training = {"steps": 9, "min_steps": 0, "epochs": 9}
    shared = {"steps": 5, "min_steps": 0, "epochs": 9}
    training |= {"evaluate_every": 4, "steps_per_epoch": 3}
    shared |= {"evaluate_every": 2, "steps_per_epoch": 2}
    assert fewer_tasks.share_of_steps(training, 2) == shared
