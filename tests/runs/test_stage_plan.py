"""How long the stages of a run last."""

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.runs.stages import stage_plan


@pytest.mark.parametrize(
    "training, total",
    [
        ({"epochs": 3}, 30),
        ({"epochs": 3, "min_steps": 200}, 200),
        ({"epochs": 3, "min_steps": 20}, 30),
        ({"epochs": 3, "min_steps": 200, "steps": 7}, 7),
    ],
)
def test_few_texts_are_trained_on_for_some_steps_at_least(training, total):
    config = fields.defaults()
    config["training"] |= training
    config["training"]["fine_tune"] |= {"epochs": 2}
    joint, tuned = stage_plan.plan(config, ["a", "b"])
    assert joint.total_steps(10) == total
    assert tuned.total_steps(10) == 20


@pytest.mark.parametrize("scope", ["private", "all"])
def test_main_tasks_choose_the_weights_of_the_stages_that_train_them(scope):
    config = fields.defaults()
    config["training"]["fine_tune"] |= {"epochs": 1, "scope": scope}
    config["training"]["main_tasks"] = ["c", "a"]
    joint, *tuned = stage_plan.plan(config, ["a", "b", "c"])
    assert (joint.tasks, joint.main) == ((0, 1, 2), (0, 2))
    found = [stage.main for stage in tuned]
    # A copy for one task is chosen by this task, an auxiliary one as well.
    assert found == ([(0, 2)] if scope == "private" else [(0,), (1,), (2,)])
    config["training"]["main_tasks"] = []
    joint, *_ = stage_plan.plan(config, ["a", "b", "c"])
    assert joint.main == (0, 1, 2)
