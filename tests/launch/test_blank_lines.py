"""Blank lines between rows are nothing, wherever rows are read."""

import io

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.programs.text_input import TextReader
from mtl_tf.tasks import registry

LINES = {
    "csv": ("text,label", "a,x", '"b\n\nc",y'),
    "tsv": ("text\tlabel", "a\tx", "b c\ty"),
    "jsonl": ('{"text": "a", "label": "x"}', '{"text": "b c", "label": "y"}'),
}
TAGGED = ('{"tokens": ["a"], "tags": ["x"]}', '{"tokens": ["b"], "tags": []}')
ASKED = '{"question": "a", "context": "b", "answer": "c"}'


def resolved(path, **fields):
    files = dict.fromkeys(("train", "validation"), str(path))
    (task,) = registry.resolve([{"name": "t", "files": files, **fields}])
    return task


@pytest.mark.parametrize("blank", ["\n", "\r\n", " \n\n", ""])
@pytest.mark.parametrize("form", LINES)
def test_training_and_prediction_pass_over_them(tmp_path, form, blank):
    content = blank + "".join(f"{line}\n{blank}" for line in LINES[form])
    path = tmp_path / f"a.{form}"
    path.write_bytes(content.encode())
    texts = [
        example["text"].decode()
        for example in resolved(path).dataset("train").as_numpy_iterator()
    ]
    reader = TextReader(io.BytesIO(content.encode()), "in", form)
    (items,) = reader.batches(64)
    assert texts == [item.fields["text"] for item in items]
    assert len(texts) == 2


def test_rows_of_empty_cells_are_rows(tmp_path):
    path = tmp_path / "a.tsv"
    content = b"text\tlabel\n\t\n \t \na\tx\nb\ty\n"
    path.write_bytes(content)
    task = resolved(path, skip_missing=True)
    assert task.size("train") == 2
    assert "2 rows without a target" in " ".join(task.source.warnings)
    (items,) = TextReader(io.BytesIO(content), "in", "tsv").batches(64)
    assert [item.fields["text"] for item in items] == ["", " ", "a", "b"]


@pytest.mark.parametrize(
    ("task_type", "lines"),
    [
        ("tagging", (TAGGED[0], TAGGED[0])),
        ("question_answering", (ASKED, ASKED)),
    ],
)
def test_lines_of_other_types(tmp_path, task_type, lines):
    path = tmp_path / "a.jsonl"
    path.write_text("\n" + " \n\n".join(lines) + "\n\n")
    assert resolved(path, type=task_type).size("train") == 2


def test_places_count_them(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(["", TAGGED[0], "", TAGGED[1]]))
    with pytest.raises(DataError, match=f"{path}:4: 1 tokens, but 0 tags"):
        resolved(path, type="tagging").size("train")
