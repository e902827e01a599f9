"""Length buckets: few padded lengths, so that XLA compiles few shapes.

For examples with several time axes, such as source and target, a bucket has a
length for each. No length falls from one bucket to the next. So what fits a
bucket fits all later ones, and one order of buckets serves all axes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.pipelines.schedule import box_sides

Boundaries = Sequence[int] | Sequence[Sequence[int]]
#: For all tasks together, or by name for tasks with their own.
TaskBoundaries = Boundaries | Mapping[str, Boundaries]

# The dynamic programme is quadratic in the number of candidates.
_MOST_CANDIDATES = 1024


def choose_boundaries(
    lengths: np.ndarray, count: int, max_length: int = 0, multiple: int = 8
) -> list[int]:
    """Chooses the padded lengths that need the least padding.

    An example is padded to the first boundary that is at least its length. The
    result has the least total padding over `lengths` of all sets of at most
    `count` multiples of `multiple` (dynamic programming over the histogram of
    lengths). If the lengths spread over more than 1024 multiples, `multiple` is
    doubled until they do not.

    Args:
        lengths: integers [examples], in tokens.
        count: the largest number of boundaries, >= 1.
        max_length: lengths are cut here, and no boundary is larger (0: no cut).
        multiple: boundaries are multiples of it (or `max_length` itself), so
            that different data share shapes.

    Returns:
        Increasing boundaries; the last is at least every length after the cut.

    Raises:
        ConfigError: wrong `count`, `max_length` or `multiple`, or no lengths.
    """
    checks.positive_integer("buckets", count)
    checks.not_negative_integer("max_length", max_length)
    checks.positive_integer("multiple", multiple)
    lengths = _cut(lengths, max_length)
    candidates = _candidates(lengths, max_length, multiple)
    slots = np.searchsorted(candidates, lengths)
    examples = np.bincount(slots, minlength=len(candidates))
    return [int(candidates[i]) for i in _cheapest(candidates, examples, count)]


def choose_boxes(
    lengths: np.ndarray, count: int, multiple: int = 4
) -> list[list[int]]:
    """Chooses buckets of several lengths that need little padding.

    Examples are sorted by their longest axis, after scaling the axes to one
    mean. A bucket is the smallest that holds all examples up to some place of
    that order; the places are chosen as in `choose_boundaries`. For three or
    more axes, sides are then moved; see `box_sides`.

    Args:
        lengths: integers [examples, axes].
        count: the largest number of buckets, >= 1.
        multiple: boundaries are multiples of it; doubled until there are at
            most 1024 candidates.

    Returns:
        The lengths of each bucket; none of them falls.

    Raises:
        ConfigError: wrong `count` or `multiple`, or no lengths.
    """
    checks.positive_integer("buckets", count)
    checks.positive_integer("multiple", multiple)
    lengths = _cut(lengths, 0)
    means = np.maximum(lengths.mean(axis=0), 1.0)
    order = np.argsort(np.max(lengths / means, axis=1), kind="stable")
    while True:
        rounded = np.maximum(-(-lengths[order] // multiple), 1) * multiple
        boxes = np.maximum.accumulate(rounded, axis=0)
        boxes, examples = np.unique(boxes, axis=0, return_counts=True)
        if len(boxes) <= _MOST_CANDIDATES:
            chosen = _cheapest(boxes.sum(axis=1), examples, count)
            if boxes.shape[1] < 3:  # Keeps the buckets of runs on pairs.
                return boxes[chosen].tolist()
            return box_sides.moved(boxes[chosen], lengths, multiple)
        multiple *= 2


def make_boundaries(
    buckets: int | Boundaries,
    lengths: np.ndarray,
    max_length: int = 0,
    multiple: int = 0,
    axes: Sequence[str] = ("text",),
) -> list:
    """The boundaries for a config's `pipeline.buckets`.

    Args:
        buckets: the number of boundaries to choose, or the boundaries
            themselves; for several axes, each may be one number for all axes.
        lengths: integers [examples], the training texts' lengths in tokens; for
            several time axes [examples, axes].
        max_length: the length that texts are cut to (0: no cut).
        multiple: chosen boundaries are multiples of it (0: 8, or 4 for several
            axes).
        axes: the names of the time axes, for messages.

    Returns:
        Increasing boundaries.

    Raises:
        ConfigError: boundaries do not increase or have another number of axes,
            or a text is longer.
    """
    several = np.ndim(lengths) == 2
    if isinstance(buckets, (int, float)):
        if several:
            return choose_boxes(lengths, buckets, multiple or 4)
        return choose_boundaries(lengths, buckets, max_length, multiple or 8)
    boundaries = check_boundaries(buckets)
    width = np.shape(boundaries)[1:]
    if width and width != np.shape(lengths)[1:]:
        raise ConfigError(
            f"pipeline.buckets has {width[0]} lengths in each bucket, but the "
            f"examples have {np.size(lengths[0])}: {', '.join(axes)}"
        )
    if several:
        return _check_boxes(boundaries, lengths, axes)
    longest = int(_cut(lengths, max_length).max())
    if boundaries[-1] < longest:
        raise ConfigError(
            f"pipeline.buckets ends at {boundaries[-1]}, but the longest text "
            f"has {longest} tokens: add a bucket of {longest} or set "
            f"text.max_length to {boundaries[-1]}"
        )
    return boundaries


def make_task_boundaries(
    buckets: int, lengths: Mapping[str, np.ndarray], *args: Any
) -> dict[str, list]:
    """The boundaries of each task, for `pipeline.buckets_per_task`.

    Args:
        buckets: the number of boundaries for each task.
        lengths: by task name, as for `make_boundaries`.
        *args: the other arguments of `make_boundaries`.

    Returns:
        Increasing boundaries by task name.

    Raises:
        ConfigError: `buckets` are boundaries, or a task has no lengths.
    """
    if not isinstance(buckets, (int, float)):
        raise ConfigError(
            "pipeline.buckets_per_task chooses boundaries for each task: "
            "pipeline.buckets must be the number of them at most, got "
            f"{buckets!r}"
        )
    return {
        name: make_boundaries(buckets, its_lengths, *args)
        for name, its_lengths in lengths.items()
    }


def of_task(boundaries: TaskBoundaries, name: str) -> list:
    """The boundaries of a task: its own, or those of all tasks.

    Raises:
        ConfigError: other tasks have their own, but this one has not.
    """
    if isinstance(boundaries, Mapping):
        boundaries = look_up(name, boundaries, "task with buckets of its own")
    return check_boundaries(boundaries)


def _check_boxes(
    boundaries: list, lengths: np.ndarray, axes: Sequence[str]
) -> list[list[int]]:
    count = lengths.shape[1]
    boxes = [[b] * count if isinstance(b, int) else b for b in boundaries]
    longest = np.max(lengths, axis=0)
    if np.any(longest > boxes[-1]):
        too_long = [f"{axis} has {n} tokens" for axis, n in zip(axes, longest)]
        raise ConfigError(
            f"pipeline.buckets ends at {boxes[-1]}, but the longest "
            f"{' and the longest '.join(too_long)}: add a bucket, or set "
            "text.max_length and its like"
        )
    return boxes


def check_boundaries(boundaries: Boundaries) -> list:
    """Returns `boundaries` as a list of integers, or of lists of them.

    Raises:
        ConfigError: they are not increasing positive integers, nor lists of
            such, of equal length, in which no axis falls.
    """
    try:
        values = np.array(list(boundaries), np.float64)
    except (TypeError, ValueError):
        values = np.zeros([0])
    # A list of lists of one length is neither of the two.
    right = values.size and values.ndim <= 2 and values.shape[1:] != (1,)
    if right:
        sides = values.reshape(len(values), -1)
        steps = np.diff(sides, axis=0, prepend=0)
        right = (
            np.all(np.isfinite(sides) & (sides == np.floor(sides)))
            and sides.min() > 0
            and steps.min() >= 0
            and steps.max(axis=1).min() > 0
        )
    if not right:
        raise ConfigError(
            "pipeline.buckets must be a positive integer or a list of "
            "increasing lengths such as [50, 100, 400] (for pairs of texts "
            f"also [[20, 20], [40, 50]]), got {boundaries!r}"
        )
    return values.astype(np.int64).tolist()


def extend_boundaries(boundaries: Boundaries, longest: Any) -> list:
    """Doubles the last boundary until every text up to `longest` fits.

    Texts to score may be longer than all training texts. Doubling keeps the
    number of new shapes small. Only the axes on which a text does not fit are
    doubled: with many unknown words, a question's context is not longer.

    Args:
        boundaries: lengths, or lists of lengths.
        longest: the largest length; for lists, that of each axis.
    """
    boundaries = list(boundaries)
    while np.any(np.less(boundaries[-1], longest)):
        last = np.asarray(boundaries[-1])
        longer = np.where(last < longest, 2 * last, last)
        boundaries.append(longer.tolist())
    return boundaries


def of_axes(boundaries: Boundaries, places: Sequence[int]) -> list:
    """The boundaries of only some axes.

    Args:
        boundaries: in any form.
        places: the indices of the axes.

    Returns:
        Lengths of one axis, or lists for several, without repetition.
    """
    boxes = np.asarray(boundaries).reshape(len(boundaries), -1)
    chosen = np.unique(boxes[:, list(places)], axis=0)
    return (chosen[:, 0] if len(places) == 1 else chosen).tolist()


def bucket_of(lengths: np.ndarray, boundaries: Boundaries) -> np.ndarray:
    """The index of the first boundary that is at least each length.

    Args:
        lengths: integers [examples], at most the last boundary; for pairs
            [examples, 2].
        boundaries: increasing lengths, or pairs of lengths.

    Returns:
        int32 [examples].
    """
    lengths, boundaries = np.asarray(lengths), np.asarray(boundaries)
    if lengths.ndim == 1:
        return np.searchsorted(boundaries, lengths).astype(np.int32)
    sides = [bucket_of(a, b) for a, b in zip(lengths.T, boundaries.T)]
    return np.max(sides, axis=0)


def _cut(lengths: np.ndarray, max_length: int) -> np.ndarray:
    lengths = np.asarray(lengths, np.int64)
    if not lengths.size:
        raise ConfigError("there are no examples to choose buckets for")
    return np.minimum(lengths, max_length) if max_length else lengths


def _candidates(
    lengths: np.ndarray, max_length: int, multiple: int
) -> np.ndarray:
    """The rounded lengths that occur; they include the best boundaries."""
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

    `cells[j]` is the fewest cells for the examples up to candidate j, if j is
    the last boundary and their number is that of the rounds so far. Every
    candidate has examples, so each further boundary saves cells.
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
