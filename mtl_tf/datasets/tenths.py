"""Draws a tenth of a corpus that has no official split."""

from collections.abc import Sequence
from typing import TypeVar

from mtl_tf.core import random
from mtl_tf.core.errors import DataError

_PART = 10  # one in ten
_Row = TypeVar("_Row")


def draw_tenth(
    rows: Sequence[_Row], counted: str, split: str, *key: str
) -> tuple[list[_Row], list[_Row]]:
    """The rows that remain and those that are drawn, both in order.

    The draw depends only on the number of rows, the split and the key. So
    everybody with the files draws the same rows.

    Args:
        rows: the rows.
        counted: the place and number of the rows, for the message.
        split: the split that the drawn rows become.
        key: the corpus, and a part of it.

    Raises:
        DataError: there are fewer than ten rows.
    """
    number = len(rows) // _PART
    if not number:
        raise DataError(
            f"{counted}, of which a tenth is the {split} split; at least "
            f"{_PART} are needed"
        )
    order = random.generator(0, split, *key).permutation(len(rows))
    drawn = set(order[:number].tolist())
    return (
        [row for i, row in enumerate(rows) if i not in drawn],
        [rows[i] for i in sorted(drawn)],
    )
