"""The predict program on files that are one JSON list."""

import json

import pytest

from mtl_tf.core.errors import ConfigError, DataError

ROWS = [
    {"id": 1, "text": "a good one", "task": "books"},
    {"id": 2, "text": "a caf\u00e9", "task": "films"},
]


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_is_read_as_lines_are(run, files, indent):
    lines = "".join(json.dumps(row) + "\n" for row in ROWS).encode()
    expected = files.call(lines, "--format=jsonl")
    content = json.dumps(ROWS, indent=indent, ensure_ascii=False).encode()
    assert files.call(content, "--format=jsonl") == expected
    assert [row["id"] for row in expected] == [1, 2]
    files.source = files.source.with_name("in.json")
    assert files.call(b"\xef\xbb\xbf\n" + content) == expected
    assert files.call(b"[]") == []


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b'[{"text": "a"}, 3]', DataError, "in: element 2: must be a JSON"),
        (b'[{"text": "a"}, {"text": 3}]', DataError, "in: element 2: text mus"),
        (
            b'[{"text": "a"}, {"x": "a"}]',
            ConfigError,
            "in: element 2: .*fields",
        ),
        (b'[\n{"text": "a"},\n{]', DataError, "in: element 2: .* line 3 col"),
        (b'[{"text": "a"}', DataError, "in: element 1: a comma or ]"),
    ],
)
def test_a_wrong_element_is_named(run, files, content, error, message):
    with pytest.raises(error, match=message):
        files.call(content, "--task=books", "--format=jsonl")
    assert not files.output.exists()
