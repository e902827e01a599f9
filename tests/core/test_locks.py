"""Tests of the locks of mtl_tf.core.files."""

import errno
import fcntl
import os

import pytest

from mtl_tf.core import files
from mtl_tf.core.errors import InUse, RunError
from tests.core.processes import start

HOLDER = """
import sys
from mtl_tf.core import files
with files.locked(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""


def start_holder(directory):
    holder = start(HOLDER, directory)
    assert holder.stdout.readline() == "held\n"
    return holder


def test_locked_refuses_a_second_process(tmp_path):
    holder = start_holder(tmp_path)
    with pytest.raises(InUse, match="in use by another process") as caught:
        with files.locked(str(tmp_path)):
            pytest.fail("two processes hold the lock")
    assert str(tmp_path) in str(caught.value)
    holder.communicate("")
    with files.locked(str(tmp_path)):
        pass


def test_locked_is_free_after_kill_9(tmp_path):
    holder = start_holder(tmp_path)
    holder.kill()
    holder.wait()
    with files.locked(str(tmp_path)):
        pass


def test_locked_is_free_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with files.locked(str(tmp_path)):
            raise ZeroDivisionError
    with files.locked(str(tmp_path)):
        pass


def test_a_refusal_leaves_no_directory(tmp_path):
    (tmp_path / "there").mkdir()
    for path in ("there/a/b", "there", "full"):
        folder = tmp_path / path
        with pytest.raises(ZeroDivisionError):
            with files.locked(str(folder)):
                if path == "full":
                    (folder / "work").write_text("begun")
                raise ZeroDivisionError
    assert sorted(p.name for p in tmp_path.rglob("*")) == [
        ".lock",
        "full",
        "there",
        "work",
    ]


def test_a_lock_that_its_holder_removed_is_none(tmp_path, monkeypatch):
    take, path = fcntl.flock, tmp_path / ".lock"
    taken = []

    def after_a_removal(file, how):
        if not taken:
            path.unlink()  # as the last holder does, between open and flock
        taken.append(how)
        take(file, how)

    monkeypatch.setattr(fcntl, "flock", after_a_removal)
    with files.locked(str(tmp_path)):
        assert len(taken) == 2 and path.exists()
        monkeypatch.undo()
        with pytest.raises(InUse):
            with files.locked(str(tmp_path)):
                pytest.fail("two hold the lock")


def test_locks_of_other_directories_and_names_do_not_interfere(tmp_path):
    with files.locked(str(tmp_path / "a")):
        with files.locked(str(tmp_path / "b")):
            with files.locked(str(tmp_path / "a"), ".other"):
                pass


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_not_in_use(
    tmp_path, monkeypatch, number
):
    def refuse(*arguments):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(RunError, match=f"lock.*: {os.strerror(number)}") as got:
        with files.locked(str(tmp_path)):
            pytest.fail("it is not locked")
    assert not isinstance(got.value, InUse)


def test_a_lock_of_somebody_else_is_named(tmp_path):
    (tmp_path / ".lock").mkdir()  # root would open any file
    with pytest.raises(RunError, match=r"cannot lock .*\.lock: Is a dir"):
        with files.locked(str(tmp_path)):
            pytest.fail("it is not locked")


def test_locked_makes_the_directory(tmp_path):
    with files.locked(str(tmp_path / "new")):
        assert (tmp_path / "new").is_dir()
