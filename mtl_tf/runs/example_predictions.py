"""Predictions for examples in any form, of a run or of several."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.names import look_up
from mtl_tf.runs import given_examples, labelled_data, task_types
from mtl_tf.runs.predicting_run import TaskDict


class ExamplePredictions(abc.ABC):
    """What predicts examples of tasks.

    Attributes:
        config: the config, whose entries tell the columns of the tasks' files.
        tasks: the description of each task.
    """

    config: Mapping[str, Any]
    tasks: Sequence[TaskDict]

    def task_index(self, name: str) -> int:
        """The number of a task, its place in `tasks`.

        Raises:
            ConfigError: there is no such task.
        """
        indices = {task["name"]: i for i, task in enumerate(self.tasks)}
        return look_up(name, indices, "task")

    def predict(
        self,
        task: str,
        examples: Iterable[Any],
        batch_size: int = 64,
    ) -> list[dict[str, Any]]:
        """Predicts examples.

        Args:
            task: the task's name.
            examples: the examples, each a mapping of the task's input features.
                An example of one text may also be a string, even an empty one.
                For tagging, a list of tokens is taken as it is. See
                `mtl_tf.runs.task_types`. Also a pandas DataFrame, one example a
                row, or a `tf.data.Dataset`, batched or not, also of pairs
                (inputs, target), whose targets are ignored. Bytes are read as
                UTF-8. Features may have the column names of the task's own
                files; other columns are ignored.
            batch_size: examples at a time.

        Returns:
            For each example a dict of `task` and the fields of its type.
            Classification: `label`, and `scores`, the probability of each
            label. Multi-label: `labels` and `scores`. Regression: `value`.
            Tagging: `tokens`, `tags`, and `confidence`, a probability for each
            token. Translation: `translation` and `score`, its log probability.
            Questions: `answer`, `confidence`, and `words` with their origin.

        Raises:
            ConfigError: an unknown task, or a batch size below 1.
            TypeError: `examples` is no collection of examples of the task.

        Several threads may call it at once; they take turns.

        Example:
            ```python
            label = run.predict("books", ["a dull one"])[0]["label"]
            run.predict("pairs", [{"text": "a cat", "text_pair": "a pet"}])
            ```
        """
        described = self.tasks[self.task_index(task)]
        batch_size = checks.positive_integer("batch_size", batch_size)
        predictions = task_types.of(described["type"])
        columns = labelled_data.trained_columns(self.config, described)
        names = [
            [field, columns.get(field, field)]
            for field in predictions.input_fields(described)
        ]

        def parse(example: Any) -> dict[str, Any]:
            named = predictions.named(described, example, columns)
            return predictions.fields_of(described, named)

        ranks = predictions.input_ranks(described)
        single = given_examples.single_inputs(examples, ranks, names)
        with given_examples.index_told(examples, names):
            fields = given_examples.parsed(single, parse)
        if not fields:
            return []
        return self._predicted(described, fields, batch_size)

    @abc.abstractmethod
    def _predicted(
        self, task: TaskDict, fields: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        """Predicts examples, each a mapping of the task's input features."""
