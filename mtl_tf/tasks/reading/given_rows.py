"""Names, in messages, of examples that were given in Python.

A run keeps such examples in files that the user does not know.
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
    """The path of the file that keeps a split's examples.

    Args:
        folder: a path that ends in `FOLDER`. Files in other folders are not
            renamed in messages.
        task: the task's name.
        split: the split of its `data`; "" for examples that are only scored.
        digest: a digest of the examples, 12 hexadecimal digits.
    """
    path = os.path.join(folder, task, f"{split}-{digest}.jsonl")
    return os.path.abspath(path)


def data_of(task: str, split: str) -> str:
    """The name in messages of a split's examples; the split may be ""."""
    return f"task {task}: data[{split!r}]" if split else f"data[{task!r}]"


def named(message: str, paths: Iterable[str]) -> str:
    """Replaces the names of such files in a message by what the user gave.

    Args:
        message: may name a file and one of its lines, counted from 1.
        paths: the files to look for; only names of `file_of` are replaced.

    Returns:
        The message, with rows, counted from 0 as in Python, instead of lines.
    """
    for path in dict.fromkeys(paths):
        match = _FILE.search(path)
        if not match or path not in message:
            continue
        message = re.sub(r"\bline (\d+)", _row, message)
        message = re.sub(r"\b(\d+) line(s?)\b", r"\1 row\2", message)
        message = re.sub(rf"({re.escape(path)}):(\d+)", _place, message)
        place = data_of(*match.groups())
        message = message.replace(path, place)
        # The task's name may stand before the place, which also begins with it.
        message = message.replace(f"task {match[1]}: {place}", place)
    return message


@contextlib.contextmanager
def errors_named(paths: Iterable[str]) -> Iterator[None]:
    """Rewrites the messages of errors raised inside it by `named`."""
    try:
        yield
    except MtlError as error:
        error.args = (named(str(error), paths), *error.args[1:])
        raise


def _row(line: re.Match[str]) -> str:
    return f"row {int(line[1]) - 1}"


def _place(line: re.Match[str]) -> str:
    return f"{line[1]} row {int(line[2]) - 1}"
