"""`--input` and `--output`."""

import os

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import record_table, streams
from tests.core import strict


@pytest.mark.parametrize("name", ["missing", "."])
def test_input_that_cannot_be_read(tmp_path, name):
    with pytest.raises(ConfigError, match="--input: cannot read .*: "):
        with streams.reading(str(tmp_path / name)):
            pass


def test_an_error_inside_is_passed_on(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"")
    with pytest.raises(FileNotFoundError, match="another file"):
        with streams.reading(str(path)):
            raise FileNotFoundError("another file")


def test_output_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with streams.writing(str(path)) as output:
        output.write(b"new")
        output.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["out"]


def test_output_stays_as_it_was_after_an_error(tmp_path):
    path = tmp_path / "out"
    path.write_bytes(b"old")
    with pytest.raises(ValueError):
        with streams.writing(str(path)) as output:
            output.write(b"new")
            raise ValueError
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_output_through_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with streams.writing(str(tmp_path / "link")) as output:
        output.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with streams.writing(str(pipe)) as output:
        output.write(b"new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert not pipe.is_file()


def test_output_to_a_folder(tmp_path):
    with pytest.raises(ConfigError, match="is a folder: name a file"):
        with streams.writing(str(tmp_path)):
            pass


def test_standard_input_is_not_overwritten(tmp_path, monkeypatch):
    path = tmp_path / "both"
    path.write_text("good\n")
    with open(path) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        streams.check_apart("-", str(tmp_path / "other"))
        with pytest.raises(ConfigError, match="is the input, which would be"):
            streams.check_apart("-", str(path))


def test_numbers_that_json_has_not(tmp_path):
    path = tmp_path / "out"
    streams.write_json(str(path), {"scores": [1.0, float("-inf")]})
    assert strict.loads(path.read_text()) == {"scores": [1.0, None]}
    with record_table.RecordTable("tsv") as table:
        table.add({"one": float("nan"), "several": [float("inf"), 1.0]})
        with streams.writing(str(path)) as output:
            table.write(output)
    assert path.read_text() == "one\tseveral\n\t[null, 1.0]\n"
