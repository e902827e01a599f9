"""The sides of boxes move to where padding is least."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.pipelines.schedule import box_sides, buckets
from tests.pipelines.helpers import bucket_padding


def cells(lengths, boxes):
    """Tokens and padding, every example in the first box that holds it."""
    return sum(
        next(sum(box) for box in boxes if np.all(np.less_equal(row, box)))
        for row in lengths
    )


def drawn(seed, examples, axes, longest=60):
    """Three kinds of examples, each long on other axes."""
    draw = np.random.default_rng(seed)
    tops = draw.integers(1, longest, [3, axes])
    kinds = draw.integers(0, 3, examples)
    return draw.integers(0, tops[kinds] + 1)


def unmoved(lengths, count, multiple=4):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(box_sides, "moved", lambda boxes, *_: boxes.tolist())
        return buckets.choose_boxes(lengths, count, multiple)


several = given(
    seed=st.integers(0, 2**32 - 1),
    examples=st.integers(1, 60),
    axes=st.integers(3, 4),
    count=st.integers(1, 6),
    multiple=st.sampled_from([1, 4, 7]),
)


@settings(deadline=None, max_examples=80)
@several
def test_moved_boxes_are_boxes_and_need_no_more_padding(
    seed, examples, axes, count, multiple
):
    lengths = drawn(seed, examples, axes)
    before = unmoved(lengths, count, multiple)
    boxes = buckets.choose_boxes(lengths, count, multiple)
    assert np.shape(boxes) == np.shape(before)
    assert boxes == buckets.check_boundaries(boxes)  # None falls.
    assert not np.any(np.array(boxes) % multiple)
    assert boxes[-1] == before[-1]
    assert np.all(lengths <= boxes[-1])
    assert cells(lengths, boxes) <= cells(lengths, before)
    assert boxes == buckets.choose_boxes(lengths, count, multiple)


@settings(deadline=None, max_examples=25)
@several
def test_no_side_alone_saves_more(seed, examples, axes, count, multiple):
    lengths = drawn(seed, examples, axes, 24)
    boxes = buckets.choose_boxes(lengths, count, multiple)
    least = cells(lengths, boxes)
    for place, box in enumerate(boxes[:-1]):
        for axis in range(axes):
            low = boxes[place - 1][axis] if place else multiple
            for side in range(low, boxes[place + 1][axis] + 1, multiple):
                other = [*box[:axis], side, *box[axis + 1 :]]
                tried = [*boxes[:place], other, *boxes[place + 1 :]]
                assert cells(lengths, tried) >= least


def test_three_kinds_of_examples_find_their_boxes():
    # In the order of their longest axis the kinds are mixed.
    lengths = np.repeat([[4, 8, 40], [4, 80, 40], [12, 120, 40]], 50, axis=0)
    lengths[::2, 0] -= 2
    start = [[4, 40, 40], [12, 100, 40], [12, 120, 40]]
    moved = box_sides.moved(start, lengths, 4)
    assert moved == [[4, 8, 40], [4, 80, 40], [12, 120, 40]]


def test_lengths_like_those_of_texts_save_a_fifth_of_the_padding():
    draw = np.random.default_rng(0)
    squad = [draw.poisson(11, 1000), draw.gamma(6, 25, 1000), [3] * 1000]
    news = [[8] * 1000, draw.gamma(9, 40, 1000), draw.poisson(50, 1000)]
    lines = [[7] * 1000, draw.poisson(20, 1000), draw.poisson(22, 1000)]
    lengths = np.concatenate([np.array(a).T for a in (squad, news, lines)])
    lengths = lengths.astype(np.int64) + 1
    shares = [
        bucket_padding(lengths, boxes)
        for boxes in (unmoved(lengths, 4), buckets.choose_boxes(lengths, 4))
    ]
    assert shares[1] < 0.8 * shares[0]


def test_fewer_axes_keep_the_buckets_that_runs_have(monkeypatch):
    """Another choice would refuse to go on with runs that have begun."""
    monkeypatch.setattr(box_sides, "moved", None)
    lengths = np.stack([np.arange(300) % 41, np.arange(300) * 7 % 83], axis=1)
    assert buckets.make_boundaries(3, lengths[:, 0]) == [8, 24, 40]
    assert buckets.make_boundaries(3, lengths) == [[20, 40], [32, 64], [40, 84]]
