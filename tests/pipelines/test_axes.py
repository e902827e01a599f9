"""Examples with three time axes, all the way: question, context, answer."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.random import generator
from mtl_tf.pipelines.batches import (
    BatchPlan,
    evaluation_batches,
    training_dataset,
)
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit, alike
from mtl_tf.pipelines.examples.example_store import ExampleStore
from mtl_tf.pipelines.schedule import buckets
from mtl_tf.pipelines.schedule.epoch_order import batch_sizes
from tests.pipelines.helpers import (
    as_numpy,
    assert_same_batches,
    bucket_padding,
)

AXES = ("question", "context", "answer")
KEYS = ("tokens", "context_tokens", "answer")
STEPS = 120
BUDGET = 900


def ragged(lengths, axis, first):
    """Items that tell their column, row and place."""
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    rows = [first + 100 * n + np.arange(m) for n, m in enumerate(lengths)]
    values = np.concatenate([np.zeros(0), *rows]).astype(np.int32)
    return Column(values, offsets, axis)


def split_of(name, lengths):
    lengths = np.asarray(lengths)
    columns = {
        key: ragged(lengths[:, n], axis, 1_000_000 * (n + 1))
        for n, (key, axis) in enumerate(zip(KEYS, AXES))
    }
    # A second column of the last axis, and one without any.
    answer = columns["answer"]
    columns["marks"] = Column(-answer.values, answer.offsets, "answer")
    labels = np.arange(len(lengths), dtype=np.int32)
    return EncodedSplit(name, columns | {"label": Column(labels)})


def drawn_split(name, size):
    draw = generator(3, name)
    lengths = [draw.integers(1, top, size) for top in (12, 90, 30)]
    return split_of(name, np.stack(lengths, axis=1))


SPLITS = [drawn_split("squad", 90), drawn_split("news", 37)]
LENGTHS = np.concatenate([split.lengths for split in SPLITS])
BOXES = buckets.make_boundaries(4, LENGTHS, axes=AXES)


def make_plan(**options):
    arguments = {"batch_size": 8, "mixing_config": {"name": "uniform"}}
    arguments |= {"boundaries": BOXES, "seed": 5, **options}
    return BatchPlan(SPLITS, **arguments)


def row_in(cells):
    """The items of a padded row."""
    return cells[cells != 0].tolist()


def test_an_example_has_a_length_on_each_axis():
    split = split_of("t", [[1, 5, 2], [0, 7, 3]])
    assert split.axes == AXES
    assert split.lengths.tolist() == [[1, 5, 2], [0, 7, 3]]
    assert split.select([1]).axes == AXES
    assert split.select([1]).lengths.tolist() == [[0, 7, 3]]
    joined = Column.join([split.columns["answer"]] * 2)
    assert (joined.axis, joined.lengths.tolist()) == ("answer", [2, 3, 2, 3])


def test_boxes_rise_on_every_axis_and_hold_all():
    boxes = np.array(BOXES)
    assert boxes.shape == (4, 3)
    assert np.diff(boxes, axis=0).min() >= 0
    assert (boxes % 4 == 0).all()
    chosen = buckets.bucket_of(LENGTHS, BOXES)
    assert (boxes[chosen] >= LENGTHS).all()
    before = boxes[np.maximum(chosen - 1, 0)] - LENGTHS
    assert np.all((before.min(axis=1) < 0) | (chosen == 0))
    shares = [
        bucket_padding(LENGTHS, buckets.choose_boxes(LENGTHS, n))
        for n in (1, 2, 4, 16)
    ]
    assert shares == sorted(shares, reverse=True) and shares[-1] < shares[0]


def test_boxes_by_hand():
    made = buckets.make_boundaries([40, 100], LENGTHS, axes=AXES)
    assert made == [[40] * 3, [100] * 3]
    given = [[8, 40, 16], [12, 100, 32]]
    assert buckets.make_boundaries(given, LENGTHS, axes=AXES) == given
    longer = buckets.extend_boundaries(given, [12, 101, 3])
    assert longer == [*given, [12, 200, 32]]
    longer = buckets.extend_boundaries(given, [12, 100, 120])
    assert longer == [*given, [12, 100, 64], [12, 100, 128]]
    with pytest.raises(ConfigError) as error:
        buckets.make_boundaries([[8, 40, 16]], LENGTHS, axes=AXES)
    longest = LENGTHS.max(axis=0)
    assert (
        f"ends at [8, 40, 16], but the longest question has {longest[0]} "
        f"tokens and the longest context has {longest[1]} tokens and the "
        f"longest answer has {longest[2]} tokens"
    ) in str(error.value)


@pytest.mark.parametrize(
    ("boundaries", "lengths", "message"),
    [
        ([[8, 90]], LENGTHS, "2 lengths in each bucket, but .* 3: question, c"),
        ([[8, 90, 9, 9]], LENGTHS, "has 4 lengths in each bucket, but the"),
        ([[20, 20]], np.array([3, 4]), "has 2 lengths .* have 1: text"),
    ],
)
def test_boxes_of_another_number_of_axes(boundaries, lengths, message):
    axes = AXES if np.ndim(lengths) == 2 else ("text",)
    with pytest.raises(ConfigError, match=message):
        buckets.make_boundaries(boundaries, lengths, axes=axes)


def test_the_boxes_of_some_axes():
    boxes = [[4, 8, 4], [4, 12, 8], [8, 12, 8]]
    assert buckets.of_axes(boxes, [0]) == [4, 8]
    assert buckets.of_axes(boxes, [1]) == [8, 12]
    assert buckets.of_axes(boxes, [0, 1]) == [[4, 8], [4, 12], [8, 12]]
    assert buckets.of_axes(boxes, [1, 2]) == [[8, 4], [12, 8]]
    assert buckets.of_axes(boxes, [0, 1, 2]) == boxes
    assert buckets.of_axes([5, 9], [0]) == [5, 9]


def test_a_budget_counts_the_cells_of_all_axes():
    assert batch_sizes([[8, 40, 16], [12, 100, 32]], 64, 640).tolist() == [8, 4]
    with pytest.raises(ConfigError, match="144 tokens .* got 143"):
        batch_sizes([[12, 100, 32]], 64, 143)
    for sizes in ((2**20 + 1, 0), (64, 64 * 2**20 + 1), (2**62, 0)):
        with pytest.raises(ConfigError, match="must be at most [0-9,]+, got "):
            batch_sizes([[8, 40, 16], [12, 100, 32]], *sizes)
    plan = make_plan(tokens_per_batch=BUDGET)
    expected = [BUDGET // sum(box) for box in BOXES]
    expected = [size // 8 * 8 if size > 8 else size for size in expected]
    assert plan.batch_sizes.tolist() == expected


def test_the_store_pads_each_axis_to_its_own_length():
    store = ExampleStore(SPLITS)
    rows = tf.constant([[3, -1], [0, 36]])
    batch = store.gather(tf.constant([0, 1]), rows, tf.constant([12, 90, 30]))
    shapes = {key: value.shape.as_list() for key, value in batch.items()}
    assert shapes == {
        "tokens": [2, 2, 12],
        "context_tokens": [2, 2, 90],
        "answer": [2, 2, 30],
        "marks": [2, 2, 30],
        "label": [2, 2],
    }
    for key in KEYS:
        cells = batch[key].numpy()
        assert row_in(cells[0, 0]) == SPLITS[0].columns[key][3].tolist()
        assert not cells[0, 1].any()
        assert row_in(cells[1, 1]) == SPLITS[1].columns[key][36].tolist()
    np.testing.assert_array_equal(batch["marks"], -batch["answer"])
    free = store.gather(tf.constant([0, 1]), rows, None)
    for n, key in enumerate(KEYS):
        drawn = [SPLITS[0].lengths[3], *SPLITS[1].lengths[[0, 36]]]
        assert free[key].shape[2] == max(length[n] for length in drawn)


@pytest.mark.by_default("0-True", "900-False")
@pytest.mark.parametrize("static_shapes", [True, False])
@pytest.mark.parametrize("budget", [0, BUDGET])
def test_batches_of_three_axes(static_shapes, budget):
    plan = make_plan(static_shapes=static_shapes, tokens_per_batch=budget)
    whole = as_numpy(training_dataset(plan, 0, stop_step=STEPS))
    seen = [[], []]
    for batch, size in zip(whole, plan.steps(0, STEPS).sizes):
        real = batch["weight"][0] > 0
        shape = [batch[key].shape[2] for key in KEYS]
        if static_shapes:
            assert shape in BOXES and len(real) == size
        else:
            assert all(batch[key][0].any(axis=0).all() for key in KEYS)
        if budget:
            assert sum(batch[key].size for key in KEYS) <= budget
        assert batch["normalizer"] == real.sum() > 0
        task = int(batch["task"][0])
        for place in np.flatnonzero(real):
            row = int(batch["label"][0, place])
            seen[task].append(row)
            for key in (*KEYS, "marks"):
                expected = SPLITS[task].columns[key][row].tolist()
                assert row_in(batch[key][0, place]) == expected
        assert not any(batch[key][0][~real].any() for key in KEYS)
    for split, rows in zip(SPLITS, seen):
        assert set(rows) == set(range(len(split)))
    later = as_numpy(training_dataset(plan, 57, stop_step=STEPS))
    assert_same_batches(later, whole[57:])


@pytest.mark.parametrize("static_shapes", [True, False])
@pytest.mark.parametrize("budget", [0, BUDGET])
def test_cells_of_three_axes(static_shapes, budget):
    plan = make_plan(
        static_shapes=static_shapes,
        tokens_per_batch=budget,
        mixing_config={"name": "shuffled_rounds"},
    )
    steps = plan.steps_per_epoch
    cells = tokens = 0
    for batch in as_numpy(training_dataset(plan, 0, stop_step=steps)):
        cells += sum(batch[key].size for key in KEYS)
        tokens += sum(np.sum(batch[key] > 0) for key in KEYS)
    assert tokens == LENGTHS.sum()
    assert plan.cells(steps) == (tokens, cells)


def test_a_text_above_the_last_box():
    boxes = [*BOXES[:-1], [BOXES[-1][0], BOXES[-1][1], 8]]
    with pytest.raises(ConfigError, match="'squad' has a text of"):
        make_plan(boundaries=[boxes[-1]])


@pytest.mark.parametrize(
    "axes",
    [
        subset
        for count in (1, 2, 3)
        for subset in itertools.combinations(AXES, count)
    ],
)
def test_evaluation_on_some_of_the_axes(axes):
    # Some texts are longer than all that were trained on.
    lengths = np.array([[3, 70, 9], [30, 4, 1], [1, 1, 1], [2, 300, 70]])
    split = split_of("squad", lengths)
    keys = [key for key, axis in zip(KEYS, AXES) if axis in axes]
    columns = {key: split.columns[key] for key in keys}
    some = EncodedSplit("squad", columns | {"label": split.columns["label"]})
    assert some.axes == axes
    rows = []
    for batch in as_numpy(evaluation_batches(some, 1, 3, BOXES, AXES)):
        assert batch["task"].tolist() == [1]
        assert set(KEYS) & set(batch) == set(keys)
        for place, row in enumerate(batch["row"][0]):
            for key in keys:
                expected = split.columns[key][row].tolist() if row >= 0 else []
                assert row_in(batch[key][0, place]) == expected
        rows += [row for row in batch["row"][0] if row >= 0]
        width = [batch[key].shape[2] for key in keys]
        places = [AXES.index(axis) for axis in axes]
        allowed = buckets.of_axes(BOXES, places)
        allowed = buckets.extend_boundaries(
            allowed, some.lengths.max(axis=0).tolist()
        )
        assert (width if len(places) > 1 else width[0]) in allowed
    assert sorted(rows) == [0, 1, 2, 3]


def test_evaluation_by_the_splits_own_axes():
    split = SPLITS[1]
    named = as_numpy(evaluation_batches(split, 0, 8, BOXES, AXES))
    assert_same_batches(as_numpy(evaluation_batches(split, 0, 8, BOXES)), named)
    empty = split.select(np.zeros(len(split), bool))
    assert as_numpy(evaluation_batches(empty, 0, 8, BOXES, AXES)) == []


def test_tasks_with_different_axes_train_together():
    sentences = EncodedSplit(
        "words",
        {
            "tokens": ragged([3, 1, 11], "question", 5_000_000),
            "tags": ragged([3, 1, 11], "question", 6_000_000),
        },
    )
    splits = alike([SPLITS[1], sentences])
    assert {split.axes for split in splits} == {AXES}
    lengths = np.concatenate([split.lengths for split in splits])
    boxes = buckets.make_boundaries(3, lengths, axes=AXES)
    plan = BatchPlan(splits, 4, boxes, {"name": "uniform"}, 0)
    tasks = set()
    for batch in as_numpy(training_dataset(plan, stop_step=30)):
        task = int(batch["task"][0])
        tasks.add(task)
        assert batch["tags"].shape == batch["tokens"].shape
        assert batch["marks"].shape == batch["answer"].shape
        if task == 0:
            assert not batch["tags"].any()
        else:
            others = ("context_tokens", "answer", "marks", "label")
            assert not any(batch[key].any() for key in others)
            np.testing.assert_array_equal(
                batch["tags"] > 0, batch["tokens"] > 0
            )
    assert tasks == {0, 1}
    # Evaluation takes the task's own columns.
    own = as_numpy(evaluation_batches(sentences, 1, 2, boxes, AXES))
    assert all("answer" not in batch for batch in own)
