"""Imports TensorFlow without its own output."""

import contextlib
import glob
import importlib
import logging
import os
import re
import sys

from mtl_tf.core import standard_error

_PACKAGE = "mtl_tf"
_PLAIN = re.compile(
    r"calls to <(?:function|bound method) "
    r"([\w.]+?)(?:\.<locals>\S*)? (?:at 0x|of )"
)


def lower_log_level() -> None:
    """Makes TensorFlow log only errors, unless its variable says otherwise.

    Call it before the import.
    """
    # Without a GPU, even an error is logged: that CUDA finds none.
    gpu = glob.glob("/dev/nvidia*") + glob.glob("/dev/dxg")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2" if gpu else "3")


def expect_traces() -> None:
    """Suppresses TensorFlow's warnings about intended retracing.

    Batches have one trace for each of their few shapes. Warnings about other
    packages' functions remain.
    """
    logging.getLogger("tensorflow").addFilter(_is_news)


def _is_news(record: logging.LogRecord) -> bool:
    text = record.getMessage()
    if "triggered tf.function retracing" not in text:
        return True
    # For a method, TensorFlow names the class but not the module.
    plain = _PLAIN.search(text)
    return not (_PACKAGE in text or plain and _is_of_package(plain[1]))


def _is_of_package(name: str) -> bool:
    """Whether this package has a function or method of that name."""
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
    """Imports TensorFlow, without its output during the import."""
    if quiet:
        expect_traces()
    # Some messages precede its log level. So they are captured at the file
    # descriptor, and shown only if the import fails.
    hold = quiet and "tensorflow" not in sys.modules
    with standard_error.captured() if hold else contextlib.nullcontext():
        importlib.import_module("tensorflow")


def import_silently() -> None:
    """Imports TensorFlow for a function of the package, once."""
    expect_traces()
    if "tensorflow" not in sys.modules:
        lower_log_level()
        import_tensorflow(quiet=True)
