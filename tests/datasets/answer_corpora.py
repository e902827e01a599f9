"""Files of corpora of questions and answers, and what is built from them."""

import gzip
import json
import os

from mtl_tf.datasets import building


def write(directory, name, content):
    """Writes a file, packed if its name says so; gives the folder."""
    os.makedirs(directory, exist_ok=True)
    content = content if isinstance(content, bytes) else content.encode()
    if name.endswith(".gz"):
        content = gzip.compress(content)
    with open(os.path.join(directory, name), "wb") as file:
        file.write(content)
    return os.fspath(directory)


def json_lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def build(name, manual, tmp_path):
    """The builder and its warnings as one text."""
    builder = building.prepare(name, str(tmp_path / "build"), str(manual))
    return builder, "\n".join(building.warnings_of(builder))


def examples(builder, split):
    """Each example as a dict of texts; `scoring` is read."""
    return [
        {
            key: [one.decode() for one in value]
            if key == "answers"
            else value.decode()
            for key, value in example.items()
        }
        | {"scoring": json.loads(example["scoring"])}
        for example in builder.as_dataset(split=split).as_numpy_iterator()
    ]


def triplets(builder, split):
    """Question, context and all answers of each example."""
    return [
        (row["question"], row["context"], row["answers"])
        for row in examples(builder, split)
    ]
