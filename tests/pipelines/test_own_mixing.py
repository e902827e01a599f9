"""Task mixings of the user's own."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.mixing import for_tasks, make_mixing
from mtl_tf.pipelines.schedule.plan import BatchPlan
from tests.pipelines.helpers import random_split

CODE = """
import numpy as np
from mtl_tf.pipelines.mixing import Joint, TaskMixing, Weighted

class First(TaskMixing):
    def __init__(self, *args, times=2, **kwargs):
        super().__init__(*args, **kwargs)
        self.cycle = np.array([0] * times + [1])

    def tasks(self, start, stop):
        return self.cycle[np.arange(start, stop) % len(self.cycle)][:, None]

class Listed(First):
    def tasks(self, start, stop):
        return np.array([step % 2 for step in range(start, stop)])[:, None]

class Flat(First):
    def tasks(self, start, stop):
        return super().tasks(start, stop)[:, 0]

class Rows(First):
    def tasks(self, start, stop):
        return super().tasks(start, stop).tolist()

class Beyond(First):
    def tasks(self, start, stop):
        return super().tasks(start, stop) + 1

class Relative(First):
    def tasks(self, start, stop):
        return super().tasks(0, stop - start)

class Later(First):
    def tasks(self, start, stop):
        return super().tasks(start, stop) + (stop > 60)

class Taskless(TaskMixing):
    pass

class Closed(First):
    def __init__(self, times=2):
        super().__init__([1], 0, times=times)

class Miscounts(First):
    def counts(self, step):
        return np.array([step, 0])

class Together(Joint):
    pass

class Reversed(Joint):
    def tasks(self, start, stop):
        return super().tasks(start, stop)[:, ::-1]

class Halved(Joint):
    groups = 1

class Favoured(Weighted):
    pass
"""


@pytest.fixture(autouse=True)
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)


def test_it_has_its_options_and_counts_by_itself():
    mixing = make_mixing({"name": "mine.py:First", "times": 3}, [5, 5], 0)
    assert mixing.tasks(2, 6).tolist() == [[0], [1], [0], [0]]
    assert mixing.counts(6).tolist() == [5, 1]


def test_it_may_return_a_list_of_no_steps_as_an_array():
    mixing = make_mixing("mine.py:Listed", [5, 5], 0)
    assert mixing.counts(0).tolist() == [0, 0]


def test_phases_may_have_it():
    phases = [{"tasks": [1], "steps": 2}]
    config = {"name": "phases", "phases": phases, "mixing": "mine.py:First"}
    with pytest.raises(ConfigError, match="numbers from 0 to 0"):
        make_mixing(config, [5, 5], 0)  # of the phase's one task
    phases[0]["mixing"] = "uniform"
    tasks = make_mixing(config, [5, 5], 0).tasks(0, 6)
    np.testing.assert_array_equal(tasks[:, 0], [1, 1, 0, 0, 1, 0])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Flat", r"an array of integers of shape \[50, 1\].* got int64 \[50\]"),
        ("Rows", r"an array of integers .* got <class 'list'>"),
        ("Beyond", "must be numbers from 0 to 1, got 1 to 2"),
        ("Relative", "must be the same as in"),
        ("Miscounts", r"\[34, 16\], got \[50, 0\]"),
        ("Taskless", r"mine.py:Taskless has no tasks\(start, stop\)"),
        ("Closed", r"must take \*args and \*\*kwargs beside its options"),
        ("np", "is no class"),
        ("Reversed", r"joint steps \(is_joint\).* in their order, \[0, 1\]"),
        ("Halved", "groups must be 2"),
    ],
)
def test_wrong_ones(name, message):
    with pytest.raises(ConfigError, match=message):
        make_mixing({"name": f"mine.py:{name}"}, [5, 5], 0)


def test_a_class_of_joint_has_the_steps_of_joint():
    splits = [random_split(name, 20, 9) for name in ("a", "b")]
    own, joint = (
        BatchPlan(splits, 4, [16], {"name": name}, 0)
        for name in ("mine.py:Together", "joint")
    )
    assert own.steps_per_epoch == joint.steps_per_epoch
    for one, other in zip(own.steps(0, 9), joint.steps(0, 9)):
        np.testing.assert_array_equal(one, other)
    phases = [{"tasks": [1], "steps": 2}]
    config = {"name": "phases", "phases": phases, "mixing": "mine.py:Together"}
    with pytest.raises(ConfigError, match="cannot hold joint steps"):
        make_mixing(config, [5, 5], 0)


def test_what_names_tasks_has_no_use_for_a_single_task():
    config = {"name": "mine.py:Favoured", "weights": {"b": 2.0}}
    assert for_tasks(config, ["a"]) == {"name": "round_robin"}
    assert for_tasks(config, ["a", "b"]) == config


def test_wrong_tasks_of_later_steps():
    splits = [random_split(name, 20, 9) for name in ("a", "b")]
    plan = BatchPlan(splits, 4, [16], {"name": "mine.py:Later"}, 0)
    assert plan.steps(50, 60).tasks.max() == 1
    message = "in steps 50 to 60, tasks must be numbers from 0 to 1, got 2"
    with pytest.raises(ConfigError, match=message):
        plan.steps(50, 61)


def test_an_unknown_option():
    with pytest.raises(ConfigError, match="no option 'time'; did you mean 't"):
        make_mixing({"name": "mine.py:First", "time": 3}, [5, 5], 0)
