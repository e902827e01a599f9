"""Finds the run directories of a path."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import InUse, MtlError, RunError
from mtl_tf.runs.run_directory import RunDirectory
from mtl_tf.tasks import given_rows

# The folder names of launch.reproduce and launch.sweep.
_SEED = re.compile(r"seed[_=](\d+)")


def runs_of(path: str) -> list[str]:
    """The run directory, or the directories of seeds in a folder.

    Raises:
        RunError: there is none.
    """
    if not os.path.isdir(path):
        raise RunError(f"{path} is not a directory")
    names = sorted(filter(_SEED.fullmatch, os.listdir(path)), key=_number)
    seeds = [os.path.join(path, name) for name in names]
    finished = [p for p in seeds if _is_finished(p)]
    if finished:
        for other in set(seeds) - set(finished):
            logging.warning("%s is not finished: it is left out.", other)
        return finished
    if seeds or not _is_finished(path):
        raise RunError(
            f"{path} holds no finished run: name a --model_dir with "
            "results.json, or a folder of them called seed_1, seed_2, ... or "
            "seed=1, seed=2, ..."
        )
    return [path]


def _number(name: str) -> int:
    return int(_SEED.fullmatch(name)[1])


def _is_finished(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "results.json"))


def run_folders(path: str) -> list[RunDirectory]:
    """The directories of a run that hold evaluations.

    That is the run directory itself, or one for each model of a single task.

    Raises:
        RunError: it is no run directory.
    """
    directory = RunDirectory(path)
    if not directory.has("config.json"):
        raise RunError(f"{path} is not a run directory: it has no config.json")
    if not directory.has("tasks"):
        return [directory]
    return [
        RunDirectory(root)
        for root, _, names in sorted(os.walk(directory.file("tasks")))
        if "metrics.jsonl" in names
    ]


@contextlib.contextmanager
def emptied_if_refused(path: str) -> Iterator[None]:
    """Removes the given examples of a run again if it does not begin.

    Args:
        path: the run directory. It is removed too if it is new and has nothing
            else in it.
    """
    absent = files.absent(path)
    try:
        yield
    except InUse:  # They may belong to another process.
        raise
    except MtlError:
        if not RunDirectory(path).has("config.json"):
            folder = os.path.join(path, given_rows.FOLDER)
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(path, files.LOCK))
            with contextlib.suppress(OSError):
                for directory in absent:
                    os.rmdir(directory)
        raise
