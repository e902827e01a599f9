"""What a model of a task type has to beat."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit
from mtl_tf.prediction import task_types
from mtl_tf.prediction.prediction_type import TaskDict


class Yardstick:
    """The answers that need no learning to speak of; by default none.

    Attributes:
        linear: whether the linear baseline knows such tasks.
        numbers: whether it gives them numbers, in place of labels.
    """

    linear = False
    numbers = False

    def majority(
        self, task: TaskDict, train: EncodedSplit, split: EncodedSplit
    ) -> Sequence[Any] | np.ndarray | None:
        """Predictions that are made of how often what is right.

        Args:
            task: as a run knows it.
            train: its training examples, encoded; at least one.
            split: what is predicted.

        Returns:
            As the task's type scores them; None where it has no such thing.
        """
        del task, train, split


class CommonLabel(Yardstick):
    """The most frequent label of the training examples, for every text."""

    def majority(self, task, train, split):
        """See the class."""
        labels = task_types.of(task["type"]).encoded_targets(task, train)
        common = np.bincount(np.asarray(labels)).argmax()
        return np.full(len(split), common)


class Mean(Yardstick):
    """The mean of the training examples' values, and a linear regression."""

    linear = True
    numbers = True

    def majority(self, task, train, split):
        """See the class."""
        values = task_types.of(task["type"]).encoded_targets(task, train)
        return np.full(len(split), np.mean(values))


class CommonLabels(Yardstick):
    """The labels that more than half of the training examples have."""

    def majority(self, task, train, split):
        """See the class."""
        labels = task_types.of(task["type"]).encoded_targets(task, train)
        common = np.mean(labels, axis=0) > 0.5
        return np.tile(common, [len(split), 1])


class CommonTag(Yardstick):
    """Each word's most frequent tag of the training sentences.

    A word that they do not have gets the tag that most words have which occur
    once: they are what unknown words are like.
    """

    def majority(self, task, train, split):
        """See the class."""
        tokens, tokens_of_split = _words([train, split])
        tags = train.columns["tags"]
        width = max(int(c.values.max(initial=0)) + 1 for c in (tokens, tags))
        pairs = tokens.values.astype(np.int64) * width + tags.values
        distinct, counts = np.unique(pairs, return_counts=True)
        words = distinct // width
        order = np.lexsort((-counts, words))
        words, first = np.unique(words[order], return_index=True)
        best = (distinct[order] % width)[first]
        seen = np.bincount(tokens.values)
        once = seen[tokens.values] == 1
        rare = tags.values[once] if once.any() else tags.values
        unknown = np.bincount(rare).argmax() if rare.size else 0
        rows_of_words = np.searchsorted(words, tokens_of_split.values).clip(
            0, len(words) - 1
        )
        is_known = words[rows_of_words] == tokens_of_split.values
        tags_of_words = np.where(is_known, best[rows_of_words], unknown)
        rows = Column(tags_of_words, tokens_of_split.offsets)
        return [rows[number] for number in range(len(rows))]


def _words(splits: Sequence[EncodedSplit]) -> list[Column]:
    """Each word of some splits as a number, the same for equal words.

    The pieces of a word of a pretrained encoder get one, and its special
    piece at the end of every text belongs to none.
    """
    if "words" not in splits[0].columns:
        return [split.columns["tokens"] for split in splits]
    numbers: dict[bytes, int] = {}
    columns = []
    for split in splits:
        words, tokens = split.columns["words"], split.columns["tokens"]
        values = []
        for example in range(len(tokens)):
            pieces = tokens[example]
            ends = [*words[example][1:], len(pieces) - 1]
            for start, end in zip(words[example], ends):
                word = pieces[start:end].tobytes()
                values.append(numbers.setdefault(word, len(numbers)))
        columns.append(Column(np.array(values, np.int64), words.offsets))
    return columns
