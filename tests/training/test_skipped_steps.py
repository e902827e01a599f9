"""Steps that the scaled loss of float16 skips are told."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import Diverged
from mtl_tf.training.optimizers import skipped_steps
from tests.training import toy

HALF = {"precision": "mixed_float16", "evaluate_every": 4}


def large_until(last):
    """Losses that are finite, but not once they are scaled."""

    def change(step, full):
        full["weight"][:] *= 5e37 if step < last else 1
        return full

    return change


def state(stage):
    """Weights, moments and the count of steps."""
    inner = stage.optimizer.inner_optimizer
    return [v.numpy() for v in [*stage.model.variables, *inner.variables]]


@pytest.fixture
def not_finite(monkeypatch):
    """A model whose gradients are never finite, although its losses are."""

    @tf.custom_gradient
    def bad(x):
        return x, lambda gradient: gradient / 0.0

    call = toy.Toy.call

    def broken(self, *args, **kwargs):
        outputs = call(self, *args, **kwargs)
        return {**outputs, "loss": bad(outputs["loss"])}

    monkeypatch.setattr(toy.Toy, "call", broken)


@pytest.mark.extended
def test_a_training_of_skipped_steps_alone_is_an_error(tmp_path):
    options = {"change": large_until(12), "total_steps": 8} | HALF
    stage = toy.Stage(tmp_path, optimizer="adam", **options)
    before = state(stage)
    told = "all 8 steps were skipped.*mixed_float16.*take 'mixed_bfloat16'"
    with pytest.raises(Diverged, match=told):
        stage.run()
    for old, new in zip(before, state(stage), strict=True):
        np.testing.assert_array_equal(old, new)
    # Nor does the same command call it done.
    with pytest.raises(Diverged, match=told):
        toy.Stage(tmp_path, optimizer="adam", **options).run()


@pytest.mark.extended
def test_skipped_steps_are_counted(tmp_path, monkeypatch):
    told = []
    for level in ("info", "warning"):
        monkeypatch.setattr(
            skipped_steps.logging,
            level,
            lambda *a, n=level: told.append([n, *a]),
        )
    stage = toy.Stage(tmp_path, change=large_until(5), **HALF).run()
    assert int(stage.optimizer.iterations.numpy()) == 7
    found = [
        (level, *numbers) for level, text, *numbers in told if "%g" in text
    ]
    assert found == [
        ("warning", 4, 4, "mixed_float16", 2.0**11),
        ("info", 1, 4, "mixed_float16", 2.0**10),
    ]


@pytest.mark.extended
def test_gradients_that_no_scale_makes_finite_are_an_error(
    tmp_path, not_finite
):
    stage = toy.Stage(tmp_path, total_steps=90, **HALF)
    with pytest.raises(Diverged, match="scaled the loss down to.*float32"):
        stage.run()
    assert 50 < int(stage.checkpoints.step.numpy()) < 64


def test_a_loss_that_is_not_finite_names_the_precision(tmp_path):
    def poison(step, full):
        full["weight"][0, 0] = np.nan
        return full

    stage = toy.Stage(tmp_path, change=poison, **HALF)
    told = "clip_norm, or take training.mixed_precision 'mixed_bfloat16'.*65504"
    with pytest.raises(Diverged, match=told):
        stage.run()
