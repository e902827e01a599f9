"""What a task type declares of its tasks."""

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
    """What is declared of a metric; `mtl_tf.evaluation` computes it.

    Attributes:
        higher_is_better: whether a higher value is better.
    """

    higher_is_better: bool = True


class TaskType(abc.ABC):
    """A kind of tasks: its entries, examples, labels and metrics.

    What else a type is stands in the modules of its name in the packages
    `task_types` of other rooms; see `mtl_tf.core.task_types`.

    Attributes:
        name: of the type; one of the user's own needs none.
        system: the kind of model that its tasks train; tasks of different
            systems cannot be trained together. "sharing" is a sharing scheme
            below a head for each type.
        metrics: the metrics that its tasks may have, by name.
        file_fields: fields of an entry on one's own files, each with the
            formats of files that it is for; () for all.
        fields: fields of any entry.
        most_held_out: examples that are held out for validation at most,
            where no split is given for it; 0 for a tenth of any number.
        held_together: the input of which examples with the same one are held
            out together, "" for none.
    """

    name = ""
    system = "sharing"
    metrics: Mapping[str, Metric]
    file_fields: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    fields: tuple[str, ...] = ()
    most_held_out = 0
    held_together = ""

    def held_out_by(self, name: str) -> str:
        """What decides which examples of a task are held out.

        Beside how many it has. Tasks of equal size for which it is the same
        hold out the same places of their files.

        Args:
            name: of the task.
        """
        return name

    @abc.abstractmethod
    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """The features of a task's examples.

        Args:
            labels: the task's.
            settings: what `settings` returned.
        """

    @abc.abstractmethod
    def file_source(self, entry: Entry) -> Source:
        """The examples of an entry's `files`.

        Raises:
            ConfigError: a field is missing or wrong.
            DataError: the data are missing or wrong.
        """

    @abc.abstractmethod
    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> Source:
        """The examples of an entry's TFDS `dataset`; raises as above."""

    @abc.abstractmethod
    def default_metrics(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the usual metrics, the primary one first."""

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """What a trained run has to know of a task beside its labels.

        Returns:
            Values for JSON by name; none by default.
        """
        del entry, source
        return {}

    def balanced(self, settings: Mapping[str, Any]) -> str:
        """The feature whose values training draws equally often; "" if none.

        Args:
            settings: of a task.
        """
        del settings
        return ""

    def check(self, name: str, settings: Mapping[str, Any]) -> None:
        """Raises `ConfigError` for a task that cannot be of this type."""
        del name, settings

    def check_metrics(
        self, names: Iterable[str], settings: Mapping[str, Any]
    ) -> None:
        """Complains of metrics that a task cannot have.

        Raises:
            ConfigError: an unknown name, or one of another type of tasks;
                the nearest are offered.
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
        """The examples of an entry, and the source's split for each split.

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
        """Fields of an entry that number its labels as they are in a run."""
        del settings
        return {"labels": list(labels)} if "labels" in self.fields else {}
