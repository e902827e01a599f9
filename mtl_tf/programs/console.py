"""How log lines look: plain for people, absl's own form on request."""

import contextlib
import logging as python_logging
import os
import sys
from collections.abc import Iterator

from absl import logging

from mtl_tf.core import terminal


class PlainFormatter(python_logging.Formatter):
    """A message and, where it is more than information, how bad it is.

    At a terminal a line has no more than that; in files and pipes, which are
    read later, it begins with the time of day.
    """

    def format(self, record: python_logging.LogRecord) -> str:
        """The line, or lines, of a record."""
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
    """Whether a user has use for it: not for what libraries do within."""
    libraries = ("tensorflow", "keras")
    inside = set(record.pathname.split(os.sep)) & set(libraries)
    return not inside or record.levelno >= python_logging.WARNING


def set_up(verbose: bool) -> None:
    """Chooses how this process writes its log.

    Args:
        verbose: with absl's prefixes (level, date, thread, file and line)
            and with what TensorFlow and Keras log of themselves.
    """
    form = logging.PythonFormatter() if verbose else PlainFormatter()
    handler = logging.get_absl_handler()
    handler.setFormatter(form)
    handler.removeFilter(_is_ours)
    if not verbose:
        handler.addFilter(_is_ours)


@contextlib.contextmanager
def log_shown() -> Iterator[None]:
    """Shows the log for a while, where no program has set it up.

    In a script or a notebook absl shows warnings alone. Where the root logger
    has handlers, these are told, too, and nothing else.
    """
    # Of the root: absl gives it a handler when it has none.
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
    """The last line of a program that fails."""
    return f"{terminal.coloured('error:', 'red', sys.stderr)} {message}"
