"""Moves the sides of boxes of several lengths to save padding."""

import numpy as np

# A dozen rounds are enough for real corpora; each is cheaper than the last.
_MOST_ROUNDS = 100


def moved(
    boxes: np.ndarray, lengths: np.ndarray, multiple: int
) -> list[list[int]]:
    """Moves the sides of boxes, one at a time, to minimise padding.

    A side moves between those of the previous and the next box, so lengths of
    an axis never fall from box to box. The last box keeps its sides. Rounds
    over all sides continue until none of them saves padding.

    Args:
        boxes: integers [boxes, axes], multiples of `multiple`. No side falls,
            no two boxes are equal, and the last one holds all examples.
        lengths: integers [examples, axes].
        multiple: sides stay multiples of it.

    Returns:
        As many boxes, with at most as many cells for the examples.
    """
    boxes = np.array(boxes, np.int64) // multiple
    needed = np.maximum(-(-np.asarray(lengths, np.int64) // multiple), 1)
    needed, counts = np.unique(needed, axis=0, return_counts=True)
    for _ in range(_MOST_ROUNDS):
        before = boxes.copy()
        for axis in range(boxes.shape[1]):
            _move_sides(boxes, axis, needed, counts)
        if np.array_equal(boxes, before):
            break
    return (boxes * multiple).tolist()


def _move_sides(
    boxes: np.ndarray, axis: int, needed: np.ndarray, counts: np.ndarray
) -> None:
    """Moves the sides of one axis in place, box by box."""
    others = np.arange(boxes.shape[1]) != axis
    # The first box that holds an example, if this axis is ignored.
    first = np.zeros(len(needed), np.int64)
    for other in np.flatnonzero(others):
        places = np.searchsorted(boxes[:, other], needed[:, other])
        first = np.maximum(first, places)
    lengths = needed[:, axis]
    for place in range(len(boxes) - 1):
        low = boxes[place - 1, axis] if place else 1
        high, now = boxes[place + 1, axis], boxes[place, axis]
        sides = np.arange(low, high + 1)
        # Up to this side, examples are in this box, and above it in the next.
        either = (first <= place) & (lengths <= high)
        either &= (first == place) | (lengths > (low if place else 0))
        inside = np.bincount(
            np.maximum(lengths[either], low) - low,
            weights=counts[either],
            minlength=len(sides),
        ).cumsum()
        rest = boxes[place, others].sum()
        cells = inside * (rest + sides)
        cells += (inside[-1] - inside) * boxes[place + 1].sum()
        best = np.argmin(cells)
        if cells[best] < cells[now - low]:
            boxes[place, axis] = sides[best]
