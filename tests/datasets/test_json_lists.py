"""Files that are one JSON list of objects."""

import gzip
import json

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets import json_lists

ROWS = [{"text": "é\n[", "n": [1, {"a": 2}]}, {}, {"text": ""}]


def read(content):
    return list(json_lists.elements("a.json", content))


@pytest.mark.parametrize("indent", [None, 0, 2, "\t"])
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("around", [b"", b"\r\n \t"])
def test_elements_are_numbered_from_one(indent, ascii_only, around):
    text = json.dumps(ROWS, indent=indent, ensure_ascii=ascii_only)
    content = around + text.encode() + around
    assert json_lists.is_start(content)
    assert read(content) == list(enumerate(ROWS, start=1))
    content = b"\xef\xbb\xbf" + content
    assert json_lists.is_start(content)
    assert read(content) == list(enumerate(ROWS, start=1))


def test_a_list_of_nothing():
    assert read(b"[]") == read(b" [ \n] \n") == []


@pytest.mark.parametrize("content", [b"", b'{"a": []}\n', b'{"data": [', b"a["])
def test_what_is_no_list(content):
    assert not json_lists.is_start(content)


def test_files_of_lists(tmp_path):
    plain, packed = tmp_path / "a.json", tmp_path / "a.json.gz"
    plain.write_bytes(b"\n [{}]")
    packed.write_bytes(gzip.compress(b"[{}]"))
    assert json_lists.is_list(str(plain)) and json_lists.is_list(str(packed))
    with pytest.raises(DataError, match="cannot read"):
        json_lists.is_list(str(tmp_path / "b.json"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'[{"a": 1}, {"a": }]', "a.json: element 2: not valid JSON: Expect"),
        (b'[\n{"a": 1},\n{"a"}]', r"a.json: element 2: .*line 3 column 5"),
        (b'[{"a": 1}, ]', "a.json: element 2: not valid JSON: "),
        (b'[{"a": 1}, 3]', "a.json: element 2: must be a JSON obj.*found '3'"),
        (b'[["a", 1]]', "a.json: element 1: must be a JSON object, found"),
        (b'[{"a": 1} {}]', "element 1: a comma or ] must .* found '{'$"),
        (b'[{"a": 1}', "element 1: a comma or ] must .*the end of the file$"),
        (b"[", "element 1: not valid JSON"),
        (b"[" * 100_000, "element 1: not valid JSON: .*recursion"),
        (b"[{}]\n[{}]\n", "a.json: more stands behind the list, '.{}.': a fi"),
        (b"[]]", "a.json: more stands behind the list"),
        (b'[{"a": "caf\xe9"}]', "a.json: byte 11 is not UTF-8"),
    ],
)
def test_wrong_lists(content, message):
    with pytest.raises(DataError, match=message) as error:
        read(content)
    assert "\n" not in str(error.value)
