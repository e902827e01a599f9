"""The form of log lines: plain by default, absl's form on request."""

import contextlib
import logging as python_logging
import os
import sys
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import terminal


class PlainFormatter(python_logging.Formatter):
    """Formats a message, with its level if it is above information.

    At a terminal a line has nothing else. In files and pipes, which are read
    later, it begins with the time of day.
    """

    def format(self, record: python_logging.LogRecord) -> str:
        """The line or lines of a record."""
        text = record.getMessage()
        if record.exc_info:
            text += "\n" + self.formatException(record.exc_info)
        if record.levelno >= python_logging.ERROR:
            text = f"{terminal.coloured('error:', 'red', sys.stderr)} {text}"
        elif record.levelno >= python_logging.WARNING:
            text = (
                f"{terminal.coloured('warning:', 'yellow', sys.stderr)} {text}"
            )
        if terminal.is_terminal(sys.stderr):
            return text
        return f"{self.formatTime(record, '%H:%M:%S')} {text}"


def _is_ours(record: python_logging.LogRecord) -> bool:
    """Whether a record concerns users, unlike libraries' internal ones."""
    libraries = ("tensorflow", "keras")
    inside = set(record.pathname.split(os.sep)) & set(libraries)
    return not inside or record.levelno >= python_logging.WARNING


def set_up(verbose: bool) -> None:
    """Chooses the form of this process's log.

    Args:
        verbose: use absl's prefixes (level, date, thread, file and line) and
            show the logs of TensorFlow and Keras.
    """
    form = logging.PythonFormatter() if verbose else PlainFormatter()
    handler = logging.get_absl_handler()
    handler.setFormatter(form)
    handler.removeFilter(_is_ours)
    if not verbose:
        handler.addFilter(_is_ours)


@contextlib.contextmanager
def log_shown() -> Iterator[None]:
    """Shows the log within the block, if no program has set it up.

    In a script or a notebook, absl shows only warnings. If the root logger has
    handlers, only these get the log.
    """
    # The root logger's, as absl adds a handler if there is none.
    logger, before = python_logging.getLogger(), logging.get_verbosity()
    adds_handler = not logger.handlers
    handler = python_logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainFormatter())
    if adds_handler:
        logger.addHandler(handler)
    logging.set_verbosity(max(before, logging.INFO))
    try:
        yield
    finally:
        logging.set_verbosity(before)
        logger.removeHandler(handler)


def error_line(message: str) -> str:
    """The last line of a failing program."""
    return f"{terminal.coloured('error:', 'red', sys.stderr)} {message}"
