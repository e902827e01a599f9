"""Loss weightings that are classes of the user's own, tried when made."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError


def make(
    cls: type[keras.layers.Layer],
    place: str,
    weights: Sequence[float],
    options: Mapping[str, Any],
) -> keras.layers.Layer:
    """Makes a weighting and first tries it on losses of 1.

    So mistakes are reported before the training starts. Losses of a wrong
    shape would not even fail: the training would sum them.

    Args:
        cls: the class.
        place: its path, for messages.
        weights: one factor for each task.
        options: keyword arguments of the constructor.

    Raises:
        ConfigError: there is no such option, or the weighting fails.
    """
    known = own_functions.keywords(cls, ("weights",))
    own_functions.check_options(f"loss weighting {place}", options, known)
    try:
        # Calls belong to replicas: a strategy's scope is outside of them.
        if not tf.distribute.in_cross_replica_context():
            # A call may change the state of what is tried.
            _try(cls(weights, **options), len(weights))
        return cls(weights, **options)
    except Exception as error:
        reason = own_functions.complaint(error) or str(error) or repr(error)
        if isinstance(error, ConfigError):
            reason = str(error)
        raise ConfigError(
            f"the loss weighting {place} cannot be used: {reason}"
        )


def _try(layer: keras.layers.Layer, tasks: int) -> None:
    """Raises `ConfigError`, or what the training would raise."""
    paths = [variable.path for variable in layer.variables]
    for path in sorted(set(paths)):
        if paths.count(path) > 1:
            raise ConfigError(f"two of its weights are called {path}")
    if layer.adapts and not hasattr(layer, "update"):
        raise ConfigError("with adapts it needs update(task, loss, norms)")

    @tf.function(autograph=False)
    def weighted(task: tf.Tensor, loss: tf.Tensor) -> tf.Tensor:
        result = layer(task, loss)
        if layer.adapts:
            layer.update(task, loss, tf.ones_like(loss))
        return result

    for groups in {1, tasks}:
        result = weighted(tf.range(groups), tf.ones([groups]))
        if not tf.is_tensor(result) or result.dtype != tf.float32:
            kind = result.dtype.name if tf.is_tensor(result) else result
            raise ConfigError(f"it must return losses in float32, got {kind}")
        if result.shape != [groups]:
            raise ConfigError(
                f"of losses of shape {[groups]} it must return weighted ones "
                f"of that shape, got {result.shape.as_list()}"
            )
    factors = layer.values()
    if np.shape(factors) != (tasks,):
        raise ConfigError(
            f"values() must return a number for each of the {tasks} tasks, "
            f"got {factors!r:.60}"
        )
    _check_affine(layer, tasks)


def _check_affine(layer: keras.layers.Layer, tasks: int) -> None:
    """Refuses a weighting that parts of a batch cannot share.

    A replica, or a part of a batch, has only a part of each loss. Nothing would
    fail: the gradients would be those of other losses.
    """
    task = tf.range(tasks)
    losses = tf.range(1.0, tasks + 1.0)
    none, one, again, three = (
        np.asarray(layer(task, factor * losses))
        for factor in (0.0, 1.0, 1.0, 3.0)
    )
    # What draws or counts cannot be compared.
    is_function = np.array_equal(one, again, equal_nan=True)
    if is_function and not np.allclose(three - none, 3 * (one - none), 1e-3):
        raise ConfigError(
            "it must return the losses times something, plus something, since "
            "a part of a batch has only a part of its losses; for losses of 0, "
            f"1 and 3 of the first task it returned {none[0]:g}, {one[0]:g} "
            f"and {three[0]:g}"
        )
