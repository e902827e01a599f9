"""A task: its name, type, labels, metrics and examples."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.tasks import task_types
from mtl_tf.tasks.features import Feature, targets, text_of
from mtl_tf.tasks.source import SPLITS, Source
from mtl_tf.tasks.task_type import TaskType

# The splits that cross-validation divides into folds: all but an official test
# split; all, if no split is official; or none, if examples belong together.
WITHOUT_TEST = ("train", "validation")
WHOLE_CORPUS = SPLITS
NO_FOLDS = ()


@dataclasses.dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: unique in a run; also the name of its served signature.
        type: the name of its task type.
        source: where its examples come from.
        labels: the label names; a label's id is its index here.
        metrics: the metric names, the primary one first; None for the type's
            defaults.
        loss_weight: a factor of its loss.
        splits: "train", "validation", "test" and further names, each with the
            source's name of that split.
        pool: the splits that cross-validation divides into folds; see
            `mtl_tf.tasks.splits.folds`.
        settings: what its type must know besides; see `TaskType.settings`.
    """

    name: str
    type: str
    source: Source = dataclasses.field(repr=False, compare=False)
    labels: tuple[str, ...] = ()
    metrics: tuple[str, ...] | None = None
    loss_weight: float = 1.0
    splits: Mapping[str, str] = dataclasses.field(
        default_factory=lambda: {split: split for split in SPLITS}, hash=False
    )
    pool: tuple[str, ...] = WITHOUT_TEST
    settings: Mapping[str, Any] = dataclasses.field(
        default_factory=dict, hash=False
    )

    def __post_init__(self):
        self.task_type.check(self.name, self.settings)
        if self.metrics is None:
            metrics = self.task_type.default_metrics(self.settings)
            self.task_type.check_metrics(metrics, self.settings)
            object.__setattr__(self, "metrics", metrics)
        checks.positive(f"task {self.name}: loss_weight", self.loss_weight)

    @property
    def task_type(self) -> TaskType:
        """The object of its task type."""
        return task_types.of(self.type)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of its examples."""
        return self.task_type.features(self.labels, self.settings)

    @tf.autograph.experimental.do_not_convert
    def text_of(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """The text of each of these examples; see `features.text_of`."""
        return text_of(self.features, examples)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split, in source order.

        Args:
            split: "train", "validation", "test", or any other split of the
                source, such as a slice "test[:10%]" of a TFDS dataset.

        Returns:
            As `Source.dataset` does.

        Raises:
            ConfigError: the task has no such split, or its type declares
                targets of another shape than it reads.
            DataError: the data are wrong; the message says where.
        """
        source, split = self._locate(split)
        dataset = source.dataset(split)
        for feature in targets(self.features):
            # Examples without labels have no target.
            if feature.name in dataset.element_spec:
                self._check_shape(feature, dataset.element_spec[feature.name])
        return dataset

    def has_split(self, split: str) -> bool:
        """Whether there is a split of that name, in the task or its source."""
        return split in self.splits or split in self.source.split_names

    def size(self, split: str) -> int:
        """Returns how many examples a split has; raises as `dataset` does."""
        source, split = self._locate(split)
        return source.size(split)

    def place(self, split: str, number: int) -> str:
        """Says where an example is in its file; see `Source.place`."""
        source, split = self._locate(split)
        return source.place(split, number)

    def to_json(self) -> dict[str, Any]:
        """Returns what a trained run must know about the task."""
        return {
            "name": self.name,
            "type": self.type,
            "labels": list(self.labels),
            "metrics": list(self.metrics),
            "loss_weight": self.loss_weight,
            **self.settings,
        }

    def _check_shape(self, feature: Feature, spec: tf.TypeSpec) -> None:
        """Refuses numbers of another shape than the type declares."""
        sizes = [None if isinstance(a, str) else a for a in feature.axes]
        if not feature.is_string and not spec.shape.is_compatible_with(sizes):
            raise ConfigError(
                f"task {self.name}: its type {self.type} declares the target "
                f"{feature.name} with the axes {feature.axes}, and reads "
                f"values of the shape {spec.shape} for it: an axis for each "
                "would be right (target_axes or features of the type)"
            )

    def _locate(self, split: str) -> tuple[Source, str]:
        if split in self.splits:
            return self.source, self.splits[split]
        if split in SPLITS:
            raise ConfigError(
                f"task {self.name} has no {split} split: name one in its "
                f"entry; {hint(split, self.splits)}"
            )
        return self.source, split


@dataclasses.dataclass(frozen=True)
class TaskGroup:
    """The tasks of one corpus or paper, which may share texts.

    Attributes:
        name: the group's name.
        tasks: all of its tasks, in the paper's order.
    """

    name: str
    tasks: tuple[Task, ...]
