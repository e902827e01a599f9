"""Restricts tables to the corpora that the user has."""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.experiments.planned_runs import FINISHED, PlannedRun
from mtl_tf.experiments.published import PublishedTable
from mtl_tf.runs.loaded import fewer_tasks
from mtl_tf.tasks import registry


class PresentTasks:
    """Removes tasks from configs if their corpora are not available.

    Args:
        table: the table; if it is not partial, all tasks must be available.
        data_dir, manual_dir: see `mtl_tf.tasks.registry.present`.

    Attributes:
        absent: the removed tasks, with the reasons, by name.
        thinned: the tasks removed from phases, by the config's name.
    """

    def __init__(
        self,
        table: PublishedTable,
        data_dir: str | None,
        manual_dir: str | None,
    ):
        self.table, self.directories = table, (data_dir or "", manual_dir or "")
        self.absent: dict[str, str] = {}
        self.thinned: dict[str, list[str]] = {}
        self._known: dict[str, list] = {}

    def __call__(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The config with the available tasks.

        Raises:
            DataError: none is available, or one is damaged.
            MissingData: of a phase of the config's mixing, or of its main
                tasks, none is available.
        """
        if not self.table.partial:
            return dict(config)
        scored = _scored(config)
        key = repr((config["tasks"], scored))
        if key not in self._known:
            self._known[key] = self._present(config["tasks"], scored)
        entries = self._known[key]
        present = set(map(registry.name_of, entries))
        every = registry.single_entries(config["tasks"])
        absent = set(map(registry.name_of, every)) - present
        self._check_fractions(config["pipeline"]["fractions"], present)
        self._check_phases(config, present)
        self._check_main(config["training"]["main_tasks"], absent)
        return fewer_tasks.config_for(config, entries)

    def check(self, planned: Sequence[PlannedRun]) -> None:
        """Refuses missing corpora before the first run, if all are needed.

        Args:
            planned: the planned runs; unfinished ones are checked if the table
                is not partial.

        Raises:
            DataError: a corpus of one of them is missing or damaged.
        """
        checked: list[Any] = []
        for run in planned:
            needed = run.config["tasks"], _scored(run.config)
            if run.state == FINISHED or self.table.partial or needed in checked:
                continue
            checked.append(needed)
            entries, scored = needed
            _, missing = registry.present(entries, *self.directories, scored)
            if missing:
                raise MissingData(next(iter(missing.values())))

    def _check_fractions(
        self, fractions: Mapping[str, float], present: set[str]
    ) -> None:
        """Refuses fractions of which none is of an available task."""
        if fractions and not present.intersection(fractions):
            raise DataError(
                f"table {self.table.name}: of the tasks with a part of their "
                f"data ({', '.join(fractions)}) none is there. "
                "Name others by --override=pipeline.fractions="
                "\"{'en-fr': 0.15}\". " + " ".join(self.absent.values())
            )

    def _check_main(self, main: Sequence[str], absent: set[str]) -> None:
        """Refuses main tasks of which none is available."""
        if main and absent.issuperset(main):
            raise MissingData(
                f"of training.main_tasks ({', '.join(main)}) none is there. "
                f"{self._reason(main)}"
            )

    def _reason(self, names: Sequence[str]) -> str:
        """Why tasks are missing, or that they were not requested."""
        known = [
            reason
            for entry, reason in self.absent.items()
            if registry.name_of(entry) in names
        ]
        return " ".join(known) or "tasks names others"

    def _check_phases(
        self, config: Mapping[str, Any], present: set[str]
    ) -> None:
        """Notes what phases lose; refuses one that loses all its tasks."""
        for phase in config["pipeline"]["mixing"].get("phases") or ():
            lost = [name for name in phase["tasks"] if name not in present]
            if lost:
                known = self.thinned.setdefault(config["name"], [])
                known += [name for name in lost if name not in known]
            if len(lost) == len(phase["tasks"]):
                raise MissingData(
                    f"of the tasks of a phase ({', '.join(phase['tasks'])}) "
                    f"none is there. {self._reason(phase['tasks'])}"
                )

    def _present(
        self, entries: Sequence[Any], scored: Sequence[str]
    ) -> list[Any]:
        available, missing = registry.present(
            entries, *self.directories, scored
        )
        if not available:
            raise DataError(
                f"table {self.table.name}: none of its corpora is there. "
                + " ".join(missing.values())
            )
        for name, reason in missing.items():
            logging.warning("%s is left out: %s", name, reason)
        self.absent |= missing
        return available


def _scored(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The splits that the corpora must have for scoring."""
    # Cross-validation makes its own test split.
    folds = config["cross_validation"]["folds"]
    return () if folds else tuple(config["evaluation"]["splits"])
