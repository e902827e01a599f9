"""Files of corpora of questions and answers, and what is built from them."""

import gzip
import json
import os

from mtl_tf.datasets import building

FIELDS = ("id", "question", "context", "answer")


def write(directory, name, content):
    """Writes text, bytes, or anything else as JSON; gives the folder.

    Text is packed if the name says so; bytes are written as they are.
    """
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if not isinstance(content, (str, bytes)):
        content = json.dumps(content)
    if isinstance(content, str):
        content = content.encode()
        if name.endswith(".gz"):
            content = gzip.compress(content)
    with open(path, "wb") as file:
        file.write(content)
    return os.fspath(directory)


def json_lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def build(name, manual, tmp_path):
    """The builder and its warnings as one text."""
    builder = building.prepare(name, str(tmp_path / "build"), str(manual))
    return builder, warnings(builder)


def examples(builder, split):
    """Each example as a dict of texts; `scoring` is read."""
    found = []
    for example in builder.as_dataset(split=split).as_numpy_iterator():
        row = {name: example[name].decode() for name in (*FIELDS, "scoring")}
        row["scoring"] = json.loads(row["scoring"])
        row["answers"] = [text.decode() for text in example["answers"]]
        assert row["answers"][0] == row["answer"]
        assert row.keys() == example.keys()
        found.append(row)
    return found


def rows(builder, split):
    """(id, question, context, answer) of a split."""
    return [
        tuple(row[name] for name in FIELDS) for row in examples(builder, split)
    ]


def triplets(builder, split):
    """Question, context and all answers of each example."""
    return [
        (row["question"], row["context"], row["answers"])
        for row in examples(builder, split)
    ]


def sizes(builder):
    return {name: x.num_examples for name, x in builder.info.splits.items()}


def warnings(builder):
    return "\n".join(building.warnings_of(builder))
