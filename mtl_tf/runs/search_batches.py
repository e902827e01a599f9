"""Which texts a search goes through at once."""

from collections.abc import Iterator

import numpy as np

#: Texts at once: with ten hypotheses each some 640 rows a step.
AT_ONCE = 64
#: Tokens at once, padding too: attention takes memory for each of them.
CELLS_AT_ONCE = AT_ONCE * 256


def by_length(lengths: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the numbers of some texts after the others, from short to long.

    Texts of like length go together: a search goes on until the last of a
    batch is done.

    Args:
        lengths: integers [n], tokens of each text.

    Yields:
        int64 [rows]; in all of them each number once.
    """
    lengths = np.asarray(lengths, int)
    order, start = np.argsort(lengths, kind="stable"), 0
    while start < len(order):
        some = order[start : start + AT_ONCE]
        # Padded to the last one of them; that never falls.
        cells = lengths[some] * np.arange(1, len(some) + 1)
        rows = some[: max(1, int(np.sum(cells <= CELLS_AT_ONCE)))]
        start += len(rows)
        yield rows
