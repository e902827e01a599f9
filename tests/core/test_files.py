"""Tests of mtl_tf.core.files."""

import contextlib
import errno
import fcntl
import os
import signal
import stat

import pytest

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, RunError
from tests.core.processes import start

KILLED_WHILE_WRITING = """
import os, signal, sys
from mtl_tf.core import files
with files.replacing(sys.argv[1]) as temporary:
    with open(temporary, "w") as file:
        file.write("half of the new")
        file.flush()
        os.fsync(file.fileno())
        os.kill(os.getpid(), signal.SIGKILL)
"""

KILLED_WHILE_FILLING = """
import os, signal, sys
from mtl_tf.core import files
with files.new_directory(sys.argv[1]) as temporary:
    open(os.path.join(temporary, "one"), "w").close()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def umask_027():
    before = os.umask(0o027)
    yield
    os.umask(before)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


# replacing


def test_replacing_shows_nothing_before_the_block_ends(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with files.replacing(str(path)) as temporary:
        with open(temporary, "w") as file:
            file.write("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["a.json"]


def test_replacing_keeps_the_old_file_when_the_block_raises(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError):
        with files.replacing(str(path)):
            raise ZeroDivisionError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.json"]


def test_a_full_disk_names_the_file(tmp_path):
    path = str(tmp_path / "x.png")
    with pytest.raises(OSError) as told:
        with files.replacing(path):
            raise OSError(errno.ENOSPC, "No space left on device")
    assert told.value.filename == path


def test_replacing_survives_kill_9_in_the_middle(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("old")
    writer = start(KILLED_WHILE_WRITING, path)
    writer.communicate()
    assert writer.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    (left,) = (name for name in os.listdir(tmp_path) if name != "a.json")
    assert left.startswith(".a.json.")
    # The next to write it removes what was left, and nothing else.
    others = [".a.json.mine", ".a.json.old~", ".b.json.12345678~"]
    others += [".aXjson.12345678~", ".a.json.12345678", ".a.json.12345678~x"]
    for name in others:
        (tmp_path / name).write_text("")
    files.write_text(str(path), "new")
    assert path.read_text() == "new"
    assert set(os.listdir(tmp_path)) == {"a.json", *others}


@pytest.mark.parametrize("make", [files.replacing, files.new_directory])
def test_what_another_process_is_writing_stays(tmp_path, make):
    path = str(tmp_path / "a")
    with files.hidden_directory(path) as hidden:
        one = os.path.join(hidden, "one")
        open(one, "w").close()
        with make(path) as second:
            assert os.path.exists(one)
            with contextlib.suppress(IsADirectoryError):
                open(second, "w").close()
    assert os.listdir(tmp_path) == ["a"]


@pytest.mark.parametrize("before", ["open", "flock"])
def test_what_was_taken_for_left_is_made_again(tmp_path, monkeypatch, before):
    """Between a name and its lock another process may remove it."""
    module = os if before == "open" else fcntl
    path, taken, real = str(tmp_path / "a"), [], getattr(module, before)

    def late(*arguments):
        left = [] if taken else os.listdir(tmp_path)
        for name in left:
            os.rmdir(tmp_path / name)
        taken.extend(left)
        return real(*arguments)

    monkeypatch.setattr(module, before, late)
    with files.new_directory(path) as temporary:
        open(os.path.join(temporary, "one"), "w").close()
    assert len(taken) == 1
    assert os.listdir(tmp_path) == ["a"] and os.listdir(path) == ["one"]


def test_what_another_process_is_removing_is_made_again(tmp_path, monkeypatch):
    asked, flock = [], fcntl.flock

    def lock(handle, how):
        asked.append(how)
        if len(asked) == 1:
            raise BlockingIOError
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", lock)
    with files.replacing(str(tmp_path / "a")) as temporary:
        names = os.listdir(tmp_path)
        assert len(names) == 2 and os.path.basename(temporary) in names


def test_without_locks_nothing_is_removed(tmp_path, monkeypatch):
    def lock(handle, how):
        raise OSError(errno.ENOLCK, "No locks available")

    (tmp_path / ".a.12345678~").write_text("")
    monkeypatch.setattr(fcntl, "flock", lock)
    files.write_text(str(tmp_path / "a"), "x")
    assert set(os.listdir(tmp_path)) == {"a", ".a.12345678~"}


def test_one_may_write_where_one_may_not_read(tmp_path, monkeypatch):
    def listed(path):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(os, "listdir", listed)
        files.write_text(str(tmp_path / "a"), "x")
    assert os.listdir(tmp_path) == ["a"]


def test_replacing_makes_missing_parents(tmp_path):
    path = tmp_path / "one" / "two" / "a.txt"
    files.write_text(str(path), "x")
    assert path.read_text() == "x"


@pytest.mark.parametrize("name", ["", "new/", "file/new.txt"])
def test_what_cannot_be_a_file_is_refused(tmp_path, name):
    (tmp_path / "file").touch()
    path = f"{tmp_path}/{name}"
    for write in (files.check_file, lambda path: files.write_text(path, "a")):
        with pytest.raises(RunError, match="cannot (write|make) the "):
            write(path)
    assert os.listdir(tmp_path) == ["file"]


def test_replacing_honours_the_umask(tmp_path, umask_027):
    files.write_text(str(tmp_path / "a"), "x")
    assert mode(tmp_path / "a") == 0o640


# text and JSON


def test_write_text_writes_utf8_and_keeps_newlines(tmp_path):
    path = tmp_path / "a.txt"
    files.write_text(str(path), "é\r\n\u0085\n")
    assert path.read_bytes() == "é\r\n\u0085\n".encode()


def test_json_comes_back(tmp_path):
    path = str(tmp_path / "a.json")
    value = {"name": "Bücher", "scores": [1, 2.5, None], "empty": {}}
    files.write_json(path, value)
    assert files.read_json(path) == value
    with open(path, encoding="utf-8") as file:
        assert "Bücher" in file.read()


def test_json_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = str(tmp_path / "a.json")
    files.write_json(path, 1)
    with pytest.raises(ConfigError, match="JSON holds"):
        files.write_json(path, {"bad": object()})
    assert files.read_json(path) == 1


def test_read_json_names_the_missing_file(tmp_path):
    path = str(tmp_path / "absent.json")
    with pytest.raises(RunError, match="No such file") as caught:
        files.read_json(path)
    assert path in str(caught.value)


@pytest.mark.parametrize("content", [b"", b'{"a": ', b"\xff\xfe\x00"])
def test_read_json_names_the_damaged_file(tmp_path, content):
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    with pytest.raises(RunError, match="is not valid JSON") as caught:
        files.read_json(str(path))
    assert str(path) in str(caught.value)


# directories


def test_new_directory_appears_whole(tmp_path):
    path = tmp_path / "1"
    with files.new_directory(str(path)) as temporary:
        with open(os.path.join(temporary, "a"), "w") as file:
            file.write("x")
        assert not path.exists()
    assert (path / "a").read_text() == "x"
    assert os.listdir(tmp_path) == ["1"]


def test_new_directory_is_on_the_disk_before_it_has_its_name(
    tmp_path, monkeypatch
):
    """A power cut must not leave the name with files that are empty."""
    done = []

    def fsync(handle):
        done.append(os.readlink(f"/proc/self/fd/{handle}"))

    rename = os.rename
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(
        os, "rename", lambda *paths: done.append("named") or rename(*paths)
    )
    with files.new_directory(str(tmp_path / "1")) as temporary:
        os.mkdir(os.path.join(temporary, "inner"))
        for name in ("a", "inner/b"):
            with open(os.path.join(temporary, name), "w") as file:
                file.write("x")
    place = done.index("named")
    assert sorted(done[:place]) == [
        os.path.join(temporary, name).rstrip(os.sep)
        for name in ("", "a", "inner", "inner/b")
    ]
    assert done[place + 1 :] == [str(tmp_path)]


def test_a_file_system_may_be_unable_to_flush_a_directory(
    tmp_path, monkeypatch
):
    flush, failing = os.fsync, [stat.S_ISDIR]

    def fsync(handle):
        if failing[0](os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it cannot")
        flush(handle)

    def write(name):
        with files.new_directory(str(tmp_path / name)) as temporary:
            with open(os.path.join(temporary, "a"), "w") as file:
                file.write("x")

    monkeypatch.setattr(os, "fsync", fsync)
    write("1")
    assert (tmp_path / "1" / "a").read_text() == "x"
    failing[0] = stat.S_ISREG
    with pytest.raises((OSError, RunError)):
        write("2")
    assert os.listdir(tmp_path) == ["1"]


def test_new_directory_leaves_nothing_when_the_block_raises(tmp_path):
    with pytest.raises(ZeroDivisionError):
        with files.new_directory(str(tmp_path / "1")):
            raise ZeroDivisionError
    assert os.listdir(tmp_path) == []


def test_new_directory_leaves_no_empty_parents_either(tmp_path):
    (tmp_path / "old").mkdir()
    with pytest.raises(ZeroDivisionError):
        with files.new_directory(str(tmp_path / "old" / "new" / "deep" / "1")):
            raise ZeroDivisionError
    assert os.listdir(tmp_path) == ["old"]
    assert os.listdir(tmp_path / "old") == []


def test_only_new_and_empty_directories_are_removed(tmp_path):
    (tmp_path / "old").mkdir()
    with files.no_empty_directories(str(tmp_path / "old" / "new" / "deep")):
        (tmp_path / "old" / "new" / "deep").mkdir(parents=True)
    assert os.listdir(tmp_path / "old") == []
    with files.no_empty_directories(str(tmp_path / "old")):
        pass
    with files.no_empty_directories(str(tmp_path / "new" / "deep")):
        (tmp_path / "new" / "deep").mkdir(parents=True)
        (tmp_path / "new" / "file").write_text("x")
    assert sorted(os.listdir(tmp_path)) == ["new", "old"]
    assert os.listdir(tmp_path / "new") == ["file"]


def test_new_directory_survives_kill_9_in_the_middle(tmp_path):
    path = tmp_path / "1"
    writer = start(KILLED_WHILE_FILLING, path)
    writer.communicate()
    assert writer.returncode == -signal.SIGKILL
    assert not path.exists()
    with files.new_directory(str(path)):
        pass
    assert os.listdir(tmp_path) == ["1"]


@pytest.mark.parametrize("is_file", [True, False])
def test_new_directory_refuses_one_that_came_meanwhile(tmp_path, is_file):
    path = tmp_path / "1"
    with pytest.raises(RunError, match="1 exists already: remove it or name"):
        with files.new_directory(str(path)):
            if not is_file:
                path.mkdir()
            (path if is_file else path / "a").write_text("x")
    assert (path if is_file else path / "a").read_text() == "x"
    assert os.listdir(tmp_path) == ["1"]


def test_new_directory_refuses_one_that_exists(tmp_path):
    path = tmp_path / "1"
    path.mkdir()
    (path / "a").write_text("x")
    with pytest.raises(RunError, match="exists already"):
        with files.new_directory(str(path)):
            pytest.fail("the block ran")
    assert (path / "a").read_text() == "x"


def test_new_directory_refuses_a_dangling_link(tmp_path):
    (tmp_path / "1").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RunError, match="exists already"):
        with files.new_directory(str(tmp_path / "1")):
            pass


def test_new_directory_honours_the_umask(tmp_path, umask_027):
    with files.new_directory(str(tmp_path / "1")):
        pass
    assert mode(tmp_path / "1") == 0o750


def test_make_directory_makes_parents_and_may_be_repeated(tmp_path):
    path = str(tmp_path / "a" / "b")
    assert files.make_directory(path) == path
    assert files.make_directory(path) == path
    assert os.path.isdir(path)


def test_make_directory_refuses_a_name_that_is_not_utf_8(tmp_path):
    with pytest.raises(RunError, match=r"'.*x\\udcff': its name is not valid"):
        files.make_directory(f"{tmp_path}/x\udcff")


def test_make_directory_names_the_file_that_is_in_the_way(tmp_path):
    path = tmp_path / "file"
    path.write_text("x")
    with pytest.raises(RunError, match="cannot make the directory") as caught:
        files.make_directory(str(path))
    assert str(path) in str(caught.value)


def test_make_directory_refuses_one_without_write_permission(
    tmp_path, monkeypatch
):
    path = tmp_path / "closed"
    path.mkdir(mode=0o555)
    if os.geteuid() == 0:  # root may write anywhere
        access = os.access
        monkeypatch.setattr(
            os, "access", lambda p, mode: p != str(path) and access(p, mode)
        )
    with pytest.raises(RunError, match="cannot write into the directory"):
        files.make_directory(str(path))
