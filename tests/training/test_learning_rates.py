import math

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.training.optimizers.learning_rates import WarmupThen


def rates(steps, **options):
    schedule = WarmupThen(0.8, **options)
    return [float(schedule(step)) for step in steps]


def test_constant_is_the_peak_from_the_first_step():
    assert rates([0, 1, 500]) == pytest.approx([0.8] * 3)


def test_warm_up_is_linear_and_ends_at_the_peak():
    got = rates(range(5), warmup_steps=4, total_steps=10)
    assert got == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8])


def test_linear_and_cosine_fall_to_zero_at_the_end():
    steps = [4, 7, 10]
    linear = rates(steps, name="linear", warmup_steps=4, total_steps=10)
    assert linear == pytest.approx([0.8, 0.4, 0.0], abs=1e-6)
    cosine = rates([4, 6, 10], name="cosine", warmup_steps=4, total_steps=10)
    middle = 0.4 * (1 + math.cos(math.pi / 3))
    assert cosine == pytest.approx([0.8, middle, 0.0], abs=1e-6)


def test_inverse_sqrt_halves_when_steps_are_four_times_the_warm_up():
    got = rates([99, 399], name="inverse_sqrt", warmup_steps=100)
    assert got == pytest.approx([0.8, 0.4])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "cosin"}, "did you mean 'cosine'"),
        ({"warmup_steps": -1}, "warmup_steps must be zero or a positive"),
        ({"total_steps": 0}, "total_steps must be a positive integer"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ConfigError, match=message):
        WarmupThen(0.1, **options)


def test_the_config_makes_the_same_schedule():
    one = WarmupThen(0.3, "cosine", 3, 9)
    again = WarmupThen.from_config(one.get_config())
    assert [float(again(s)) for s in range(10)] == [
        float(one(s)) for s in range(10)
    ]
