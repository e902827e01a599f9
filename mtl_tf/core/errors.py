"""The one exception family for mistakes that a user can repair.

Launchers catch `MtlError` once, print its message and exit with status 1. Any
other exception is a defect of this project and keeps its traceback.
"""

import contextlib
from collections.abc import Iterator


class MtlError(Exception):
    """A mistake of the user's; the message says what would be right."""


@contextlib.contextmanager
def mistakes_as_raised() -> Iterator[None]:
    """Raises mistakes that AutoGraph turned into errors of its own.

    While it traces a function, it replaces exceptions that it does not know.
    """
    try:
        yield
    except Exception as error:
        behind: BaseException | None = error
        while behind is not None and not isinstance(behind, MtlError):
            behind = behind.__cause__ or behind.__context__
        if behind is None or type(error).__name__ != "StagingError":
            raise
        raise behind from None


class ConfigError(MtlError, ValueError):
    """A wrong configuration field, flag or hyperparameter."""


class DataError(MtlError, ValueError):
    """A wrong data file or folder; the message names `file:line`."""


class MissingData(DataError):
    """A corpus whose files are not in the given folders."""


class RunError(MtlError, RuntimeError):
    """A run directory or an export that cannot be used as asked."""


class InUse(RunError):
    """A directory that another process holds."""


class Diverged(RunError):
    """A training whose loss or weights are no longer finite."""


class LostWorker(RunError):
    """A training on several hosts in which another process has ended.

    It is no mistake of the user's. Launchers exit with `LOST_WORKER`, so that a
    supervisor can recognise it and restart all processes.
    """


#: EX_TEMPFAIL of sysexits.h: trying again may help.
LOST_WORKER = 75


class Interrupted(Exception):
    """A run that was stopped by a signal after saving its state.

    Args:
        message: what was saved and how to continue.
        signal_number: the signal; launchers exit with 128 + this number.
    """

    def __init__(self, message: str, signal_number: int):
        super().__init__(message)
        self.signal_number = signal_number
