"""Regression: a number."""

from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from ..serving import Tensors
from ..serving_sharing import ServedTexts


class ServedRegression(ServedTexts):
    """Regression.

    Its signatures return `value` [batch].
    """

    def empty_outputs(self, features: Tensors) -> Tensors:
        """Zeros."""
        return {"value": tf.zeros([tf.shape(features["tokens"])[0]])}

    def outputs(self, outputs: Mapping[str, Any]) -> Tensors:
        """Numbers [batch]."""
        return {"value": tf.cast(outputs["prediction"][0], tf.float32)}

    def answer(self, results, beside, number, task=None) -> Tensors:
        """The numbers; 0 if the task is unknown."""
        del beside, task
        return {"value": tf.where(number < 0, 0.0, results["value"])}

    @classmethod
    def row(cls, outputs: dict[str, Any]) -> dict[str, Any]:
        """`value`."""
        return {"value": outputs["value"]}


TYPE = ServedRegression
