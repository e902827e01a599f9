"""Entries of questions about contexts, whose files a test writes."""

import json

from mtl_tf.tasks import registry
from tests.system import random_runs

NAME = "question_answering"
LINE = {"question": "who?", "context": "it was Ann", "answer": "Ann"}


def entry_of(tmp_path, *lines, **fields):
    text = "".join(
        (line if isinstance(line, str) else json.dumps(line)) + "\n"
        for line in lines
    )
    path = random_runs.written(tmp_path, "questions.jsonl", text)
    files = {"train": path, "validation": path, "test": path}
    return {"name": "mine", "type": NAME, "files": files, **fields}


def task_of(tmp_path, *lines, **fields):
    return registry.resolve([entry_of(tmp_path, *lines, **fields)])[0]
