"""The base class of task types: what a type declares about its tasks."""

import abc
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mtl_tf.core import checks
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.source import Source

Entry = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Metric:
    """A declared metric; `mtl_tf.evaluation` computes it.

    Attributes:
        higher_is_better: whether a higher value is better.
    """

    higher_is_better: bool = True


class TaskType(abc.ABC):
    """A type of tasks: its config entries, examples, labels and metrics.

    The other parts of a type (predictions, scoring, export) are in modules of
    its name in the `task_types` packages of other rooms; see
    `mtl_tf.core.task_types`.

    Attributes:
        name: the type's name; a user's own type needs none.
        system: the kind of model that its tasks train. Tasks of different
            systems cannot be trained together. "sharing" is a sharing scheme
            with a head for each type.
        metrics: the metrics that its tasks may have, by name.
        file_fields: fields of entries with `files`, each with the file formats
            that it applies to; () means all.
        fields: fields that any entry may have.
        most_held_out: the largest number of examples held out for validation
            when no validation split is given; 0 for no limit.
        held_out_together: a text feature. Examples with equal values of it are
            held out together, and a bootstrap draws them together; "" if each
            example is by itself.
        may_have_several_columns: whether a target may be in several columns of
            a file.
    """

    name = ""
    system = "sharing"
    metrics: Mapping[str, Metric]
    file_fields: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    fields: tuple[str, ...] = ()
    most_held_out = 0
    held_out_together = ""
    may_have_several_columns = False

    def held_out_by(self, name: str) -> str:
        """The key that decides which examples of a task are held out.

        Tasks with equal keys and equal sizes hold out the same rows of their
        files.

        Args:
            name: the task's name.
        """
        return name

    @abc.abstractmethod
    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """The features of a task's examples.

        Args:
            labels: the task's labels.
            settings: the return value of `settings`.
        """

    @abc.abstractmethod
    def file_source(self, entry: Entry) -> Source:
        """The source of an entry with `files`.

        Raises:
            ConfigError: a field is missing or wrong.
            DataError: the data are missing or wrong.
        """

    @abc.abstractmethod
    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> Source:
        """The source of an entry with a TFDS `dataset`; raises as above."""

    @abc.abstractmethod
    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the default metrics, the primary one first."""

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """What a trained run must know about a task besides its labels.

        Returns:
            JSON values by name; none by default.
        """
        del entry, source
        return {}

    def balanced(self, settings: Mapping[str, Any]) -> str:
        """The feature whose values training draws equally often; "" if none.

        Args:
            settings: the task's settings.
        """
        del settings
        return ""

    def check(self, name: str, settings: Mapping[str, Any]) -> None:
        """Raises `ConfigError` if a task cannot be of this type."""
        del name, settings

    def check_metrics(
        self, names: Iterable[str], settings: Mapping[str, Any]
    ) -> None:
        """Refuses metrics that a task cannot have.

        Raises:
            ConfigError: an unknown name, or a metric of another task type; the
                message offers the nearest names.
        """
        del settings
        for name in names:
            checks.one_of(
                f"metric of {self.name or type(self).__name__}",
                name,
                self.metrics,
            )

    def source_of(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> tuple[Source, dict[str, str]]:
        """The source of an entry, and its own split names by our split names.

        Raises:
            ConfigError: a field is missing or wrong.
            DataError: the data are missing or wrong.
        """
        if "files" in entry:
            source = self.file_source(entry)
            return source, {split: split for split in source.split_names}
        source = self.dataset_source(entry, data_dir, manual_dir)
        return source, fields.known_splits(fields.given_splits(entry), source)

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Entry fields that give the labels the same ids as in a run."""
        del settings
        return {"labels": list(labels)} if "labels" in self.fields else {}
