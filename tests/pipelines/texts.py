"""A task whose labelled texts are tokenised and whose others are not."""

import numpy as np
import tensorflow as tf

from mtl_tf.tasks.task import Source, Task

SPLITS = {
    "train": ["It 's good .", "so , so ."],
    "validation": ["A held-out text ."],
    "test": ["the tested text , here"],
    "unlabelled": [
        "It's raw, too.",
        "A HELD-OUT text.",
        "The tested text here",
    ],
}


class Texts(Source):
    def __init__(self, **splits):
        super().__init__()
        self._splits = splits
        self.read = []

    @property
    def split_names(self):
        return tuple(self._splits)

    def size(self, split):
        return len(self._splits[split])

    def dataset(self, split):
        self.read.append(split)
        texts = self._splits[split]
        labels = np.zeros(len(texts), np.int64)
        return tf.data.Dataset.from_tensor_slices(
            {"text": texts, "label": labels}
        )


def task(name="books", splits=("train", "validation", "test"), **changed):
    source = Texts(**{**SPLITS, **changed})
    return Task(
        name,
        "classification",
        source,
        ("a", "b"),
        splits=dict(zip(*[splits] * 2)),
    )
