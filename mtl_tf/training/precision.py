"""The numeric precision of a run: `training.mixed_precision`."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import keras

from mtl_tf.core import checks

FLOAT32, BFLOAT16, FLOAT16 = "float32", "mixed_bfloat16", "mixed_float16"
POLICIES = (FLOAT32, BFLOAT16, FLOAT16)


def policy(config: Mapping[str, Any]) -> str:
    """The dtype policy of a run's model.

    Args:
        config: the run's config.

    Raises:
        ConfigError: the policy is not one of `POLICIES`.
    """
    name = config["training"]["mixed_precision"]
    return checks.one_of("training.mixed_precision", name, POLICIES)


@contextlib.contextmanager
def of_runs_alone() -> Iterator[None]:
    """Within the block, layers without an explicit policy use float32.

    In a notebook, Keras's global policy may have been set for other models. A
    run's precision must depend on its config alone.
    """
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(FLOAT32)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
