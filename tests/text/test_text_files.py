import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.text import text_files


def test_lines_with_text(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_bytes(b"\xef\xbb\xbfone\n \n\n two words \r\n")
    assert text_files.read(str(path)) == ["one", "two words"]


@pytest.mark.parametrize("contents", [b"", b"\n  \n"])
def test_a_file_without_text_is_named(tmp_path, contents):
    path = tmp_path / "texts.txt"
    path.write_bytes(contents)
    with pytest.raises(DataError, match="/texts.txt holds no text$"):
        text_files.read(str(path))
