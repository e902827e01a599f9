"""Tasks and task groups by name, and from config entries."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from mtl_tf.core.errors import ConfigError, DataError, MissingData
from mtl_tf.core.task_types import DEFAULT
from mtl_tf.tasks.checking import check_scored
from mtl_tf.tasks.entries import task_of_entry, task_of_member
from mtl_tf.tasks.splits.folds import in_fold
from mtl_tf.tasks.splits.groups import GROUPS, Group
from mtl_tf.tasks.task import Task, TaskGroup

Entry = str | Mapping[str, Any]


def resolve(
    entries: Iterable[Entry],
    data_dir: str = "",
    manual_dir: str = "",
    cross_validation: Mapping[str, int] | None = None,
) -> list[Task]:
    """Returns the tasks that a config's entries name.

    This project's corpora are prepared when a split is first used, unless they
    are tagged and only the data tell their labels. For a user's own task
    without given labels, the training split is read here.

    Args:
        entries: each is a group ("fdu_mtl": its sixteen tasks; "conll2003": its
            best-known task, ner), a task of a group ("fdu_mtl/books", in any
            case), or a mapping; see `mtl_tf.tasks.entries.task_of_entry`.
        data_dir: the directory of prepared datasets.
        manual_dir: the directory of the corpora's official files.
        cross_validation: the config's field: "folds" and "fold". With folds,
            every task is trained on its other folds and tested on that one;
            see `mtl_tf.tasks.splits.folds`.

    Raises:
        ConfigError: an unknown name (the nearest are offered), a wrong field,
            no task at all, two tasks of one name, or a task that cannot be
            cross-validated.
        DataError: data are missing or wrong; the message says where.
    """
    if isinstance(entries, (str, Mapping)):
        entries = [entries]
    tasks: dict[str, tuple[Task, str]] = {}
    for entry in entries:
        origin = entry if isinstance(entry, str) else "an entry of your own"
        for task in _tasks(entry, data_dir, manual_dir):
            # Names become folders, and some file systems ignore case.
            key = task.name.lower()
            if key in tasks:
                raise ConfigError(
                    f"two tasks are named {task.name!r}: in "
                    f"{tasks[key][1]} and in {origin}; a run needs "
                    "different names"
                )
            tasks[key] = task, origin
    if not tasks:
        raise ConfigError(f"no tasks are given; groups: {', '.join(GROUPS)}")
    return [in_fold(task, cross_validation) for task, _ in tasks.values()]


def types_of(entries: Iterable[Entry]) -> set[str]:
    """The task types that a config's entries name; it reads no data.

    Args:
        entries: as for `resolve`.

    Raises:
        ConfigError: an unknown name.
    """
    types = set()
    for entry in entries:
        if isinstance(entry, str):
            group, names = _find(entry)
            types |= {group.members[name].type for name in names}
        else:
            types.add(entry.get("type", DEFAULT))
    return types


def single_entries(entries: Iterable[Entry]) -> list[Entry]:
    """One entry for each task that `entries` name, in order.

    Args:
        entries: as for `resolve`.

    Raises:
        ConfigError: an unknown name.
    """
    if isinstance(entries, (str, Mapping)):
        entries = [entries]
    singles: list[Entry] = []
    for entry in entries:
        if isinstance(entry, str):
            group, names = _find(entry)
            singles += [f"{group.name}/{name}" for name in names]
        else:
            singles.append(entry)
    return singles


def name_of(entry: Entry) -> str:
    """The name of the task of an entry that stands for one task."""
    return entry.split("/")[-1] if isinstance(entry, str) else entry["name"]


def present(
    entries: Iterable[Entry],
    data_dir: str = "",
    manual_dir: str = "",
    scored: Iterable[str] = (),
) -> tuple[list[Entry], dict[str, str]]:
    """Separates tasks whose corpora are available from missing ones.

    Corpora that are available but not yet prepared are prepared.

    Args:
        entries, data_dir, manual_dir: as for `resolve`.
        scored: the splits that are scored in the end.

    Returns:
        The entries, one per task, that can be trained and scored; and for the
        other named tasks, whose corpora lack a split or have no file in the
        folders, the reason by name. An entry with files of your own never
        counts as missing.

    Raises:
        ConfigError: an unknown name, or an entry with files of your own is
            wrong or has none of the scored splits.
        DataError: a corpus is damaged or incomplete.
    """
    available: list[Entry] = []
    missing: dict[str, str] = {}
    for entry in single_entries(entries):
        try:
            for task in _tasks(entry, data_dir, manual_dir):
                for split in ("train", "validation"):
                    if split in task.splits:
                        task.size(split)
                check_scored([task], scored)
            available.append(entry)
        except MissingData as error:
            if not isinstance(entry, str):
                raise
            missing[entry] = str(error)
        except DataError as error:
            raise DataError(
                f"{error} (to leave this task out, name the others in tasks)"
            )
    return available, missing


def group_of(
    entry: Entry,
    data_dir: str = "",
    manual_dir: str = "",
    cross_validation: Mapping[str, int] | None = None,
) -> TaskGroup:
    """Returns the whole group of an entry.

    Args:
        entry: as for `resolve`. "fdu_mtl/books" gives all of fdu_mtl. A mapping
            is a group by itself, and so is a column of a tagging corpus.
        data_dir, manual_dir, cross_validation: as for `resolve`.
    """
    if isinstance(entry, str):
        group, names = _find(entry)
        # Columns of the same sentences have no further texts.
        names = names if group.usual else list(group.members)
        tasks = _group_tasks(group, names, data_dir, manual_dir)
        name = group.name
    else:
        tasks = _tasks(entry, data_dir, manual_dir)
        name = tasks[0].name
    return TaskGroup(name, tuple(in_fold(t, cross_validation) for t in tasks))


def _tasks(entry: Entry, data_dir: str, manual_dir: str) -> list[Task]:
    if isinstance(entry, str):
        group, names = _find(entry)
        return _group_tasks(group, names, data_dir, manual_dir)
    if hasattr(entry, "to_dict"):  # a ConfigDict is not a Mapping
        entry = entry.to_dict()
    if not isinstance(entry, Mapping):
        raise ConfigError(
            f"a task is a name or a mapping of fields, got {entry!r}"
        )
    return [task_of_entry(entry, data_dir, manual_dir)]


def _find(entry: str) -> tuple[Group, list[str]]:
    """The group that a name stands for, and the tasks that it means."""
    group_name, slash, task = entry.strip().lower().partition("/")
    group = GROUPS.get(group_name)
    if group and not slash:
        return group, list(group.usual or group.members)
    if group and task in group.members:
        return group, [task]
    raise ConfigError(f"unknown task {entry!r}; {_nearest(entry)}")


def _nearest(entry: str) -> str:
    full = {}
    for group in GROUPS.values():
        full[group.name] = [group.name]
        for task in group.members:
            full[f"{group.name}/{task}"] = [f"{group.name}/{task}"]
            full.setdefault(task, []).append(f"{group.name}/{task}")
    # The nearest name may match the whole, or only the part after the slash.
    spellings = dict.fromkeys([entry.lower(), entry.lower().rpartition("/")[2]])
    near = dict.fromkeys(
        name
        for spelling in spellings
        for match in difflib.get_close_matches(spelling, full, n=3, cutoff=0.6)
        for name in full[match]
    )
    if near:
        return f"did you mean {' or '.join(repr(n) for n in list(near)[:4])}?"
    return (
        f"groups: {', '.join(GROUPS)}. A TFDS dataset or files of your own "
        'take an entry {"name": ..., "dataset": ...} or '
        '{"name": ..., "files": ...}'
    )


def _group_tasks(
    group: Group, names: Iterable[str], data_dir: str, manual_dir: str
) -> list[Task]:
    return [
        task_of_member(name, group.members[name], data_dir, manual_dir)
        for name in names
    ]
