"""Finds the run directories of a path."""

import contextlib
import os
import re
import shutil
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import InUse, MtlError, RunError
from mtl_tf.runs.directory import kinds
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks.reading import given_rows

# The folder names of launch.reproduce and launch.sweep.
_SEED = re.compile(r"seed[_=](\d+)")
_FOLD = re.compile(r"seed=(\d+),fold=\d+of(\d+)")
_CELLS = "cells"


def runs_of(path: str) -> list[str]:
    """The run directory, or the directories of seeds in a folder.

    Raises:
        RunError: there is none.
    """
    systems = systems_of(path)
    if len(systems[0]) > 1:
        raise RunError(
            f"{path} holds the folds of a cross-validation, whose examples "
            f"differ: name one of them, such as {systems[0][0]}"
        )
    return [run for system in systems for run in system]


def systems_of(path: str) -> list[list[str]]:
    """The trained systems of a path, each as the runs that test it.

    A run directory is a system, and so is each seed in a folder, or in the
    folder of a sweep of one setting. The folds of a cross-validation with one
    seed are one system of several runs, in the order of the folds.

    Raises:
        RunError: there is none.
    """
    if not os.path.isdir(path):
        if os.path.exists(path):
            raise RunError(f"{path} is not a directory")
        raise RunError(f"{path} does not exist{kinds.near(path)}")
    path = _setting_of(path)
    names = os.listdir(path)
    # A fold is tested on examples of its own: seeds of whole runs go first.
    for systems in (_seeds(names), _folds(names)):
        runs = [[os.path.join(path, name) for name in s] for s in systems]
        missing = [[run for run in s if not _is_finished(run)] for s in runs]
        finished = [s for s, unfinished in zip(runs, missing) if not unfinished]
        if finished:
            for unfinished in filter(None, missing):
                logging.warning(
                    "%s is not finished: it is left out.",
                    ", ".join(unfinished),
                )
            return finished
    if _seeds(names) or _folds(names) or not _is_finished(path):
        raise RunError(
            f"{path} holds no finished run: name a --model_dir with "
            "results.json, or a folder of them called seed_1, seed_2, ... or "
            "seed=1, seed=2, ..., or of all folds of a cross-validation"
        )
    return [[path]]


def _setting_of(path: str) -> str:
    """The folder of a sweep's only setting; other paths as they are."""
    cells = os.path.join(path, _CELLS)
    if not os.path.isdir(cells) or _is_finished(path):
        return path
    settings = [os.path.join(cells, name) for name in sorted(os.listdir(cells))]
    settings = [setting for setting in settings if os.path.isdir(setting)]
    if len(settings) != 1:
        raise RunError(
            f"{path} is a sweep of {len(settings)} settings: name the folder "
            f"of one of them{': ' * bool(settings)}{', '.join(settings)}"
        )
    return settings[0]


def _seeds(names: list[str]) -> list[list[str]]:
    """Folders of one run each, by seed."""
    found = [match for match in map(_SEED.fullmatch, names) if match]
    return [[m[0]] for m in sorted(found, key=lambda m: int(m[1]))]


def _folds(names: list[str]) -> list[list[str]]:
    """The folders of all folds of each seed, whether or not they are there."""
    found = [match for match in map(_FOLD.fullmatch, names) if match]
    return [
        [f"seed={seed},fold={fold}of{folds}" for fold in range(folds)]
        for seed, folds in sorted({(int(m[1]), int(m[2])) for m in found})
    ]


def _is_finished(path: str) -> bool:
    return os.path.isfile(os.path.join(path, "results.json"))


def run_folders(path: str) -> list[RunDirectory]:
    """The directories of a run that hold evaluations.

    That is the run directory itself, or one for each model of a single task.

    Raises:
        RunError: it is no run directory.
    """
    directory = RunDirectory(path)
    kinds.check_is_run(path)
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
    with files.no_empty_directories(path):
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
            raise
