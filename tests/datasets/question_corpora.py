"""Reading and writing for the tests of corpora of questions and answers."""

import json
import os

from mtl_tf.datasets import building

FIELDS = ("id", "question", "context", "answer")


def rows(builder, split):
    """(id, question, context, answer) of a split."""
    return [tuple(row[name] for name in FIELDS) for row in full(builder, split)]


def full(builder, split):
    """The examples of a split; `scoring` is read."""
    found = []
    for example in builder.as_dataset(split=split).as_numpy_iterator():
        row = {name: example[name].decode() for name in (*FIELDS, "scoring")}
        row["scoring"] = json.loads(row["scoring"])
        row["answers"] = [text.decode() for text in example["answers"]]
        assert row["answers"][0] == row["answer"]
        found.append(row)
    return found


def sizes(builder):
    return {name: x.num_examples for name, x in builder.info.splits.items()}


def warnings(builder):
    return "\n".join(building.warnings_of(builder))


def write(directory, name, content):
    """Writes text, bytes, or anything else as JSON; gives the folder."""
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content)
    if isinstance(content, str):
        content = content.encode()
    with open(path, "wb") as file:
        file.write(content)
    return os.fspath(directory)
