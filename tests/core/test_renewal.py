"""A program that starts itself anew between trainings."""

import os
import subprocess
import sys

import pytest

from mtl_tf.core import renewal

PROGRAM = """
import os, sys
from mtl_tf.core import renewal

taken = iter([0.1, 0.6, 0.7])
renewal._used = lambda: next(taken)
path = sys.argv[1]
print("begun")
with renewal.allowed():
    for number in range(3):
        if os.path.exists(f"{path}/{number}"):
            continue
        renewal.point()
        open(f"{path}/{number}", "w").write(str(os.getpid()))
        print(number)
"""


def test_a_program_goes_on_where_it_was(tmp_path):
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    (tmp_path / "done").mkdir()
    found = subprocess.run(
        [sys.executable, str(file), str(tmp_path / "done")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["begun", "0", "begun", "1", "begun", "2"]
    # exec keeps the process: whoever started the program waits for it still.
    processes = {(tmp_path / "done" / n).read_text() for n in "012"}
    assert len(processes) == 1


@pytest.fixture
def full(monkeypatch):
    calls = []
    monkeypatch.setattr(os, "execv", lambda *given: calls.append(given))
    monkeypatch.setattr(renewal, "_THIS", renewal._Renewal())
    shares = [0.05, 0.7, 0.7, 0.7, 0.7, 0.3]
    monkeypatch.setattr(renewal, "_used", lambda: shares.pop(0))
    monkeypatch.delenv("TF_CONFIG", raising=False)
    monkeypatch.delenv("SLURM_STEP_ID", raising=False)
    return calls


def test_only_programs_may(full, monkeypatch):
    renewal.point()
    renewal.point()
    assert not full
    with renewal.allowed():
        renewal.point()
    assert full == [(sys.executable, [sys.executable, *sys.orig_argv[1:]])]
    renewal.point()
    monkeypatch.setenv("TF_CONFIG", "{}")
    with renewal.allowed():
        renewal.point()
    assert len(full) == 1
    monkeypatch.delenv("TF_CONFIG")
    with renewal.allowed():
        renewal.point()
    assert len(full) == 1


def test_what_is_full_from_the_start_goes_on(full, monkeypatch):
    monkeypatch.setattr(renewal, "_used", lambda: 0.7)
    with renewal.allowed():
        renewal.point()
        renewal.point()
    assert not full


def test_mappings_are_counted(monkeypatch):
    assert 0 < renewal._mappings() < 1
    monkeypatch.setattr(renewal, "_MAPPINGS", "/nowhere")
    assert renewal._mappings() == 0
    assert renewal._used() > 0
