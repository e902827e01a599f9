"""Runs programs, here or in processes of their own."""

import os
import pathlib
import subprocess
import sys
import threading

import pytest

from mtl_tf.programs import runner

ROOT = pathlib.Path(__file__).parents[2]


def environment(**extra):
    """This process's environment without what the runner itself sets."""
    ours = ("TF_CPP_MIN_LOG_LEVEL", "PYTHONUNBUFFERED")
    data = ("MTL_TF_DATA_DIR", "MTL_TF_MANUAL_DIR")
    kept = {k: v for k, v in os.environ.items() if k not in ours + data}
    return {**kept, "PYTHONPATH": str(ROOT), **extra}


def start(*command, cwd=ROOT, **options):
    """Starts Python with `command`; standard streams are binary pipes.

    A process that does not answer is killed, so that a test fails and does
    not hang.
    """
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=environment(),
        **{**pipes, **options},
    )
    watchdog = threading.Timer(120, process.kill)
    watchdog.daemon = True
    watchdog.start()
    return process


def execute(*command, cwd=ROOT, stdin=b"", env=None):
    """Runs Python with `command`; returns status, stdout and stderr."""
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        cwd=cwd,
        env=env or environment(),
        input=stdin,
        capture_output=True,
        timeout=120,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def run(capsys, program, *arguments):
    """Runs a program here.

    Returns:
        Exit status, standard output and standard error.
    """
    with pytest.raises(SystemExit) as caught:
        runner.run(program, [program.name, *arguments])
    captured = capsys.readouterr()
    return caught.value.code, captured.out, captured.err
