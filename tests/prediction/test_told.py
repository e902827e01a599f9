"""Predictions as lines for people."""

import pytest

from mtl_tf.prediction import task_types


@pytest.mark.parametrize(
    ("type", "prediction", "line"),
    [
        (
            "classification",
            {"label": "b", "scores": {"a": 0.04, "b": 0.96}},
            "b  96.0 %",
        ),
        (
            "multi_label",
            {"labels": ["a", "b"], "scores": {"a": 0.5, "b": 0.75}},
            "a  50.0 %, b  75.0 %",
        ),
        ("multi_label", {"labels": [], "scores": {"a": 0.1}}, "(no label)"),
        ("regression", {"value": 2.5}, "2.5"),
        ("translation", {"translation": "ein Hund"}, "ein Hund"),
        ("translation", {"translation": ""}, "(nothing)"),
        (
            "tagging",
            {"tokens": ["New", "York", "is"], "tags": ["B-L", "I-L", "O"]},
            "[New York L] is",
        ),
        (
            "tagging",
            {"tokens": ["it", "is"], "tags": ["PRON", "AUX"]},
            "it/PRON is/AUX",
        ),
        (
            "question_answering",
            {
                **{"answer": "a\nb", "confidence": 0.5, "words": ["a", "b"]},
                "sources": ["context", "question"],
            },
            "a b  50.0 %  a (context) b (question)",
        ),
        (
            "question_answering",
            {"answer": "", "confidence": 0.25, "words": [], "sources": []},
            "(nothing)  25.0 %",
        ),
    ],
)
def test_lines_for_people(type, prediction, line):
    assert task_types.of(type).told({"task": "t", **prediction}) == line
