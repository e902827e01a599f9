"""How long the stages of a run last."""

import pytest

from mtl_tf.configs import fields
from mtl_tf.runs import stage_plan


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
