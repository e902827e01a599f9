"""Digests of what a run's weights depend on, in its directory.

A row of a weight belongs to a word, a slice to a task, an output to a label,
by their places in files that anyone can edit.
"""

from mtl_tf.core import digests
from mtl_tf.runs.run_directory import RunDirectory

FILE = digests.FILE


def check(run: RunDirectory) -> None:
    """Refuses a run whose vocabulary, labels or thresholds were changed.

    Runs of older versions have no digests.

    Raises:
        RunError: a file has changed; the message names it.
    """
    if run.has(FILE):
        known = digests.read(run.file(FILE))
        digests.check(run.path, known, "the run was trained with")


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
