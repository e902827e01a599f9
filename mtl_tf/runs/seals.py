"""Digests of what a run's weights depend on, in its directory.

A row of a weight belongs to a word, a slice to a task, an output to a label,
by their places in files that anyone can edit.
"""

import os
from collections.abc import Mapping
from typing import Any

from absl import logging

from mtl_tf.core import digests
from mtl_tf.runs import own_files
from mtl_tf.runs.run_directory import RunDirectory

FILE = digests.FILE
#: Digests of the files of the user's own code, by their paths.
CODE = "own_code.json"


def check(run: RunDirectory) -> None:
    """Refuses a run whose vocabulary, labels or thresholds were changed.

    Of code of the user's own there is a warning: most changes of a file do not
    concern the weights. Runs of older versions have no digests.

    Raises:
        RunError: a file has changed; the message names it.
    """
    if run.has(FILE):
        known = digests.read(run.file(FILE))
        digests.check(run.path, known, "the run was trained with")
    known = digests.read(run.file(CODE)) if run.has(CODE) else {}
    for path, digest in known.items():
        if os.path.exists(path) and digests.of_file(path) != digest:
            logging.warning(
                "%s has changed since the run in %s began: what was trained "
                "with it may not fit any more.",
                *(path, run.path),
            )


def note_code(run: RunDirectory, config: Mapping[str, Any]) -> None:
    """Notes what the files of the user's own code are now, if there are any."""
    if paths := sorted(filter(os.path.isfile, own_files.code(config))):
        run.write(CODE, {path: digests.of_file(path) for path in paths})


def has(run: RunDirectory, name: str) -> bool:
    """Whether the digest of a file is noted."""
    return run.has(FILE) and name in digests.read(run.file(FILE))


def seal(run: RunDirectory, *names: str) -> None:
    """Notes what files are now, and all files of folders among them.

    Args:
        run: the run's directory.
        *names: of files or folders in it.
    """
    files = []
    for name in names:
        below = digests.files_below(run.file(name))
        files += [f"{name}/{one}" for one in below] or [name]
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    run.write(FILE, known | digests.of_files(run.path, files))
