"""Tells of texts that are longer than a model reads."""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.prediction import task_types
from mtl_tf.prediction.predicting_run import PredictingRun, TaskDict


class CutTexts:
    """Counts examples of which a model reads only a part.

    Args:
        run: what predicts them.
    """

    def __init__(self, run: PredictingRun):
        self._run = run
        self.count, self.total, self.first = 0, 0, ""

    def look(
        self,
        task: TaskDict,
        examples: Sequence[Mapping[str, Any]],
        places: Sequence[str],
    ) -> None:
        """Counts such examples of a task.

        Args:
            task: the task.
            examples: at least one; see `PredictionType.cut`.
            places: where each example stands, for the message.
        """
        kind = task_types.of(task["type"])
        cut = kind.cut(self._run.run_of(task["name"]), task, examples)
        self.total += len(examples)
        self.count += int(cut.sum())
        if cut.any():
            self.first = self.first or places[int(cut.argmax())]

    def tell(self) -> None:
        """Logs the count."""
        if self.count:
            logging.warning(
                "Examples longer than the model reads (text.max_length): %d of "
                "%d, the first at %s; the predictions rest on what stands "
                "before the cut.",
                self.count,
                self.total,
                self.first,
            )
