import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.batches import (
    BatchPlan,
    evaluation_batches,
    training_dataset,
)
from tests.pipelines.helpers import (
    as_numpy,
    assert_same_batches,
    make_split,
    padding_share,
    random_split,
)

BOUNDARIES = [4, 8, 16]
SPLITS = [
    random_split("books", 61, 16),
    random_split("dvd", 30, 16),
    random_split("mr", 7, 5),
]
every = pytest.mark.parametrize(
    "mixing", ["uniform", "shuffled_rounds", "joint"]
)
shapes = pytest.mark.parametrize("static_shapes", [True, False])


def make_plan(mixing="shuffled_rounds", splits=SPLITS, **options):
    options = {"batch_size": 4, "boundaries": BOUNDARIES, "seed": 0} | options
    return BatchPlan(splits, mixing_config=mixing, **options)


def one_epoch(plan):
    return training_dataset(plan, stop_step=plan.steps_per_epoch)


def check_rows(batch, splits, rows, tasks):
    """Every cell is the one its row says, padding and filler are 0."""
    for group, task in enumerate(tasks):
        for place, row in enumerate(rows[group]):
            tokens = batch["tokens"][group, place]
            length = splits[task].lengths[row] if row >= 0 else 0
            expected = 1000 * row + 1 + np.arange(length)
            np.testing.assert_array_equal(tokens[:length], expected)
            assert not tokens[length:].any()
            assert batch["weight"][group, place] == (row >= 0)
            label = splits[task].columns["label"][row] if row >= 0 else 0
            assert batch["label"][group, place] == label


@every
@shapes
def test_steps_do_not_depend_on_where_one_starts(mixing, static_shapes):
    one, other = (
        make_plan(mixing, static_shapes=static_shapes) for _ in range(2)
    )
    whole = one.steps(10, 400)
    later, earlier = other.steps(123, 400), other.steps(10, 123)
    for all_, first, second in zip(whole, earlier, later):
        np.testing.assert_array_equal(all_, np.concatenate([first, second]))
    assert [field.dtype for field in whole] == [np.int32] * 4


@pytest.mark.by_default("uniform-True")
@pytest.mark.parametrize(
    "mixing, static_shapes",
    [("uniform", True), ("shuffled_rounds", False), ("joint", True)],
)
def test_a_data_set_from_step_k_is_the_tail_of_the_one_from_0(
    mixing, static_shapes
):
    plan = make_plan(mixing, static_shapes=static_shapes)
    whole = as_numpy(training_dataset(plan, 0, stop_step=300))
    assert [b["step"] for b in whole] == list(range(300))
    for start in (254, 255, 256, 299):
        tail = as_numpy(training_dataset(plan, start, stop_step=300))
        assert_same_batches(tail, whole[start:])


@every
@shapes
def test_batches_hold_the_rows_of_the_plan(mixing, static_shapes):
    plan = make_plan(mixing, static_shapes=static_shapes)
    steps = plan.steps(0, 60)
    batches = as_numpy(training_dataset(plan, 0, stop_step=60))
    for batch, tasks, length, rows, size in zip(batches, *steps):
        assert size == 4
        np.testing.assert_array_equal(batch["task"], tasks)
        if static_shapes:
            assert batch["tokens"].shape == (len(tasks), 4, length)
        else:
            rows = rows[:, np.any(rows >= 0, axis=0)]
            sizes = [SPLITS[t].lengths[r[r >= 0]] for t, r in zip(tasks, rows)]
            longest = max(1, max(s.max(initial=0) for s in sizes))
            assert batch["tokens"].shape == (*rows.shape, longest)
        check_rows(batch, SPLITS, rows, tasks)
        real = np.sum(rows >= 0, axis=1)
        np.testing.assert_array_equal(batch["normalizer"], np.maximum(real, 1))


@every
def test_the_spec_is_the_contract(mixing):
    plan = make_plan(mixing)
    groups = 3 if mixing == "joint" else 1
    assert plan.groups == groups
    spec = training_dataset(plan, replicas=2).element_spec
    assert spec == {
        "task": tf.TensorSpec([groups], tf.int32),
        "tokens": tf.TensorSpec([groups, 2, None], tf.int32),
        "label": tf.TensorSpec([groups, 2], tf.int32),
        "weight": tf.TensorSpec([groups, 2], tf.float32),
        "normalizer": tf.TensorSpec([groups], tf.float32),
        "step": tf.TensorSpec([], tf.int64),
    }


@pytest.mark.by_default("joint-2")
@pytest.mark.parametrize(
    "mixing, replicas", [("uniform", 2), ("shuffled_rounds", 4), ("joint", 2)]
)
def test_pieces_of_the_replicas_make_up_the_global_batch(mixing, replicas):
    plan = make_plan(mixing)
    whole = as_numpy(training_dataset(plan, 3, stop_step=280))
    pieces = as_numpy(training_dataset(plan, 3, replicas, stop_step=280))
    assert len(pieces) == replicas * len(whole)
    for number, batch in enumerate(whole):
        parts = pieces[number * replicas : (number + 1) * replicas]
        for key in ("tokens", "label", "weight"):
            joined = np.concatenate([part[key] for part in parts], axis=1)
            np.testing.assert_array_equal(joined, batch[key])
        for key in ("task", "normalizer", "step"):
            for part in parts:
                np.testing.assert_array_equal(part[key], batch[key])


