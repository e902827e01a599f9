"""In which precision a run computes: `training.mixed_precision`."""

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
        config: the run's.

    Raises:
        ConfigError: it is none of `POLICIES`.
    """
    name = config["training"]["mixed_precision"]
    return checks.one_of("training.mixed_precision", name, POLICIES)


@contextlib.contextmanager
def of_runs_alone() -> Iterator[None]:
    """Makes layers that are given no policy float32 ones within the block.

    In a notebook the policy of Keras may be one that was set for other models:
    what a run computes is said by its config alone.
    """
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(FLOAT32)
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before)
