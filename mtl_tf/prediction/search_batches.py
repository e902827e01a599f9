"""Divides texts into the batches of a search."""

from collections.abc import Iterator

import numpy as np
from absl import logging

from mtl_tf.core import passes

#: The most texts at once; with ten hypotheses each some 640 rows a step.
AT_ONCE = 64
#: The most tokens at once, with padding, as attention needs memory for each.
CELLS_AT_ONCE = AT_ONCE * 256
# A beam search for a translation of such a text takes some ten seconds.
_LONG = 1000


def by_length(lengths: np.ndarray, doing: str) -> Iterator[np.ndarray]:
    """Yields the indices of texts in batches, from short to long.

    A batch has texts of similar length, because its search continues until the
    last text is done. The log tells now and then how far the texts are.

    Args:
        lengths: integers [n], the tokens of each text.
        doing: what is done with them, for the log, such as "en-de: decoding".

    Yields:
        int64 [rows]; each index occurs once.
    """
    lengths = np.asarray(lengths, int)
    batches = _by_length(lengths)
    yield from passes.logged(batches, doing, total=len(lengths))


def tell_long(lengths: np.ndarray, doing: str) -> None:
    """Tells of long texts, whose search may take minutes.

    The log can tell nothing within a search.

    Args:
        lengths, doing: as for `by_length`.
    """
    lengths = np.asarray(lengths, int)
    if long := int(np.sum(lengths >= _LONG)):
        logging.info(
            "%s: %s of %s texts have %s tokens or more, the longest %s: it may "
            "take minutes",
            doing,
            *(f"{n:,}" for n in (long, len(lengths), _LONG, lengths.max())),
        )


def _by_length(lengths: np.ndarray) -> Iterator[np.ndarray]:
    order, start = np.argsort(lengths, kind="stable"), 0
    while start < len(order):
        some = order[start : start + AT_ONCE]
        # With padding to the last text; the value never falls.
        cells = lengths[some] * np.arange(1, len(some) + 1)
        rows = some[: max(1, int(np.sum(cells <= CELLS_AT_ONCE)))]
        start += len(rows)
        yield rows
