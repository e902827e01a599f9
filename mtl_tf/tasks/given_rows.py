"""What messages call examples that were given in Python.

A run keeps them as files, which their giver knows nothing of.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator

from mtl_tf.core.errors import MtlError

#: The folder of such files in a run directory.
FOLDER = "given"
_FILE = re.compile(rf"/{FOLDER}/([^/]+)/([^/]*)-[0-9a-f]{{12}}\.jsonl$")


def file_of(folder: str, task: str, split: str, digest: str) -> str:
    """The file of a split's examples.

    Args:
        folder: whose last part is `FOLDER`, or any other one, whose files
            keep their names in messages.
        task: the task's name.
        split: of its `data`; "" for examples that are only scored.
        digest: of the examples, 12 hexadecimal digits.
    """
    path = os.path.join(folder, task, f"{split}-{digest}.jsonl")
    return os.path.abspath(path)


def data_of(task: str, split: str) -> str:
    """What messages call the examples of a split, or of none."""
    return f"task {task}: data[{split!r}]" if split else f"data[{task!r}]"


def named(message: str, paths: Iterable[str]) -> str:
    """A message that names what was given in place of the file it is kept in.

    Args:
        message: may name a file, and a line of it, counted from 1.
        paths: files; those that `file_of` has not named stay.

    Returns:
        The message, with rows, counted from 0 as in Python, for lines.
    """
    for path in dict.fromkeys(paths):
        match = _FILE.search(path)
        if not match or path not in message:
            continue
        message = re.sub(r"\bline (\d+)", _row, message)
        message = re.sub(rf"({re.escape(path)}):(\d+)", _place, message)
        message = message.replace(path, data_of(*match.groups()))
    return message


@contextlib.contextmanager
def errors_named(paths: Iterable[str]) -> Iterator[None]:
    """Errors that are raised inside it are told as `named` tells them."""
    try:
        yield
    except MtlError as error:
        error.args = (named(str(error), paths), *error.args[1:])
        raise


def _row(line: re.Match[str]) -> str:
    return f"row {int(line[1]) - 1}"


def _place(line: re.Match[str]) -> str:
    return f"{line[1]} row {int(line[2]) - 1}"
