"""Freed memory that a program keeps."""

import os
import platform
import subprocess
import sys

import pytest

_PROGRAM = """
import numpy as np
from mtl_tf.programs import runner

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def main(values):
    before = resident()
    freed = np.ones(1 << 24)
    del freed
    print(resident() - before)

runner.run(
    runner.Program(
        name="x",
        summary="",
        main=main,
        define_flags=lambda values: None,
        tensorflow=False,
    )
)
"""


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc" or not os.path.exists("/proc/self/statm"),
    reason="the settings are of glibc, and memory is counted by Linux",
)
@pytest.mark.parametrize(
    ("variables", "is_kept"),
    [
        ({}, True),
        ({"MALLOC_ARENA_MAX": "8"}, False),
        ({"GLIBC_TUNABLES": "glibc.malloc.arena_max=8"}, False),
    ],
)
def test_a_program_keeps_what_it_frees_unless_the_user_has_settings(
    variables, is_kept
):
    """128 MB, with which the next array of that size starts."""
    own = [n for n in os.environ if n.startswith(("MALLOC_", "GLIBC_TUN"))]
    inherited = {n: v for n, v in os.environ.items() if n not in own}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={**inherited, **variables},
    )
    assert (int(done.stdout) > 100 << 20) == is_kept
