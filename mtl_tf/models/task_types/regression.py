"""Regression: a number from a text's summary."""

from mtl_tf.layers.heads.regression import RegressionHead
from mtl_tf.models.head_type import HeadType, check_private


class Regression(HeadType):
    """A `RegressionHead`."""

    def make(self, tasks, config, **options) -> RegressionHead:
        """See `HeadType.make`."""
        check_private(config, "regression tasks")
        neutral = {"offset": 0.0, "scale": 1.0, "range": []}
        described = [neutral if task is None else task for task in tasks]
        return RegressionHead(
            [task["offset"] for task in described],
            [task["scale"] for task in described],
            [task["range"] for task in described],
            **options,
        )


TYPE = Regression()
