"""Holding back what is written on file descriptor 2."""

import os

import pytest

from mtl_tf.core import standard_error


def test_a_failure_shows_what_was_held_back(capfd):
    with pytest.raises(ImportError):
        with standard_error.captured(b"why"):
            os.write(2, b"why it fails\n")
            raise ImportError
    assert capfd.readouterr().err == "why it fails\n"


def test_messages_are_dropped_after_success(capfd):
    with standard_error.captured():
        os.write(2, b"noise\n")
    os.write(2, b"signal\n")
    assert capfd.readouterr().err == "signal\n"


def test_only_noise_is_dropped(capfd):
    with standard_error.captured(rb"LOG\(INFO\)"):
        os.write(2, b"a.cc(5) LOG(INFO) noise\na.cc(7) LOG(ERROR) signal\n")
    assert capfd.readouterr().err == "a.cc(7) LOG(ERROR) signal\n"
