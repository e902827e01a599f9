"""The one exception family for mistakes that a user can repair.

Launchers catch `MtlError` once, print its message and exit with status 1. Any
other exception is a defect of this project and keeps its traceback.
"""


class MtlError(Exception):
    """A mistake of the user's; the message says what would be right."""


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
