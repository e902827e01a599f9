"""Columns in files are what they are in memory, whatever becomes of them."""

import json
import os

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import RunError
from mtl_tf.pipelines.batches import (
    BatchPlan,
    evaluation_batches,
    training_dataset,
)
from mtl_tf.pipelines.examples import disk_split
from mtl_tf.pipelines.examples.encoded_split import alike, count_ids, digest_of
from tests.pipelines.helpers import (
    as_numpy,
    assert_same_batches,
    make_split,
    on_disk,
    random_split,
    wide_split,
)


def assert_same_columns(first, second):
    assert list(first.columns) == list(second.columns)
    for key, column in first.columns.items():
        other = second.columns[key]
        assert column.values.dtype == other.values.dtype
        assert column.axis == other.axis
        np.testing.assert_array_equal(column.values, other.values)
        assert (column.offsets is None) == (other.offsets is None)
        if column.offsets is not None:
            np.testing.assert_array_equal(column.offsets, other.offsets)


@pytest.mark.parametrize("lengths", [[3, 0, 5, 1], [0, 0], []])
def test_columns_are_those_of_memory(tmp_path, lengths):
    split = wide_split("a", lengths, 4)
    stored = on_disk(split, tmp_path)
    assert stored.on_disk and len(stored) == len(lengths)
    assert_same_columns(split, stored)
    assert digest_of(split) == digest_of(stored)
    np.testing.assert_array_equal(split.lengths, stored.lengths)


@pytest.mark.parametrize(
    "mixing, static", [("uniform", True), ("uniform", False), ("joint", True)]
)
def test_training_batches_are_those_of_memory(tmp_path, mixing, static):
    # Of different widths, and one lacks what the other has.
    splits = [
        wide_split("a", [3, 0, 5, 1, 7, 2, 2], 4),
        wide_split("b", [2, 6, 1, 1], 2),
        make_split("c", [4, 4, 3, 1, 1]),
    ]
    stored = [on_disk(split, tmp_path) for split in splits]

    def batches(splits):
        plan = BatchPlan(
            alike(splits), 2, [4, 8], {"name": mixing}, 3, static_shapes=static
        )
        return as_numpy(training_dataset(plan, 5, stop_step=40))

    expected = batches(splits)
    assert_same_batches(expected, batches(stored))
    assert_same_batches(expected, batches([splits[0], *stored[1:]]))
    assert {"characters", "vector"} <= expected[0].keys()


def test_shapes_of_batches_are_those_of_memory(tmp_path):
    split = wide_split("a", [3, 1, 5], 4)

    def spec(split):
        plan = BatchPlan([split], 2, [8], "round_robin", 0)
        return training_dataset(plan).element_spec

    assert spec(on_disk(split, tmp_path)) == spec(split)


def test_evaluation_batches_are_those_of_memory(tmp_path):
    split = random_split("a", 50, 30)
    stored = on_disk(split, tmp_path)
    assert_same_batches(
        as_numpy(evaluation_batches(split, 0, 8, [10, 40])),
        as_numpy(evaluation_batches(stored, 0, 8, [10, 40])),
    )


def test_reading_again_after_pages_were_given_back(tmp_path):
    split = random_split("a", 500, 60)
    stored = on_disk(split, tmp_path)
    rows = np.arange(500)
    expected = split.gather(rows, 60)
    for _ in range(40):  # more often than pages are given back
        found = stored.gather(rows, 60)
        np.testing.assert_array_equal(found["tokens"], expected["tokens"])


def test_selected_examples_lie_on_disk_too(tmp_path):
    split = random_split("a", 9000, 5)
    stored = on_disk(split, tmp_path)
    keep = split.lengths > 1
    chosen = stored.select(keep)
    assert chosen.on_disk
    assert_same_columns(split.select(keep), chosen)
    assert stored.select(np.ones(9000, bool)) is stored
    assert len(stored.select(np.zeros(9000, bool))) == 0


def test_ids_are_counted_part_by_part(tmp_path, monkeypatch):
    split = random_split("a", 20, 5)
    ids = split.columns["tokens"].values
    expected = np.bincount(ids, minlength=20000)
    monkeypatch.setattr(
        "mtl_tf.pipelines.examples.encoded_split._ITEMS_AT_ONCE", 7
    )
    np.testing.assert_array_equal(count_ids(split, ids, 20000), expected)
    assert digest_of(on_disk(split, tmp_path)) == digest_of(split)


def test_what_is_there_is_not_written_again(tmp_path):
    split = make_split("a", [3, 2])
    on_disk(split, tmp_path)
    axes = dict.fromkeys(split.columns, "")
    again = disk_split.cached(
        str(tmp_path / "a"), "a", axes, lambda done: 1 / 0
    )
    assert_same_columns(split, again)


def truncate(path):
    with open(path, "r+b") as file:
        file.truncate(max(os.path.getsize(path) - 1, 0))


def flip(path):
    with open(path, "r+b") as file:
        byte = file.read(1)[0]
        file.seek(0)
        file.write(bytes([byte ^ 4]))


FILES = ["tokens.values", "tokens.offsets", "label.values", "columns.json"]


@pytest.mark.parametrize("damage", [truncate, flip, os.unlink])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_folder_is_written_anew(tmp_path, name, damage):
    split = make_split("a", [3, 2])
    on_disk(split, tmp_path)
    damage(tmp_path / "a" / name)
    with pytest.raises(RunError, match=str(tmp_path)):
        disk_split.read(str(tmp_path / "a"), "a")
    assert_same_columns(split, on_disk(split, tmp_path))
    disk_split.read(str(tmp_path / "a"), "a")


def test_a_description_of_something_else_is_refused(tmp_path):
    on_disk(make_split("a", [3, 2]), tmp_path)
    path = tmp_path / "a" / "columns.json"
    for value in ([], {}, {"format": 1, "columns": [1]}, {"format": 2}):
        path.write_text(json.dumps(value))
        with pytest.raises(RunError):
            disk_split.read(str(tmp_path / "a"), "a")


def test_writing_that_fails_leaves_nothing(tmp_path):
    split = make_split("a", [3, 2])

    def parts(done):
        yield split.columns
        raise OSError(28, "No space left on device")

    axes = dict.fromkeys(split.columns, "")
    with pytest.raises(OSError, match="No space"):
        disk_split.cached(str(tmp_path / "a"), "a", axes, parts)
    assert os.listdir(tmp_path) == []


def test_columns_that_the_task_does_not_have_are_left_out(tmp_path):
    split = make_split("a", [3, 2])
    stored = disk_split.cached(
        str(tmp_path / "a"),
        "a",
        {"tokens": "text"},
        lambda done: [split.columns],
    )
    assert list(stored.columns) == ["tokens"]
    assert stored.axes == ("text",)


def test_a_graph_gathers_what_memory_has(tmp_path):
    split = make_split("a", [3, 2, 4])
    plan = BatchPlan([on_disk(split, tmp_path)], 3, [4], "round_robin", 0)
    total = training_dataset(plan, stop_step=1).reduce(
        0, lambda found, batch: found + tf.reduce_sum(batch["tokens"])
    )
    assert int(total) == split.columns["tokens"].values.sum()