@pytest.mark.extended
@pytest.mark.parametrize("mixing", ["uniform", "joint"])
def test_workers_get_their_pieces_of_the_same_steps(mixing):
    plan = make_plan(mixing)
    pieces = as_numpy(training_dataset(plan, 3, 4, stop_step=280))
    for part in (range(0, 2), range(2, 4), range(3, 4)):
        own = as_numpy(training_dataset(plan, 3, 4, 280, part))
        wanted = [p for n, p in enumerate(pieces) if n % 4 in part]
        assert len(own) == len(wanted)
        for piece, other in zip(own, wanted):
            assert piece.keys() == other.keys()
            for key, value in piece.items():
                np.testing.assert_array_equal(value, other[key])


@shapes
def test_an_epoch_of_algorithm_1_sees_every_example_once(static_shapes):
    plan = make_plan(static_shapes=static_shapes)
    assert plan.steps_per_epoch == plan.batches_per_task.sum()
    for epoch in range(3):
        start = epoch * plan.steps_per_epoch
        steps = plan.steps(start, start + plan.steps_per_epoch)
        for task, split in enumerate(SPLITS):
            rows = steps.rows[steps.tasks[:, 0] == task]
            assert len(rows) == plan.batches_per_task[task]
            assert sorted(rows[rows >= 0]) == list(range(len(split)))


def test_a_task_goes_through_its_epochs_under_a_random_mixing():
    plan = make_plan("uniform")
    steps = plan.steps(0, 500)
    for task, split in enumerate(SPLITS):
        rows = steps.rows[steps.tasks[:, 0] == task]
        count = plan.batches_per_task[task]
        for start in range(0, len(rows) - count, count):
            epoch = rows[start : start + count]
            assert sorted(epoch[epoch >= 0]) == list(range(len(split)))


def test_at_most_one_batch_a_task_and_epoch_has_filler():
    plan = make_plan()
    np.testing.assert_array_equal(plan.batches_per_task, [16, 8, 2])
    steps = plan.steps(0, plan.steps_per_epoch)
    filled = steps.tasks[np.any(steps.rows < 0, axis=(1, 2)), 0]
    np.testing.assert_array_equal(np.sort(filled), [0, 1, 2])
    ragged = make_plan(static_shapes=False)
    np.testing.assert_array_equal(ragged.batches_per_task, [16, 8, 2])
    sizes = [b["tokens"].shape[1] for b in as_numpy(one_epoch(ragged))]
    assert sorted(sizes) == [1, 2, 3] + [4] * 23  # 61, 30 and 7 texts


def test_a_joint_epoch_sees_every_task_whole():
    plan = make_plan("joint")
    start = 2 * plan.steps_per_epoch
    steps = plan.steps(start, start + plan.steps_per_epoch)
    for task, split in enumerate(SPLITS):
        rows = steps.rows[:, task]
        assert set(rows[rows >= 0]) == set(range(len(split)))
    assert plan.steps_per_epoch >= plan.batches_per_task.max()


def test_groups_without_examples_keep_a_divisor():
    splits = [make_split("long", [16] * 8), make_split("short", [2] * 8)]
    plan = make_plan("joint", splits)
    batches = as_numpy(training_dataset(plan, stop_step=plan.steps_per_epoch))
    empty = [b for b in batches if not b["weight"][0].any()]
    assert empty
    assert all(b["normalizer"][0] == 1 for b in empty)


def test_texts_without_tokens_are_all_padding():
    plan = make_plan(splits=[make_split("empty", [0, 0, 0])])
    (batch,) = as_numpy(training_dataset(plan, stop_step=1))
    assert batch["tokens"].shape == (1, 4, 4)
    assert not batch["tokens"].any()
    np.testing.assert_array_equal(np.sort(batch["weight"]), [[0, 1, 1, 1]])


@every
def test_shapes_that_vary_save_padding(mixing):
    fixed, varying = (make_plan(mixing, static_shapes=s) for s in (True, False))
    assert padding_share(varying) < padding_share(fixed)


@every
@shapes
def test_the_cells_of_an_epoch(mixing, static_shapes):
    plan = make_plan(mixing, static_shapes=static_shapes)
    batches = as_numpy(training_dataset(plan, stop_step=plan.steps_per_epoch))
    cells = sum(batch["tokens"].size for batch in batches)
    tokens = sum(np.sum(batch["tokens"] > 0) for batch in batches)
    assert plan.cells(plan.steps_per_epoch) == (tokens, cells)


