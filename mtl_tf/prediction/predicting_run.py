"""What predictions of a task type need of a trained run."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import tensorflow as tf

from mtl_tf.text.encoding.token_columns import TokenColumn

#: A run's description of a task: its name, type, labels and settings.
TaskDict = Mapping[str, Any]


class PredictingRun(Protocol):
    """The part of `mtl_tf.runs.loaded.loaded_run.Run` that predictions need.

    Attributes:
        config: the resolved config.
        tasks: the description of each task.
        encoder: converts texts to ids.
        predictor: runs the model (`inference.Predictor`).
    """

    config: Mapping[str, Any]
    tasks: Sequence[TaskDict]
    encoder: Any
    predictor: Any

    def run_of(self, task: str) -> "PredictingRun":
        """See `ExamplePredictions.run_of`."""

    def predict(
        self, task: str, examples: Iterable[Any], batch_size: int = 64
    ) -> list[dict[str, Any]]:
        """See `Run.predict`."""

    def token_columns(self, task: TaskDict) -> Sequence[TokenColumn]:
        """See `Run.token_columns`."""

    def forward(
        self,
        task: TaskDict,
        examples: Mapping[str, tf.Tensor | tf.RaggedTensor],
        batch_size: int = 64,
    ) -> dict[str, Any]:
        """See `Run.forward`."""
