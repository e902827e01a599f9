"""Entries of tagging tasks, whose files a test writes."""

from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task import Task

TRAIN = "-DOCSTART- O\n\nI PRP O\nsaw VBD O\nNew NNP B-LOC\nYork NNP I-LOC\n\n"
TEST = "\n\nBonn NNP B-LOC\nParis NNP B-LOC\n \t\nAnn NNP B-PER"


def entry(tmp_path, ending="conll", train=TRAIN, test=TEST, **fields):
    files = {}
    for split, content in {"train": train, "test": test}.items():
        files[split] = str(tmp_path / f"{split}.{ending}")
        (tmp_path / f"{split}.{ending}").write_text(content, "utf-8")
    return {"name": "own", "type": "tagging", "files": files, **fields}


def task(tmp_path, *arguments, **fields) -> Task:
    return resolve([entry(tmp_path, *arguments, **fields)])[0]


def rows(task, split):
    return [
        (
            " ".join(token.decode() for token in example["tokens"]),
            " ".join(task.labels[tag] for tag in example["tags"]),
        )
        for example in task.dataset(split).as_numpy_iterator()
    ]
