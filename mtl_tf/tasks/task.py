"""What a task is: a name, a type, labels, metrics, and examples."""

import dataclasses
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.tasks import task_types
from mtl_tf.tasks.features import Feature, text_of
from mtl_tf.tasks.source import SPLITS, Source
from mtl_tf.tasks.task_type import TaskType

# What cross-validation divides in folds: all but the official test split; all,
# where no split is official; or nothing, where examples hang together.
WITHOUT_TEST = ("train", "validation")
WHOLE_CORPUS = SPLITS
NO_FOLDS = ()


@dataclasses.dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: unique in a run; also the name of its served signature.
        type: name of its task type.
        source: where its examples come from.
        labels: names of the labels; a label id is a place in them.
        metrics: names of metrics, the primary one first; None for the type's
            usual ones.
        loss_weight: factor of its loss.
        splits: the source's split for "train", "validation", "test" and
            further names.
        pool: splits that cross-validation divides in folds; see
            `mtl_tf.tasks.folds`.
        settings: what its type knows beside; see `TaskType.settings`.
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
            object.__setattr__(self, "metrics", metrics)
        checks.positive(f"task {self.name}: loss_weight", self.loss_weight)

    @property
    def task_type(self) -> TaskType:
        """Its type."""
        return task_types.of(self.type)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of its examples."""
        return self.task_type.features(self.labels, self.settings)

    @tf.autograph.experimental.do_not_convert
    def text_of(self, examples: Mapping[str, Any]) -> tf.Tensor:
        """The texts of examples of this task; see `features.text_of`."""
        return text_of(self.features, examples)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split, in source order.

        Args:
            split: "train", "validation", "test", or any other split of the
                source, such as a slice "test[:10%]" of a TFDS dataset.

        Returns:
            As `Source.dataset` does.

        Raises:
            ConfigError: the task has no such split.
            DataError: the data are wrong; the message names the place.
        """
        source, split = self._locate(split)
        return source.dataset(split)

    def has_split(self, split: str) -> bool:
        """Whether there is a split of that name, also beside its own."""
        return split in self.splits or split in self.source.split_names

    def size(self, split: str) -> int:
        """Returns how many examples a split has; raises as `dataset` does."""
        source, split = self._locate(split)
        return source.size(split)

    def place(self, split: str, number: int) -> str:
        """Says where an example stands; see `Source.place`."""
        source, split = self._locate(split)
        return source.place(split, number)

    def to_json(self) -> dict[str, Any]:
        """Returns what a trained run has to know of the task."""
        return {
            "name": self.name,
            "type": self.type,
            "labels": list(self.labels),
            "metrics": list(self.metrics),
            "loss_weight": self.loss_weight,
            **self.settings,
        }

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
    """The tasks of one corpus or paper, which share texts.

    Attributes:
        name: of the group.
        tasks: all of its tasks, in the paper's order.
    """

    name: str
    tasks: tuple[Task, ...]
