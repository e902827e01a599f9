import json

import pytest

from mtl_tf.evaluation import task_types
from mtl_tf.evaluation.scoring import TaskPredictions


def written(tmp_path, inputs, **said):
    task = TaskPredictions(name="t", **said)
    scoring = task_types.of(task.type)
    path = scoring.write(str(tmp_path / "new"), inputs, task)
    with open(path, encoding="utf-8") as file:
        return path, file.read()


def test_tags_are_columns(tmp_path):
    path, text = written(
        tmp_path,
        [["New York", "is"], ["Bonn"]],
        type="tagging",
        labels=[[2, 0], [1]],
        predictions=[[2], [0]],
        class_names=["O", "S-X", "B-X"],
        settings={"scheme": "iobes"},
    )
    assert path.endswith("new/t.conll")
    assert text == "New_York B-X B-X\nis O O\n\nBonn B-X O\n\n"


def test_labels_are_lines_of_json(tmp_path):
    said = {"labels": [1, 0], "predictions": [1, 1], "class_names": ["a", "ü"]}
    path, text = written(tmp_path, [b"x\xff", "y"], **said)
    assert path.endswith("new/t.jsonl") and "ü" in text
    first, second = map(json.loads, text.splitlines())
    assert first == {"text": "x\ufffd", "label": "ü", "prediction": "ü"}
    assert second["label"] == "a"
    scores = [[0.25, 0.75], [0.5, 0.5]]
    _, text = written(tmp_path, ["x", "y"], **said, scores=scores)
    assert json.loads(text.splitlines()[0])["scores"] == {"a": 0.25, "ü": 0.75}
    with pytest.raises(ValueError, match="longer"):
        written(tmp_path, ["x"], **said)


def test_translations_stand_beside_their_references(tmp_path):
    said = {"labels": ["un"], "predictions": ["le"], "class_names": []}
    _, text = written(tmp_path, [b"a"], type="translation", **said)
    line = {"text": "a", "label": "un", "prediction": "le"}
    assert json.loads(text) == line