def test_phases_find_tasks_by_their_names():
    phases = [{"tasks": ["mr"], "epochs": 2}]
    plan = make_plan({"name": "phases", "phases": phases})
    np.testing.assert_array_equal(plan.steps(0, 4).tasks, [[2]] * 4)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"batch_size": 0}, "pipeline.batch_size must be a positive integer"),
        ({"batch_size": 2.5}, "pipeline.batch_size must be a positive integer"),
        ({"boundaries": [8, 4]}, "list of increasing lengths"),
        ({"boundaries": [4, 8]}, "'books' has a text of 16 tokens.* ends at 8"),
        ({"splits": []}, "no tasks to train"),
        ({"splits": [make_split("dvd", [])]}, "'dvd' has no training examples"),
        ({"mixing": "round_robbin"}, "did you mean 'round_robin'"),
    ],
)
def test_wrong_plans(options, message):
    with pytest.raises(ConfigError, match=message):
        make_plan(**options)


@pytest.mark.parametrize(
    "replicas, static_shapes, message",
    [
        (3, True, "multiple of the 3 replicas, got 4"),
        (0, True, "replicas must be a positive integer"),
        (2, False, "2 replicas need static shapes"),
    ],
)
def test_wrong_replicas(replicas, static_shapes, message):
    plan = make_plan(static_shapes=static_shapes)
    with pytest.raises(ConfigError, match=message):
        training_dataset(plan, replicas=replicas)


def test_an_uneven_batch_size_is_told_as_it_was_given():
    plan = make_plan(parts=2)  # 8 rows are computed, 4 at once
    with pytest.raises(ConfigError, match="of the 3 replicas, got 4"):
        training_dataset(plan, replicas=3)


def test_evaluation_sees_every_row_once_from_short_to_long():
    split = SPLITS[0]
    batches = as_numpy(evaluation_batches(split, 5, 8, BOUNDARIES))
    rows = np.concatenate([b["row"][0] for b in batches])
    assert sorted(rows[rows >= 0]) == list(range(len(split)))
    assert np.sum(rows < 0) == 3
    lengths = [b["tokens"].shape[2] for b in batches]
    assert lengths == sorted(lengths) and set(lengths) <= set(BOUNDARIES)
    for batch in batches:
        np.testing.assert_array_equal(batch["task"], [5])
        check_rows(batch, [split], batch["row"], [0])
        real = np.sum(batch["row"] >= 0)
        np.testing.assert_array_equal(batch["normalizer"], [real])


def test_evaluation_batches_have_the_spec_of_training_batches():
    training = training_dataset(make_plan()).element_spec
    for batch in evaluation_batches(SPLITS[0], 0, 4, BOUNDARIES):
        assert batch.pop("row").dtype == tf.int32
        assert batch.keys() == training.keys()
        for name, value in batch.items():
            assert value.dtype == training[name].dtype, name
            assert training[name].shape.is_compatible_with(value.shape), name


def test_batches_can_be_trimmed_to_their_longest_texts():
    split = make_split("short", [0, 3, 5, 6, 0, 1])
    batches = as_numpy(evaluation_batches(split, 0, 2, BOUNDARIES, trim=True))
    assert [b["tokens"].shape[2] for b in batches] == [1, 3, 6]
    for batch in batches:
        check_rows(batch, [split], batch["row"], [0])
    whole = as_numpy(evaluation_batches(split, 0, 2, BOUNDARIES))
    for short, long in zip(batches, whole, strict=True):
        np.testing.assert_array_equal(short["row"], long["row"])


def test_evaluation_of_texts_longer_than_all_buckets():
    split = make_split("long", [3, 100, 0])
    batches = as_numpy(evaluation_batches(split, 0, 2, BOUNDARIES))
    assert [b["tokens"].shape[2] for b in batches] == [4, 128]
    assert np.sum(batches[1]["tokens"] > 0) == 100


def test_one_huge_text_does_not_pad_a_batch_to_its_length():
    split = make_split("huge", [100_000, *range(1, 71), 30_000])
    batches = as_numpy(evaluation_batches(split, 0, 64, BOUNDARIES))
    shapes = [b["tokens"].shape for b in batches]
    assert [shape[1] for shape in shapes] == [64, 64, 4, 1]
    assert all(rows * length <= 2**17 for _, rows, length in shapes)
    assert [b["row"].shape for b in batches] == [s[:2] for s in shapes]
    rows = np.concatenate([b["row"][0] for b in batches])
    assert sorted(rows[rows >= 0]) == list(range(72))
    for batch in batches:
        check_rows(batch, [split], batch["row"], [0])


def test_evaluation_of_an_empty_split_and_of_texts_without_labels():
    assert as_numpy(evaluation_batches(make_split("", []), 0, 2, [4])) == []
    split = make_split("new", [3, 2])
    del split.columns["label"]
    (batch,) = as_numpy(evaluation_batches(split, 0, 4, [4]))
    assert "label" not in batch
    np.testing.assert_array_equal(batch["row"], [[1, 0, -1, -1]])
