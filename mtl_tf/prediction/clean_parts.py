"""Finds test texts that repeat no training or validation text."""

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from absl import logging

from mtl_tf.core.errors import DataError
from mtl_tf.evaluation.clean import SeenTexts
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks import registry
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.task import Task


class CleanParts:
    """Test texts that nothing was trained or selected on.

    Args:
        group: config entries of the tasks whose training and validation texts
            count as seen. A task of a known group stands for all tasks of the
            group whose corpora are available; nobody trains on the others.
        data_dir: see `mtl_tf.tasks.registry.resolve`.
        manual_dir: see `mtl_tf.tasks.registry.resolve`.
        cross_validation: see `mtl_tf.tasks.registry.resolve`.
    """

    def __init__(
        self,
        group: Sequence[Any],
        data_dir: str | None,
        manual_dir: str | None,
        cross_validation: Mapping[str, int] | None = None,
    ):
        self.group = list(group)
        self.data_options = (data_dir, manual_dir, cross_validation)

    @classmethod
    def of_config(
        cls,
        config: Mapping[str, Any],
        data_dir: str | None,
        manual_dir: str | None,
    ) -> "CleanParts":
        """The clean parts for a config's group of tasks, `evaluation.group`."""
        group = config["evaluation"]["group"] or config["tasks"]
        return cls(group, data_dir, manual_dir, config["cross_validation"])

    @functools.cached_property
    def seen(self) -> SeenTexts:
        """The training and validation texts of the whole group.

        Raises:
            MtlError: as for `Task.dataset`. A task that no entry names and that
                cannot be read is only named in a warning.
        """
        logging.info("Reading the texts that no clean test example repeats.")
        seen = SeenTexts()
        unread = []
        for name, (task, is_named) in self._members().items():
            try:
                parts = [texts(task, p) for p in ("train", "validation")]
                seen.merge(SeenTexts(*parts))
            except DataError:
                # Files that are incomplete or damaged do not matter to a run
                # that does not use them.
                if is_named:
                    raise
                unread.append(name)
        if unread:
            logging.warning(
                "clean test examples may repeat texts of tasks that are not "
                "trained here and cannot be read: %s",
                ", ".join(unread),
            )
        return seen

    def _members(self) -> dict[str, tuple[Task, bool]]:
        """The tasks of the groups, and whether an entry names each itself."""
        named = registry.single_entries(self.group)
        members = {}
        for entry in self.group:
            whole = registry.group_of(entry, *self.data_options)
            is_mapping = not isinstance(entry, str)
            for task in whole.tasks:
                # Two groups may have tasks of the same name, such as en-fr.
                key = f"{whole.name}/{task.name}"
                members[key] = task, is_mapping or key in named
        return members

    def about(self, task: Task, split: str) -> dict[str, Any]:
        """The facts about a split that `TaskPredictions` holds.

        Args:
            task: the task.
            split: the scored split.

        Returns:
            `clean` and `validation_in_training`; {} for a split that training
            or selection has seen.
        """
        if split in ("train", "validation"):
            return {}
        training = SeenTexts(texts(task, "train"))
        clean = self.seen.clean(texts(task, split))
        if len(clean) and not any(clean):
            logging.warning(
                "task %s: all %s texts of the split %s also occur in training "
                "or validation splits: its scores say nothing of new texts.",
                task.name,
                f"{len(clean):,}",
                split,
            )
        return {
            "clean": clean,
            "validation_in_training": training.count(texts(task, "validation")),
        }


def texts(task: Task, split: str) -> Iterator[bytes]:
    """Yields the texts of a split; an example's texts are joined."""
    for batch in fixed(batched(task.dataset(split))):
        yield from task.text_of(batch).numpy()
