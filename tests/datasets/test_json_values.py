import gzip

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.json_values import parse_json, parse_line


def test_values_know_their_place():
    root = parse_json("a.json", b'\xef\xbb\xbf{"a": [1, {"b": "text"}]}')
    assert root.member("a").items()[1].member("b").text() == "text"
    assert root.member("a").items()[0].number() == 1
    packed = gzip.compress(b"[]")
    assert parse_json("a.json.gz", packed).items() == []
    line = parse_line("a.jsonl", '{"a": true}', 7)
    with pytest.raises(DataError, match=r"^a.jsonl:7: \$.a: found 'true'; it"):
        line.member("a").number()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": }', "^a.json:1: no JSON: .*column 7"),
        (b"{\n'a'}", "^a.json:2: no JSON"),
        (b"[" * 100_000, "^a.json:1: no JSON: nested too deeply"),
        (b"9" * 5000, "^a.json:1: no JSON: .*4300"),
        (b"\xff", "^a.json: byte 0 is not UTF-8"),
        (b"\xff\xfe[\0]\0", "^a.json: the text is in UTF-16"),
    ],
)
def test_what_is_no_json(content, message):
    with pytest.raises(DataError, match=message):
        parse_json("a.json", content)


def test_half_of_a_surrogate_pair_is_no_text():
    root = parse_json("a.json", b'["\\ud83d"]')
    with pytest.raises(DataError, match=r"\$\[0\]: found .*no character"):
        root.items()[0].text()
