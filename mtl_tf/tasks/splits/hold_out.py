"""Holds out a validation split for sources without one."""

import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import DataError
from mtl_tf.core.random import generator
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import Feature, text_of
from mtl_tf.tasks.source import Source, tell
from mtl_tf.tasks.splits.parts import PartsSource

KEPT = "train without the held-out part"
HELD_OUT = "held-out part of train"
_PART = 10  # one in ten
# Whole groups of examples seldom sum to exactly that number. Accepted are at
# least so much of it, and at most so much of all examples.
_LEAST_OF_IT, _MOST_PART = 0.25, 0.25
_KEY = b"hold out"
# What others call the validation split.
_ALIASES = frozenset(("dev", "devel", "development", "val", "valid", "eval"))


class HoldOutSource(PartsSource):
    """Holds out a tenth of the training split for validation.

    By default, the draw depends on the task's name (or `drawn_by`) and on the
    number of examples. With `features` it depends on the texts alone. Then
    tasks on one table hold out the same rows, mostly even if some rows lack the
    target of one task. Both parts keep the source's order. Other splits are
    unchanged.

    Args:
        source: the source of the splits.
        train: its training split.
        task: the task's name.
        most: the largest number of examples to hold out; 0 for no limit.
        drawn_by: replaces the task's name in the draw. Tasks with equal values
            hold out the same rows. "" for none.
        features: the task's features, if the texts decide the draw.
        together: a text feature; examples with equal values are held out
            together or not at all. If that would hold out more than a quarter,
            examples are drawn one by one, with a warning. "" for none.

    Attributes:
        is_told: whether to tell how many examples are held out.
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
        super().__init__(source, (KEPT, HELD_OUT))
        self._train = train
        self._task = task
        self._most = most
        self._drawn_by = drawn_by or task
        self._features = tuple(features)
        self._together = together
        self.is_told = True

    def whole(self) -> tf.data.Dataset:
        """The training split."""
        return self._source.dataset(self._train)

    def mask(self, part: str) -> np.ndarray:
        """See `PartsSource.mask`."""
        return self._held_out == (part == HELD_OUT)

    def place_in_whole(self, number: int) -> str:
        """See `PartsSource.place_in_whole`."""
        return self._source.place(self._train, number)

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
        mask = _drawn(*self._groups(size), count)
        if mask is None:
            tell(
                f"task {self._task} has too few different {self._together}s to "
                f"hold out whole {self._together}s for validation: some "
                f"validation examples share their {self._together} with "
                "training examples. Give a validation split"
            )
            mask = _drawn(np.arange(size), self._order(size), count)
        if not self.is_told:
            return mask
        held_out = (
            f"task {self._task} has no validation split: {np.sum(mask)} of its "
            f"{size} training examples are held out for validation"
        )
        names = self._source.split_names
        if like := [name for name in names if name.lower() in _ALIASES]:
            tell(
                f"{held_out}. If the split {like[0]!r} is meant for that, call "
                "it validation in the task's entry"
            )
        else:
            tell(held_out, logging.INFO)
        return mask

    def _groups(self, size: int) -> tuple[np.ndarray, np.ndarray]:
        """The group number of each example, and the groups in drawn order.

        Returns:
            int [size]; int [groups].
        """
        if not self._together:
            return np.arange(size), self._order(size)
        keys = self._keys(lambda batch: batch[self._together], size)
        unique, first, inverse = np.unique(
            keys, return_index=True, return_inverse=True
        )
        by_place = np.argsort(first)  # in order of first occurrence
        numbers = np.argsort(by_place)
        if self._features:
            return numbers[inverse], np.argsort(unique[by_place])
        return numbers[inverse], self._by_chance(len(unique))

    def _order(self, size: int) -> np.ndarray:
        """The examples in the order of drawing them one by one, int [size]."""
        if not self._features:
            return self._by_chance(size)
        keys = self._keys(lambda batch: text_of(self._features, batch), size)
        # Copies are drawn separately, so that a frequent text is in both parts.
        keys = _mixed(keys + _mixed(_copies(keys)))
        return np.argsort(keys, kind="stable")

    def _by_chance(self, size: int) -> np.ndarray:
        """The examples in an order drawn by the name, int [size]."""
        draw = generator(0, "hold out", self._drawn_by)
        return draw.permutation(size)

    def _keys(
        self, read: Callable[[dict[str, tf.Tensor]], tf.Tensor], size: int
    ) -> np.ndarray:
        """A key for the text of each example, uint64 [size]."""

        def keys() -> Iterator[int]:
            number = 0
            for batch in batched(self.whole()):
                for text in read(batch).numpy().tolist():
                    # An empty text does not tie examples together.
                    unique = b"%d" % number
                    key = (text, _KEY) if text.strip() else (unique, b"no text")
                    yield text_key(*key)
                    number += 1

        # Eight bytes each, as the texts may not fit into memory.
        return np.fromiter(keys(), np.uint64, size)


def _copies(keys: np.ndarray) -> np.ndarray:
    """The number of equal keys before each key, uint64 [n]."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    places = np.arange(len(keys))
    is_first = np.append(True, ordered[1:] != ordered[:-1])
    copies = np.empty(len(keys), np.uint64)
    copies[order] = places - np.maximum.accumulate(places * is_first)
    return copies


def _mixed(keys: np.ndarray) -> np.ndarray:
    """Mixes keys of 64 bits one to one (splitmix64, Steele 2014)."""
    mixed = keys + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def _drawn(
    groups: np.ndarray, order: np.ndarray, count: int
) -> np.ndarray | None:
    """Selects about `count` examples to hold out, bool [n].

    Args:
        groups: int [n], the group number of each example. Groups stay whole.
        order: the groups in drawn order.
        count: the number of examples.

    Returns:
        None if no group is small enough.
    """
    sizes = np.bincount(groups)
    is_chosen, taken = np.zeros(len(sizes), bool), 0
    for group in order:
        if taken + sizes[group] <= count:
            is_chosen[group] = True
            taken += sizes[group]
            if taken == count:
                break
    if taken < _LEAST_OF_IT * count:
        others = order[~is_chosen[order]]
        smallest = others[np.argmin(sizes[others])]
        if taken + sizes[smallest] > _MOST_PART * len(groups):
            return None
        is_chosen[smallest] = True
    return is_chosen[groups]


def text_key(text: bytes, key: bytes = b"") -> int:
    """A key of 64 bits for a text; white space and case do not count."""
    plain = b" ".join(text.lower().split())
    digest = hashlib.blake2b(plain, digest_size=8, key=key)
    return int.from_bytes(digest.digest(), "little")
