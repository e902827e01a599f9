"""What a folder holds: a run, or what a program makes of several runs."""

import difflib
import os

from mtl_tf.core.errors import RunError

RUN, SWEEP, TRANSFER, TABLE = (
    "config.json",
    "sweep_config.json",
    "transfer.json",
    "setting.json",
)
_KINDS = {
    RUN: "a run",
    SWEEP: "a sweep",
    TRANSFER: "a transfer",
    TABLE: "the table of a paper",
}


def check(folder: str, kind: str) -> None:
    """Refuses a folder of another kind, whose results would be overwritten.

    Args:
        folder: the folder that a program is to write to; it may be missing.
        kind: the file that marks what the program writes, such as `RUN`.

    Raises:
        RunError: the folder holds another kind.
    """
    for marker, held in _KINDS.items():
        if marker != kind and os.path.isfile(os.path.join(folder, marker)):
            raise RunError(
                f"{folder} holds {held}: name another --model_dir for "
                f"{_KINDS[kind]}"
            )


def check_is_run(folder: str, field: str = "") -> None:
    """Refuses what is no run directory.

    Args:
        folder: the path that a user gave.
        field: the config field that has it, if it is one.

    Raises:
        RunError: there is no run; names beside a missing folder are offered.
    """
    if os.path.isfile(os.path.join(folder, RUN)):
        return
    named = f"{field}: {folder}" if field else folder
    if os.path.exists(folder):
        raise RunError(f"{named} is not a run directory: it has no {RUN}")
    raise RunError(f"{named} does not exist{near(folder)}")


def near(path: str) -> str:
    """Offers the nearest name beside a path that does not exist; may be ""."""
    parent, name = os.path.split(path.rstrip(os.sep))
    beside = os.listdir(parent or ".") if os.path.isdir(parent or ".") else []
    found = difflib.get_close_matches(name, beside, n=1)
    return f"; did you mean {os.path.join(parent, found[0])}?" if found else ""
