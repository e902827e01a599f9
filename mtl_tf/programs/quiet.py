"""TensorFlow's import, without what it writes of itself."""

import contextlib
import glob
import importlib
import logging
import os
import re
import sys

from mtl_tf.core import standard_error

_PACKAGE = "mtl_tf"
_PLAIN = re.compile(r"calls to <function ([\w.]+) at 0x")


def lower_log_level() -> None:
    """Lets TensorFlow log errors alone, unless its own variable says more.

    It has to come before the import.
    """
    # Without a GPU even an error is logged: that CUDA finds none.
    gpu = glob.glob("/dev/nvidia*") + glob.glob("/dev/dxg")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2" if gpu else "3")


def expect_traces() -> None:
    """Keeps TensorFlow from warning of traces that this package means to make.

    Batches have one for each of their few shapes. Warnings of functions of
    others stay.
    """
    logging.getLogger("tensorflow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    text = record.getMessage()
    if "triggered tf.function retracing" not in text:
        return True
    # Of a method, TensorFlow tells the class but not the module.
    plain = _PLAIN.search(text)
    return not (_PACKAGE in text or plain and _is_of_package(plain[1]))


def _is_of_package(name: str) -> bool:
    """Whether a module of this package has a method or a function so called."""
    for module_name, module in list(sys.modules.items()):
        value = module if module_name.split(".")[0] == _PACKAGE else None
        for part in name.split("."):
            value = (
                vars(value).get(part) if hasattr(value, "__dict__") else None
            )
        if value is not None:
            return True
    return False


def import_tensorflow(quiet: bool) -> None:
    """Imports TensorFlow, without what it writes while it is imported."""
    if quiet:
        expect_traces()
    # Some of its messages come before its own log level is in force, so they
    # are caught at the file descriptor and shown only if the import fails.
    hold = quiet and "tensorflow" not in sys.modules
    with standard_error.captured() if hold else contextlib.nullcontext():
        importlib.import_module("tensorflow")
