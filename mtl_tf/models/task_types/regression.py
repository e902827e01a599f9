"""Regression: a number from a text's summary."""

from mtl_tf.layers.regression_head import RegressionHead
from mtl_tf.models.head_type import HeadType, check_private


class Regression(HeadType):
    """A `RegressionHead`."""

    def make(self, tasks, config, **options) -> RegressionHead:
        """See `HeadType.make`."""
        check_private(config, "regression tasks")
        nothing = {"offset": 0.0, "scale": 1.0, "range": []}
        known = [nothing if task is None else task for task in tasks]
        return RegressionHead(
            [task["offset"] for task in known],
            [task["scale"] for task in known],
            [task["range"] for task in known],
            **options,
        )


TYPE = Regression()
