"""A trained run: what `mtl_tf.load(run_directory)` returns."""

import dataclasses
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import evaluator, scored_examples
from mtl_tf.evaluation import task_types as scoring
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.pipelines.examples import encoding
from mtl_tf.prediction import given_examples, labelled_data, task_types
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.prediction.example_predictions import ExamplePredictions
from mtl_tf.prediction.example_units import units_of
from mtl_tf.prediction.inference import Predictor
from mtl_tf.prediction.predicting_run import TaskDict
from mtl_tf.prediction.scored_split import score
from mtl_tf.runs import systems
from mtl_tf.runs.data import probability_files, run_data, trained_tasks
from mtl_tf.runs.directory import run_weights
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import task_types as types_of_tasks
from mtl_tf.tasks.features import inputs
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoding.token_columns import TokenColumn


class Run(ExamplePredictions):
    """A trained model with the config, tasks and encoder that belong to it.

    Args:
        directory: the run directory.
        config: the resolved config.
        tasks: a dict for each task: its name, type, labels, metrics, and the
            fields that its config entry fixes for all examples.
        encoder: converts texts to ids.
        predictor: runs the model; `weights_for` loads its weights.
        weights: one of `run_weights.CHOICES`.
    """

    def __init__(
        self,
        directory: RunDirectory,
        config: Mapping[str, Any],
        tasks: Sequence[Mapping[str, Any]],
        encoder: Any,
        predictor: Predictor,
        weights: str = run_weights.BEST,
    ):
        self.directory = directory
        self.config = config
        self.tasks = [
            {**task, **labelled_data.fixed_fields(config, task)}
            for task in tasks
        ]
        self.encoder = encoder
        self.predictor = predictor
        self.model = predictor.model
        self.weights = weights
        self.loaded: str | None = None
        # Tasks may have weights of their own, of which the model has one set
        # at a time: another thread must not change them amid a prediction.
        self._in_use = threading.RLock()
        self._readers: dict[str, encoding.TensorEncoder] = {}

    def __repr__(self) -> str:
        return f"<run {self.directory.path}: {self._told_tasks()}>"

    @property
    def results(self) -> dict[str, Any]:
        """The contents of `results.json`; see `RunDirectory.results`."""
        return self.directory.results()

    @property
    def runs(self) -> "list[Run]":
        """The runs that predict: this one."""
        return [self]

    def check_best(self, noun: str) -> None:
        """Raises `ConfigError` unless the run has its best weights."""
        if self.weights != run_weights.BEST:
            raise ConfigError(
                f"{noun} is of a run's best weights, and {self.directory.path} "
                f"was loaded with weights={self.weights!r}"
            )

    def weights_for(self, task: str) -> str:
        """Loads the weights for a task, the fine-tuned ones if there are any.

        Returns:
            The directory of the loaded weights.

        Raises:
            ConfigError: the run has no such task.
        """
        self.task_index(task)
        folder = run_weights.folder_for(self.directory, self.weights, task)
        if folder != self.loaded:
            training = self.config["training"]
            is_averaged = bool(training["average"] or training["average_last"])
            run_weights.load(folder, self.weights, self.model, is_averaged)
            self.loaded = folder
        return folder

    def _predicted(
        self, task: TaskDict, fields: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        with self._in_use:
            self.weights_for(task["name"])
            return task_types.of(task["type"]).predict(
                self, task, fields, batch_size
            )

    def score(self, task: str, examples: Iterable[Any]) -> list[dict[str, Any]]:
        """Scores given texts by how likely the model is to write them.

        Args:
            task: the name of a translation or question answering task.
            examples: as for `predict`, plus the text to score. Mappings of
                `text` and `translation` (or `source` and `target`), or of
                `question`, `context` and `answer`; or lists of two or three
                strings in that order, without the question if the task has one.
                A `tf.data.Dataset` may have the text as the target of pairs.

        Returns:
            For each example a dict of `task`; `words`, the scored text as the
            model splits it, then its end "</s>"; `log_likelihoods`, one for
            each of these; `log_likelihood`, their sum; `perplexity`; and, as in
            `predict`, `score` for a translation or `confidence` for an answer.

        Raises:
            ConfigError: an unknown task, or one whose model writes no texts.
            TypeError: `examples` is no collection of examples of the task.

        Example:
            ```python
            pairs = [{"text": "Good day.", "translation": "Guten Tag."}]
            noise = run.score("en-de", pairs)[0]["perplexity"] > 50
            ```
        """
        described = self.tasks[self.task_index(task)]
        scorer = task_types.given_texts_of(described)
        columns = labelled_data.given_columns(self.config, described)

        def parse(example: Any) -> dict[str, str]:
            return scorer.fields_of(described, scorer.named(example, columns))

        names = [[f, columns.get(f, f)] for f in scorer.features]
        single = given_examples.single_texts(examples, names)
        with given_examples.index_told(examples, names):
            listed = given_examples.parsed(single, parse)
        if not listed:
            return []
        with self._in_use:
            self.weights_for(task)
            return scorer.predict(self, described, listed)

    def forward(
        self,
        task: Mapping[str, Any],
        examples: Mapping[str, tf.Tensor | tf.RaggedTensor],
        batch_size: int = 64,
    ) -> dict[str, Any]:
        """The model's outputs for examples without targets.

        Args:
            task: one of `tasks`, for which `weights_for` was called.
            examples: the input features, string [n], or ragged [n, None].
            batch_size: examples at a time.

        Returns:
            See `Predictor.predict`.
        """
        outputs = self.predictor.predict(
            self._reader(task)(examples, task["name"]),
            self.task_index(task["name"]),
            batch_size,
        )
        return task_types.of(task["type"]).decided(task, outputs)

    def outputs(
        self,
        task: str,
        examples: Mapping[str, tf.Tensor | tf.RaggedTensor],
        batch_size: int = 64,
    ) -> dict[str, Any]:
        """Like `forward`, with the weights of the named task."""
        with self._in_use:
            self.weights_for(task)
            described = self.tasks[self.task_index(task)]
            return self.forward(described, examples, batch_size)

    def token_columns(self, task: TaskDict) -> list[TokenColumn]:
        """What the ids of a task's texts stand for, and where they are cut."""
        return [*self._reader(task).encoder.token_columns().values()]

    def _reader(self, task: Mapping[str, Any]) -> encoding.TensorEncoder:
        """The encoder of a task's examples; traced once for all calls."""
        if task["name"] not in self._readers:
            task_type = types_of_tasks.of(task["type"])
            features = inputs(task_type.features(task["labels"], task))
            encoder = systems.of_type(task["type"]).example_encoder(
                self.encoder, task["name"], features
            )
            self._readers[task["name"]] = encoding.TensorEncoder(encoder)
        return self._readers[task["name"]]

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
        if keep:
            self.check_best("what launch.compare reads")
        names = [task["name"] for task in self.tasks]
        if isinstance(tasks, str):
            tasks = [tasks]
        chosen = [names[self.task_index(n)] for n in tasks or names]
        resolved = self._resolved(data_dir, manual_dir)
        if clean is None:
            clean = CleanParts.of_config(self.config, data_dir, manual_dir)
        scored = [self._score(resolved[n], split, clean) for n in chosen]
        if keep:
            scored = [
                probability_files.marked(p, resolved[p.name], split)
                for p in scored
            ]
            scored_examples.write(self.directory.path, split, scored)
        if predictions_dir:
            for name, predicted in zip(chosen, scored):
                task = resolved[name]
                read = task_types.of(task.type).inputs(task, split)
                scoring.of(task.type).write(predictions_dir, read, predicted)
        return evaluator.evaluate(scored, split)

    def inputs(
        self,
        task: str,
        split: str = "test",
        data_dir: str | None = None,
        manual_dir: str | None = None,
    ) -> list[Any]:
        """The inputs of a split's examples, as `predict` takes them.

        Args:
            task: the task's name.
            split, data_dir, manual_dir: as for `evaluate`.

        Returns:
            One entry for each example, in the order of the split.

        Raises:
            MtlError: as for `evaluate`.
        """
        self.task_index(task)
        resolved = self._resolved(data_dir, manual_dir)[task]
        return task_types.of(resolved.type).inputs(resolved, split)

    def _resolved(self, *folders: str | None) -> dict[str, Task]:
        return trained_tasks.resolve(
            self.directory.path, self.config, self.tasks, *folders
        )

    def _score(
        self, task: Task, split: str, clean: CleanParts
    ) -> TaskPredictions:
        predictions, index = (
            task_types.of(task.type),
            self.task_index(task.name),
        )
        with self._in_use:
            self.weights_for(task.name)
            scored = score(
                self.predictor,
                run_data.encode_split(task, split, self.encoder),
                self.tasks[index],
                index,
                self.config["evaluation"]["batch_size"],
                predictions.targets(task, split),
                predictions.inputs(task, split)
                if self.predictor.decoder
                else (),
                units=units_of(task, split),
                **clean.about(task, split),
            )
        variants = predictions.variants(
            self, task.name, scored.predictions, scored.labels
        )
        return dataclasses.replace(scored, variants=variants)
