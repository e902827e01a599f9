"""Sources and a TFDS builder made here, and a stand-in for their room."""

import sys
import types

import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds

from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task import Task

ROWS = {
    "train": [(f"train text {i}", i % 3 == 0) for i in range(40)],
    "test": [("a", 0), ("", 1), ("c", 1), ("d", 0)],
}


class Numbers(Source):
    """As many texts as asked for, each with its number as its label."""

    def __init__(self, size):
        super().__init__()
        self._size = size

    @property
    def split_names(self):
        return ("all",)

    def size(self, split):
        return self._size

    def dataset(self, split):
        texts = [str(i) for i in range(self._size)]
        labels = np.arange(self._size)
        return tf.data.Dataset.from_tensor_slices(
            {"text": texts, "label": labels}
        )


class Unlabelled(Numbers):
    """One text without a label."""

    def __init__(self, size, label=-1):
        super().__init__(size)
        self._label = label

    def dataset(self, split):
        return tf.data.Dataset.from_tensors({"text": "x", "label": self._label})


class FakeReviews(tfds.core.GeneratorBasedBuilder):
    """Labels as a ClassLabel, as integers and as strings."""

    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        features = tfds.features.FeaturesDict(
            {
                "text": tfds.features.Text(),
                "label": tfds.features.ClassLabel(names=["good", "bad"]),
                "stars": tfds.features.Scalar(np.int32),
                "word": tfds.features.Text(),
                "bytes": tfds.features.Sequence(tfds.features.Text()),
            }
        )
        return self.dataset_info_from_configs(
            features=features, disable_shuffling=True
        )

    def _split_generators(self, dl_manager):
        return {
            split: self._generate_examples(rows) for split, rows in ROWS.items()
        }

    def _generate_examples(self, rows):
        for i, (text, label) in enumerate(rows):
            yield (
                i,
                {
                    "text": text,
                    "label": int(label),
                    "stars": 10 if label else 9,
                    "word": "yes" if label else "no",
                    "bytes": [],
                },
            )


def install(monkeypatch, directory):
    """Puts a fake `mtl_tf.datasets.building` in place; returns its calls."""
    builder = FakeReviews(data_dir=str(directory))
    builder.download_and_prepare()
    calls = []

    def prepare(name, data_dir="", manual_dir=""):
        calls.append((name, data_dir, manual_dir))
        return builder

    module = types.ModuleType("mtl_tf.datasets.building")
    module.prepare = prepare
    module.warnings_of = lambda _: ["one odd thing"]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return calls


def mails(tmp_path, **contents):
    """A task of files, given by split: lines of label and text."""
    files = {}
    for split, content in contents.items():
        path = tmp_path / f"{split}.tsv"
        path.write_text(content)
        files[split] = str(path)
    columns = {"text": 1, "label": 0}
    return resolve([{"name": "mails", "files": files, "columns": columns}])[0]


def own(files, **fields):
    """An entry on files of label, tab, text."""
    columns = {"text": 1, "label": 0}
    return {"name": "mails", "files": files, "columns": columns, **fields}


def task_of(source, labels=("a", "b")):
    """A task of one split, `test`."""
    return Task("t", "classification", source, labels, splits={"test": "all"})
