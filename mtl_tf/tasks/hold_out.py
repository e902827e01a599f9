"""A validation split for sources that have none."""

import functools
import hashlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import DataError
from mtl_tf.core.random import generator
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import Feature, text_of
from mtl_tf.tasks.source import Source, tell

KEPT = "train without the held-out part"
HELD_OUT = "held-out part of train"
_PART = 10  # one in ten
_AT_ONCE = 1024


class HoldOutSource(Source):
    """Holds a tenth of the training split out for validation.

    Which examples those are depends on the task's name, or what it is drawn
    by, and on how many examples there are, on nothing else; or on the texts
    alone, so that tasks on one table hold out the same rows of it, mostly also
    where some have no target for one of them. Both parts stay in source order.
    Other splits are those of the source.

    Args:
        source: what to take the splits from.
        train: its training split.
        task: name of the task.
        most: examples to hold out at most; 0 sets no limit.
        drawn_by: a name that stands for the task's in the draw, so that
            tasks with the same one hold out the same places; "" for none.
        features: of the task, where it is drawn by the texts.
        together: the feature that alone decides then: of one value there are
            examples in both parts at most once, where the border is.
    """

    def __init__(
        self,
        source: Source,
        train: str,
        task: str,
        most: int = 0,
        drawn_by: str = "",
        features: Sequence[Feature] = (),
        together: str = "",
    ):
        super().__init__()
        self._source = source
        self._train = train
        self._task = task
        self._most = most
        self._drawn_by = drawn_by or task
        self._features = tuple(f for f in features if together in ("", f.name))
        self._together = together
        # One list: what the source finds later shows here, too.
        self.warnings = source.warnings

    @property
    def split_names(self) -> tuple[str, ...]:
        """The source's splits and the two parts."""
        return (*self._source.split_names, KEPT, HELD_OUT)

    def size(self, split: str) -> int:
        """Returns how many examples `split` has."""
        if split not in (KEPT, HELD_OUT):
            return self._source.size(split)
        return int(np.sum(self._held_out == (split == HELD_OUT)))

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of `split`, in source order."""
        if split not in (KEPT, HELD_OUT):
            return self._source.dataset(split)
        is_in_split = self._held_out == (split == HELD_OUT)
        return select(self._source.dataset(self._train), is_in_split)

    def place(self, split: str, number: int) -> str:
        """See `Source.place`; that of the source."""
        if split not in (KEPT, HELD_OUT):
            return self._source.place(split, number)
        rows = np.flatnonzero(self._held_out == (split == HELD_OUT))
        return self._source.place(self._train, int(rows[number]))

    @functools.cached_property
    def _held_out(self) -> np.ndarray:
        size = self._source.size(self._train)
        if size < 2:
            raise DataError(
                f"task {self._task} has no validation split, and a part of "
                f"its training split cannot be held out: it has {size} example"
            )
        count = max(1, size // _PART)
        count = min(count, self._most or count)
        mask = np.zeros(size, bool)
        mask[self._order(size)[:count]] = True
        tell(
            f"task {self._task} has no validation split: {count} of its {size} "
            "training examples are held out for validation",
            logging.INFO,
        )
        return mask

    def _order(self, size: int) -> np.ndarray:
        """The places of the examples, int [size], in the order of the draw."""
        if not self._features:
            return generator(0, "hold out", self._drawn_by).permutation(size)
        keys: list[int] = []
        copies: Counter[int] = Counter()
        for batch in batched(self._source.dataset(self._train), _AT_ONCE):
            for text in text_of(self._features, batch).numpy().tolist():
                text_key = _key(text)
                if self._together:
                    keys.append(text_key)
                    continue
                # Copies are drawn one by one: a frequent text is not to be
                # missing in one of the parts.
                keys.append(_key(b"%d %d" % (copies[text_key], text_key)))
                copies[text_key] += 1
        return np.argsort(np.array(keys, np.uint64), kind="stable")


def _key(text: bytes) -> int:
    digest = hashlib.blake2b(text, digest_size=8, key=b"hold out")
    return int.from_bytes(digest.digest(), "little")


def select(dataset: tf.data.Dataset, selected: np.ndarray) -> tf.data.Dataset:
    """The elements of `dataset` where bool [n] `selected` holds, in order."""
    size = int(np.sum(selected))
    mask = tf.constant(selected)
    dataset = dataset.enumerate().filter(lambda index, _: mask[index])
    dataset = dataset.map(lambda _, example: example)
    return dataset.apply(tf.data.experimental.assert_cardinality(size))
