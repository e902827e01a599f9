"""Length buckets: few padded lengths, so that XLA compiles few shapes."""

from collections.abc import Sequence

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

# The dynamic program is quadratic in the number of candidate boundaries.
_MOST_CANDIDATES = 1024


def choose_boundaries(
    lengths: np.ndarray, count: int, max_length: int = 0, multiple: int = 8
) -> list[int]:
    """Chooses the padded lengths that need the least padding.

    An example is padded to the first boundary that is not below its length.
    Among all sets of at most `count` multiples of `multiple`, the returned one
    has the least total padding over `lengths` (dynamic programming over the
    histogram of lengths). Where the lengths spread over more than 1024
    multiples, `multiple` is doubled until they do not.

    Args:
        lengths: integers [examples], in tokens.
        count: the most boundaries, >= 1.
        max_length: lengths are cut here, and no boundary lies above (0: no
            cut).
        multiple: boundaries are multiples of it (or `max_length` itself), so
            that different data share shapes.

    Returns:
        Increasing boundaries; the last is not below any length after the cut.

    Raises:
        ConfigError: a wrong `count`, `max_length` or `multiple`, or no lengths.
    """
    checks.positive_integer("buckets", count)
    checks.not_negative_integer("max_length", max_length)
    checks.positive_integer("multiple", multiple)
    lengths = _cut(lengths, max_length)
    candidates = _candidates(lengths, max_length, multiple)
    slots = np.searchsorted(candidates, lengths)
    examples = np.bincount(slots, minlength=len(candidates))
    return [int(candidates[i]) for i in _cheapest(candidates, examples, count)]


def make_boundaries(
    buckets: int | Sequence[int], lengths: np.ndarray, max_length: int = 0
) -> list[int]:
    """Boundaries from a config's `pipeline.buckets`.

    Args:
        buckets: how many to choose, or the boundaries themselves.
        lengths: integers [examples], the training texts' lengths in tokens.
        max_length: where texts are cut (0: no cut).

    Returns:
        Increasing boundaries.

    Raises:
        ConfigError: the boundaries do not increase, or a text is longer.
    """
    if isinstance(buckets, (int, float)):
        return choose_boundaries(lengths, buckets, max_length)
    boundaries = check_boundaries(buckets)
    longest = int(_cut(lengths, max_length).max())
    if boundaries[-1] < longest:
        raise ConfigError(
            f"pipeline.buckets ends at {boundaries[-1]}, but the longest text "
            f"has {longest} tokens: add a bucket of {longest} or set "
            f"text.max_length to {boundaries[-1]}"
        )
    return boundaries


def check_boundaries(boundaries: Sequence[int]) -> list[int]:
    """Returns `boundaries` as a list.

    Raises:
        ConfigError: unless they are positive integers that increase.
    """
    try:
        values = [int(value) for value in boundaries]
        whole = all(a == b for a, b in zip(values, boundaries))
    except (TypeError, ValueError):
        values, whole = [], False
    pairs = zip([0] + values, values)
    if not whole or not values or not all(a < b for a, b in pairs):
        raise ConfigError(
            "pipeline.buckets must be a positive integer or a list of "
            f"increasing lengths such as [50, 100, 400], got {boundaries!r}"
        )
    return values


def extend_boundaries(boundaries: Sequence[int], longest: int) -> list[int]:
    """Doubles the last boundary until no text up to `longest` lies above.

    Texts to score may be longer than every training text; doubling keeps the
    number of new shapes small.
    """
    boundaries = list(boundaries)
    while boundaries[-1] < longest:
        boundaries.append(2 * boundaries[-1])
    return boundaries


def bucket_of(lengths: np.ndarray, boundaries: Sequence[int]) -> np.ndarray:
    """The index of the first boundary that is not below each length.

    Args:
        lengths: integers [examples], none above the last boundary.
        boundaries: increasing lengths.

    Returns:
        int32 [examples].
    """
    return np.searchsorted(boundaries, lengths).astype(np.int32)


def padding_share(lengths: np.ndarray, boundaries: Sequence[int]) -> float:
    """The share of padded cells when each length goes into its bucket.

    Rows that fill a last batch are not counted: `BatchPlan.padding_share`
    counts them.
    """
    cells = np.asarray(boundaries, np.int64)[bucket_of(lengths, boundaries)]
    return 1.0 - float(np.sum(lengths)) / max(float(np.sum(cells)), 1.0)


def _cut(lengths: np.ndarray, max_length: int) -> np.ndarray:
    lengths = np.asarray(lengths, np.int64)
    if not lengths.size:
        raise ConfigError("there are no examples to choose buckets for")
    return np.minimum(lengths, max_length) if max_length else lengths


def _candidates(
    lengths: np.ndarray, max_length: int, multiple: int
) -> np.ndarray:
    """The rounded lengths that occur; the best boundaries are among them."""
    while True:
        rounded = np.maximum(-(-lengths // multiple), 1) * multiple
        if max_length:
            rounded = np.minimum(rounded, max_length)
        candidates = np.unique(rounded)
        if len(candidates) <= _MOST_CANDIDATES:
            return candidates
        multiple *= 2


def _cheapest(
    candidates: np.ndarray, examples: np.ndarray, count: int
) -> list[int]:
    """Indices of the candidates with the fewest cells (tokens and padding).

    `cells[j]`: the fewest cells for the examples up to candidate j with j as
    the last of exactly as many boundaries as rounds went by. Every candidate
    has examples, so each further boundary saves cells.
    """
    total = np.cumsum(examples).astype(np.float64)  # exact up to 2^53
    cells = total * candidates
    step = (total[None, :] - total[:, None]) * candidates[None, :]
    step[np.tril_indices(len(total))] = np.inf
    before = []
    for _ in range(min(count, len(candidates)) - 1):
        through = cells[:, None] + step
        before.append(np.argmin(through, axis=0))
        cells = np.min(through, axis=0)
    chosen = [len(candidates) - 1]
    for previous in reversed(before):
        chosen.append(int(previous[chosen[-1]]))
    return chosen[::-1]
