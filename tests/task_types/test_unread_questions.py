"""Questions in tables whose entry has one question for all."""

import pytest

from mtl_tf.tasks import registry
from tests.task_types.question_files import NAME

# The last row ends before the column that is not read.
UNREAD = "context,answer,question\na,b,\na,b,is it?\na,b,why?\na,b\n"
# What is called a question is the answer.
READ = "context,other,question\na,b,why?\n"


@pytest.mark.parametrize(
    ("text", "fields", "count"),
    [
        (UNREAD, {}, 1),
        (UNREAD, {"columns": {"context": 0, "answer": 1}, "header": True}, 1),
        (READ, {"columns": {"answer": "question"}}, 0),
        (READ, {"columns": {"context": 0, "answer": 2}, "header": True}, 0),
    ],
)
def test_questions_of_a_table_that_are_not_read_are_told(
    tmp_path, text, fields, count
):
    path = tmp_path / "a.csv"
    path.write_text(text)
    files = {"train": str(path), "validation": str(path)}
    entry = {"name": "mine", "type": NAME, "files": files, **fields}
    (task,) = registry.resolve([{**entry, "question": "is it?"}])
    assert task.size("train")
    notes = [note for note in task.source.warnings if "not read" in note]
    assert len(notes) == count
    for note in notes:
        assert "1 line with a question that is not read" in note
        assert note.endswith("(first: line 4)")
