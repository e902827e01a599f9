"""In which precision a run computes: `training.mixed_precision`."""

from collections.abc import Mapping
from typing import Any

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
