"""Restricts tables to the corpora that the user has."""

from collections.abc import Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.experiments.planned_runs import FINISHED, PlannedRun
from mtl_tf.experiments.published import PublishedTable
from mtl_tf.pipelines.mixing import without_tasks
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
        present = {_name(entry) for entry in self._known[key]}
        every = map(_name, registry.single_entries(config["tasks"]))
        absent = set(every) - present
        pipeline, training = config["pipeline"], config["training"]
        mixed = without_tasks(pipeline["mixing"], absent)
        return {
            **config,
            "tasks": self._known[key],
            "pipeline": {
                **pipeline,
                "fractions": self._fractions(pipeline, present),
                "mixing": self._mixing(config["name"], mixed, present),
            },
            "training": {
                **training,
                "main_tasks": self._main(training["main_tasks"], absent),
                "loss_weights": {
                    name: weight
                    for name, weight in training["loss_weights"].items()
                    if name not in absent
                },
            },
        }

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

    def _fractions(
        self, pipeline: Mapping[str, Any], present: set[str]
    ) -> dict[str, float]:
        """The pipeline's fractions for the available tasks."""
        fractions = {
            name: part
            for name, part in pipeline["fractions"].items()
            if name in present
        }
        if pipeline["fractions"] and not fractions:
            raise DataError(
                f"table {self.table.name}: of the tasks with a part of their "
                f"data ({', '.join(pipeline['fractions'])}) none is there. "
                "Name others by --override=pipeline.fractions="
                "\"{'en-fr': 0.15}\". " + " ".join(self.absent.values())
            )
        return fractions

    def _main(self, main: Sequence[str], absent: set[str]) -> list[str]:
        """The main tasks that are available."""
        kept = [name for name in main if name not in absent]
        if main and not kept:
            raise MissingData(
                f"of training.main_tasks ({', '.join(main)}) none is there. "
                f"{self._reason(main)}"
            )
        return kept

    def _reason(self, names: Sequence[str]) -> str:
        """Why tasks are missing, or that they were not requested."""
        known = [
            reason for n, reason in self.absent.items() if _name(n) in names
        ]
        return " ".join(known) or "tasks names others"

    def _mixing(
        self, config: str, mixing: Mapping[str, Any], present: set[str]
    ) -> dict[str, Any]:
        """The pipeline's mixing, with phases of available tasks only."""
        if "phases" not in mixing:
            return dict(mixing)
        phases = []
        for phase in mixing["phases"]:
            tasks = [name for name in phase["tasks"] if name in present]
            lost = [name for name in phase["tasks"] if name not in present]
            if lost:
                known = self.thinned.setdefault(config, [])
                known += [name for name in lost if name not in known]
            if not tasks:
                raise MissingData(
                    f"of the tasks of a phase ({', '.join(phase['tasks'])}) "
                    f"none is there. {self._reason(phase['tasks'])}"
                )
            phases.append({**phase, "tasks": tasks})
        return {**mixing, "phases": phases}

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


def _name(entry: Any) -> str:
    """The task name of an entry for a single task."""
    return entry.split("/")[-1] if isinstance(entry, str) else entry["name"]
