import gzip

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.json_values import read_json, read_json_lines
from mtl_tf.datasets.lines import LineFile


def read(content):
    return read_json("a.json", content)


def test_values_know_their_place():
    root = read(b'\xef\xbb\xbf{"a": [1, {"b": "text"}]}')
    number, inner = root.get("a", list).items()
    assert inner.get("b", str).value == "text"
    assert number.check(int).value == 1
    assert inner.location == "a.json: $.a[1]"
    [text] = inner.items(str)
    assert text.location == "a.json: $.a[1]['b']"
    packed = gzip.compress(b"[]")
    assert read_json("a.json.gz", packed).value == []


def test_lines_are_objects_with_numbers(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"a": 1}\r\n \n{"a": true}\n[]\n')
    lines = read_json_lines(LineFile(str(path)))
    number, line = next(lines)
    assert (number, line.value) == (1, {"a": 1})
    number, line = next(lines)
    assert number == 3
    with pytest.raises(DataError, match=r"a.jsonl:3: \$.a: found 'true'; it"):
        line.get("a", int)
    with pytest.raises(DataError, match=r"a.jsonl:4: \$: found .* an object"):
        next(lines)
    path.write_bytes(b"\n{'a'}")
    with pytest.raises(DataError, match="a.jsonl:2: not JSON: .*column 2"):
        next(read_json_lines(LineFile(str(path))))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": }', "^a.json:1: not JSON: .*column 7"),
        (b"{\n'a'}", "^a.json:2: not JSON"),
        (b"[" * 100_000, "^a.json:1: JSON that cannot be read: .*too deeply"),
        (b"9" * 5000, "^a.json:1: JSON that cannot be read: .*4300"),
        (b"\xff", "^a.json: byte 0 is not UTF-8"),
        (b"\xff\xfe[\0]\0", "^a.json: the text is in UTF-16"),
    ],
)
def test_what_is_no_json(content, message):
    with pytest.raises(DataError, match=message):
        read(content)


def test_values_of_another_kind():
    root = read(b'{"a": [1], "b": "c"}')
    with pytest.raises(DataError, match=r"\$.a: found .*must be a text"):
        root.get("a", str)
    with pytest.raises(DataError, match=r"\$: the key 'd' is missing; .*'b'"):
        root.get("d", list)
    with pytest.raises(DataError, match=r"\$.a: found .*must be an object"):
        root.get("a", list).get("b", str)
    with pytest.raises(DataError, match=r"\$.b: found .*must be a list"):
        next(root.get("b", str).items())


def test_half_of_a_surrogate_pair_is_no_text():
    root = read(b'["\\ud83d"]')
    with pytest.raises(DataError, match=r"\$\[0\]: half of a .*\\ud83d"):
        next(root.items(str))
