"""Predictions for examples in any form, of a run or of several."""

import abc
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.prediction import given_examples, labelled_data, task_types
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.prediction.predicting_run import PredictingRun, TaskDict


class ExamplePredictions(abc.ABC):
    """What predicts and scores examples of tasks.

    Attributes:
        config: the config, whose entries tell the columns of the tasks' files.
        tasks: the description of each task.
    """

    config: Mapping[str, Any]
    tasks: Sequence[TaskDict]

    def run_of(self, task: str) -> PredictingRun:
        """The run that predicts a task: this one, if it has no parts."""
        return self

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
                `mtl_tf.prediction.task_types`. Also a pandas DataFrame, one
                example a row, or a `tf.data.Dataset`, batched or not, also of
                pairs (inputs, target), whose targets are ignored. Bytes are
                read as UTF-8. Features may have the column names of the task's
                own files; other columns are ignored.
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

    def evaluate(
        self,
        split: str = "test",
        tasks: Sequence[str] | None = None,
        data_dir: str | None = None,
        manual_dir: str | None = None,
        clean: CleanParts | None = None,
        predictions_dir: str | None = None,
        keep: bool = False,
        data: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Scores a split of the tasks, or other labelled data.

        Args:
            split: train, validation, test or another split of the tasks'
                sources.
            tasks: names of tasks, all by default.
            data_dir: the directory of prepared datasets.
            manual_dir: the directory of the corpora.
            clean: the group's clean parts, if already computed.
            predictions_dir: where to write the prediction for each example; see
                `Scoring.write`.
            keep: also write what `evaluation.significance` compares into the
                run directory; see `evaluation.scored_examples`.
            data: in place of `split` and `tasks`: task name to a file's path, a
                pandas DataFrame or dicts; see `labelled_data.evaluate`.

        Returns:
            `split`; `tasks`, the scores of each task from 0 to 100; and `mean`,
            their mean. See `mtl_tf.evaluation.evaluator.evaluate`.

        Raises:
            ConfigError: an unknown task or split; `data` together with `split`,
                `tasks` or `keep`; `keep` for a run loaded with its last
                weights; or no `data` for an ensemble.
            MtlError: the data cannot be read, or have a label that the run was
                not trained on.

        Example:
            ```python
            scores = run.evaluate(data={"books": "new.train.csv"})
            accuracy = scores["tasks"]["books"]["accuracy"]
            ```
        """
        if data is not None:
            if tasks or keep or split != "test":
                raise ConfigError("data takes no split, tasks and keep")
            return labelled_data.evaluate(self, data, predictions_dir)
        return self._evaluated(
            split, tasks, data_dir, manual_dir, clean, predictions_dir, keep
        )

    def _told_tasks(self) -> str:
        return ", ".join(f"{t['name']} ({t['type']})" for t in self.tasks)

    @abc.abstractmethod
    def _predicted(
        self, task: TaskDict, fields: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        """Predicts examples, each a mapping of the task's input features."""

    @abc.abstractmethod
    def _evaluated(
        self,
        split: str,
        tasks: Sequence[str] | None,
        data_dir: str | None,
        manual_dir: str | None,
        clean: CleanParts | None,
        predictions_dir: str | None,
        keep: bool,
    ) -> dict[str, Any]:
        """Scores a split; the arguments are those of `evaluate`."""
