"""Predictions in files, beside the right answers: for other scorers."""

import json
import os
from collections.abc import Sequence
from typing import Any

from mtl_tf.core import files
from mtl_tf.evaluation import tagging_metrics
from mtl_tf.evaluation.evaluator import TaskPredictions


def write(directory: str, inputs: Sequence[Any], task: TaskPredictions) -> str:
    """Writes what a model said about each example of a task.

    A tagging task gets `NAME.conll`, lines of token, right and predicted tag
    (see `tagging_metrics.write_conll`). A classification task gets
    `NAME.jsonl`, lines such as

        {"text": "a fine book", "label": "positive", "prediction": "positive",
         "scores": {"negative": 0.1, "positive": 0.9}}

    whose scores are absent where they are not known. So does a translation
    task: its label is the reference, its prediction the translation.

    Args:
        directory: where to; it is made if need be, and a file of that name is
            replaced.
        inputs: the texts, or the tokens of each sentence, in the order of the
            predictions.
        task: the predictions.

    Returns:
        The path of the file.

    Raises:
        RunError: the directory cannot be written to.
        ValueError: there are more or fewer inputs than predictions.
    """
    kind = "conll" if task.kind == "tagging" else "jsonl"
    path = os.path.join(directory, f"{task.name}.{kind}")
    if kind == "conll":
        names = task.class_names
        tagging_metrics.write_conll(
            path,
            inputs,
            tagging_metrics.names_of(task.labels, names),
            tagging_metrics.names_of(task.predictions, names),
            task.scheme,
        )
    else:
        files.write_text(path, "".join(_lines(inputs, task)))
    return path


def _lines(texts: Sequence[str | bytes], task: TaskPredictions):
    names = task.class_names
    rows = zip(texts, task.labels, task.predictions, strict=True)
    for number, (text, label, prediction) in enumerate(rows):
        if isinstance(text, bytes):
            text = text.decode("utf-8", errors="replace")
        if task.kind == "classification":
            label, prediction = names[int(label)], names[int(prediction)]
        line = {"text": text, "label": label, "prediction": prediction}
        if task.scores is not None:
            scores = map(float, task.scores[number])
            line["scores"] = dict(zip(names, scores))
        yield json.dumps(line, ensure_ascii=False) + "\n"
