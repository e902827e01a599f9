"""Writing of columns that was killed goes on, and ends with the same files."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mtl_tf.pipelines.examples import column_files, disk_split
from mtl_tf.pipelines.examples.column_files import ColumnFiles
from tests.pipelines.helpers import random_split

# Without TensorFlow, which takes longer to import than all else here.
_KILLED = """
import os, sys
import numpy as np
from mtl_tf.pipelines.examples import column_files, disk_split
from tests.pipelines.helpers import random_split
column_files._EXAMPLES_A_NOTE = 20
split, killed_at = random_split("a", 100, 9), int(sys.argv[2])
def parts(done):
    for first in range(done, 100, 10):
        if first == killed_at:
            os.kill(os.getpid(), 9)
        rows = np.arange(first, first + 10)
        yield {k: c.select(rows) for k, c in split.columns.items()}
axes = {"tokens": "text", "label": ""}
disk_split.cached(sys.argv[1], "a", axes, parts)
"""
AXES = {"tokens": "text", "label": ""}


def parts_of(split, done, size=10):
    for first in range(done, len(split), size):
        rows = np.arange(first, min(first + size, len(split)))
        yield {k: c.select(rows) for k, c in split.columns.items()}


def content(folder):
    return {
        name: (folder / name).read_bytes()
        for name in sorted(os.listdir(folder))
    }


def kill(directory, at):
    child = subprocess.run(
        [sys.executable, "-c", _KILLED, str(directory), str(at)],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr[-2000:]


def test_killed_and_continued_is_never_killed(tmp_path):
    split = random_split("a", 100, 9)
    disk_split.cached(
        str(tmp_path / "whole"), "a", AXES, lambda done: parts_of(split, done)
    )
    begun = []

    def rest(done):
        begun.append(done)
        return parts_of(split, done)

    kill(tmp_path / "killed", 30)
    kill(tmp_path / "killed", 70)
    disk_split.cached(str(tmp_path / "killed"), "a", AXES, rest)
    # Of 70 examples 60 had been noted as written.
    assert begun == [60]
    assert content(tmp_path / "whole") == content(tmp_path / "killed")
    assert sorted(os.listdir(tmp_path)) == ["killed", "whole"]


@pytest.mark.parametrize("name", ["tokens.values", "label.values"])
def test_a_file_that_is_shorter_than_noted_is_begun_anew(
    tmp_path, monkeypatch, name
):
    monkeypatch.setattr(column_files, "_EXAMPLES_A_NOTE", 20)
    split = random_split("a", 60, 9)
    with ColumnFiles(str(tmp_path), AXES) as writer:
        for part in parts_of(split, 0):
            writer.append(part)
    os.truncate(tmp_path / name, 8)
    with ColumnFiles(str(tmp_path), AXES) as writer:
        assert writer.examples == 0
        for part in parts_of(split, 0):
            writer.append(part)
    values = np.fromfile(tmp_path / "tokens.values", np.int32)
    np.testing.assert_array_equal(values, split.columns["tokens"].values)


@pytest.mark.parametrize("note", ["", "[1]", '{"tokens": {}}', '{"tokens": 1}'])
def test_a_damaged_note_counts_as_none(tmp_path, note):
    (tmp_path / "written.json").write_text(note)
    with ColumnFiles(str(tmp_path), AXES) as writer:
        assert writer.examples == 0
