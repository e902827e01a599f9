"""The one exception family for mistakes a user can repair.

Launchers catch `MtlError` once, print its message and exit with status 1.
Everything else that is raised is a defect of ours and keeps its traceback.
"""


class MtlError(Exception):
    """A mistake of the user's: the message says what would be right."""


class ConfigError(MtlError, ValueError):
    """A wrong configuration field, flag or hyperparameter."""


class DataError(MtlError, ValueError):
    """A wrong data file or folder; the message names `file:line`."""


class MissingData(DataError):
    """A corpus whose files are not in the folders that were named."""


class RunError(MtlError, RuntimeError):
    """A run directory or an export that cannot be used as asked."""


class InUse(RunError):
    """A directory that another process holds."""


class Diverged(RunError):
    """A training whose loss or weights are no longer finite."""


class LostWorker(RunError):
    """A training on several hosts of which another process has ended.

    It is no mistake of the user's: launchers exit with `LOST_WORKER`, so that
    whoever started them can tell it from one and start all of them again.
    """


#: What sysexits.h calls EX_TEMPFAIL: trying again may help.
LOST_WORKER = 75


class Interrupted(Exception):
    """A run that a signal stopped after it had saved its state.

    Args:
        message: what was saved and how to continue.
        signal_number: the signal; launchers exit with 128 + this number.
    """

    def __init__(self, message: str, signal_number: int):
        super().__init__(message)
        self.signal_number = signal_number
