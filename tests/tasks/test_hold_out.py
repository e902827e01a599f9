import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.tasks.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.source import tell
from tests.tasks.fakes import Numbers


def parts(size, task="mails"):
    source = HoldOutSource(Numbers(size), "all", task)
    return [
        [int(x["label"]) for x in source.dataset(part).as_numpy_iterator()]
        for part in (KEPT, HELD_OUT)
    ]


@pytest.mark.by_default("10-1", "9-1")
@pytest.mark.parametrize(
    ("size", "count"), [(2, 1), (9, 1), (10, 1), (100, 10), (1234, 123)]
)
def test_the_parts_are_disjoint_whole_and_in_order(size, count):
    kept, held_out = parts(size)
    assert len(held_out) == count
    assert sorted(kept + held_out) == list(range(size))
    assert kept == sorted(kept) and held_out == sorted(held_out)


@pytest.mark.extended
def test_the_part_depends_on_the_name_alone():
    assert parts(200) == parts(200)
    assert parts(200) != parts(200, task="other")
    # Pinned: another choice would change the results of old runs.
    assert parts(60)[1] == [23, 25, 34, 36, 42, 52]


def test_it_is_spread_over_the_split():
    _, held_out = parts(1000)
    assert min(held_out) < 100 and max(held_out) > 900


def test_sizes_and_other_splits(caplog):
    tell.cache_clear()
    caplog.set_level("INFO", logger="absl")
    source = HoldOutSource(Numbers(40), "all", "mails")
    assert (source.size(KEPT), source.size(HELD_OUT)) == (36, 4)
    assert source.size("all") == 40
    assert int(source.dataset(HELD_OUT).cardinality()) == 4
    assert len(list(source.dataset("all"))) == 40
    assert source.split_names == ("all", KEPT, HELD_OUT)
    # A task is looked up more than once in a run.
    again = HoldOutSource(Numbers(40), "all", "mails")
    assert again.size(KEPT) == 36
    (notice,) = caplog.messages
    assert "mails has no validation split: 4 of its 40" in notice


def test_one_example_cannot_be_split():
    with pytest.raises(DataError, match="mails has no validation split"):
        parts(1)
