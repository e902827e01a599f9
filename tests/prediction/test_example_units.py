"""Which examples a bootstrap draws together."""

import json

from mtl_tf.prediction.example_units import units_of
from mtl_tf.tasks import registry


def task_of(tmp_path, rows, **fields):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    files = {"train": str(path), "validation": str(path), "test": str(path)}
    (task,) = registry.resolve([{"name": "t", "files": files, **fields}])
    return task


def test_questions_about_a_context_are_one_unit(tmp_path):
    contexts = ["It was Ann.", "It rained.", "It was Ann.", "", " ", ""]
    rows = [
        {"question": f"q{n}?", "context": context, "answer": "a"}
        for n, context in enumerate(contexts)
    ]
    task = task_of(tmp_path, rows, type="question_answering")
    units = units_of(task, "test")
    assert units == [0, 1, 0, 2, 3, 4]


def test_texts_with_labels_are_units_by_themselves(tmp_path):
    rows = [{"text": "the same", "label": label} for label in "abab"]
    assert units_of(task_of(tmp_path, rows), "test") is None
