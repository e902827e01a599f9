"""What a folder holds: a run, or what a program makes of several runs."""

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
