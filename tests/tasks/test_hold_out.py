import numpy as np
import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.tasks.hold_out import HELD_OUT, KEPT, HoldOutSource
from mtl_tf.tasks.registry import resolve
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


def held_out(task):
    """The numbers in the texts of the part that is held out."""
    examples = task.dataset("validation").as_numpy_iterator()
    words = [
        b" ".join(np.atleast_1d(example.get("text", example.get("tokens"))))
        for example in examples
    ]
    return {int(text.split()[0]) for text in words}


def test_tasks_on_one_table_hold_out_the_same_rows(tmp_path):
    path = tmp_path / "desk.csv"
    rows = [f"{n} x,{n % 2},{n if n % 9 else ''}" for n in range(400)]
    path.write_text("\n".join(["text,label,value", *rows]))
    entry = {"name": "a", "files": {"train": str(path)}}
    number = {"name": "b", "type": "regression", "skip_missing": True}
    tasks = resolve([entry, entry | {"name": "z"}, entry | number])
    by_task = [held_out(task) for task in tasks]
    assert len(by_task[0]) == 40 and by_task[0] == by_task[1]
    # Where rows are left out, a few more come in at the border.
    assert len(by_task[2]) == 35 and len(by_task[2] - by_task[0]) <= 2
    columns = tmp_path / "desk.conll"
    columns.write_text("".join(f"{n} A X\nx B Y\n\n" for n in range(400)))
    tagging = {"type": "tagging", "files": {"train": str(columns)}}
    tasks = resolve(
        [
            tagging | {"name": f"c{n}", "columns": {"tokens": 0, "tags": n}}
            for n in (1, 2)
        ]
    )
    assert [held_out(task) for task in tasks] == [by_task[0]] * 2


def test_questions_about_one_context_are_held_out_together(tmp_path):
    path = tmp_path / "questions.csv"
    rows = [f"{n} in {n // 10}?,text {n // 10},a" for n in range(400)]
    path.write_text("\n".join(["question,context,answer", *rows]))
    entry = {"name": "who", "type": "question_answering"}
    (task,) = resolve([entry | {"files": {"train": str(path)}}])
    train, validation = (
        [x["context"] for x in task.dataset(split).as_numpy_iterator()]
        for split in ("train", "validation")
    )
    assert len(validation) == 40 and len(set(validation)) == 4
    assert not set(train) & set(validation)


def test_a_frequent_text_is_in_both_parts(tmp_path):
    path = tmp_path / "chats.csv"
    rows = [f"{n if n % 2 else 'ok'},{n % 3}" for n in range(400)]
    path.write_text("\n".join(["text,label", *rows]))
    (task,) = resolve([{"name": "chats", "files": {"train": str(path)}}])
    texts = [x["text"] for x in task.dataset("validation").as_numpy_iterator()]
    assert 10 <= texts.count(b"ok") <= 30


def test_one_example_cannot_be_split():
    with pytest.raises(DataError, match="mails has no validation split"):
        parts(1)
