import json

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks.task import Task, TaskGroup
from tests.tasks.fakes import Numbers


class Named(Numbers):
    def dataset(self, split):
        return tf.data.Dataset.from_tensors({"split": split})


def split_of(task, split):
    (example,) = task.dataset(split).as_numpy_iterator()
    return example["split"]


def task_of(**fields):
    fields = {
        "name": "mails",
        "type": "classification",
        "source": Named(5),
        "labels": ("ham", "spam"),
        **fields,
    }
    return Task(**fields)


def test_splits_are_those_of_the_source_or_renamed():
    task = task_of(splits={"train": "all[:9]", "test": "final", "extra": "x"})
    assert split_of(task, "train") == b"all[:9]"
    assert split_of(task, "extra") == b"x"
    assert split_of(task, "test[:3]") == b"test[:3]"
    assert task.size("test") == 5
    assert split_of(task_of(), "validation") == b"validation"


class Pairs(Numbers):
    def dataset(self, split):
        scores = [[0.1, 0.2], [0.3, 0.4]]
        return tf.data.Dataset.from_tensor_slices(
            {"text": ["a", "b"], "label": scores}
        )


def test_values_of_another_shape_than_declared_are_refused():
    task = task_of(source=Pairs(2))
    with pytest.raises(ConfigError, match=r"axes \(\), and reads .* \(2,\)"):
        task.dataset("train")
    two = task_of(source=Pairs(2), type="multi_label")
    assert len(list(two.dataset("train"))) == 2


def test_a_missing_split_is_an_error_when_it_is_asked_for():
    task = task_of(splits={"train": "train"})
    for ask in (task.dataset, task.size):
        with pytest.raises(ConfigError, match="mails has no test split"):
            ask("test")


def test_what_a_run_has_to_know_of_a_task():
    task = task_of(metrics=("macro_f1",), loss_weight=0.5)
    value = json.loads(json.dumps(task.to_json()))
    assert value == {
        "name": "mails",
        "type": "classification",
        "labels": ["ham", "spam"],
        "metrics": ["macro_f1"],
        "loss_weight": 0.5,
    }


@pytest.mark.parametrize("weight", [0, -1.0, float("nan"), "1"])
def test_wrong_loss_weights(weight):
    with pytest.raises(
        ConfigError, match="mails: loss_weight must be positive"
    ):
        task_of(loss_weight=weight)


def test_unknown_type():
    with pytest.raises(ConfigError, match="did you mean 'classification'"):
        task_of(type="clasification")


def test_tasks_and_groups_can_be_keys():
    task = task_of()
    assert {task: 1, TaskGroup("g", (task,)): 2}[task] == 1
