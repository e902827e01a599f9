import json
import re

import numpy as np
import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.source import tell
from mtl_tf.tasks.splits.hold_out import HELD_OUT, KEPT, HoldOutSource
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


@pytest.mark.parametrize(
    ("name", "advice"),
    [("Dev", ".*'Dev' is meant .* it validation"), ("a", "")],
)
def test_another_name_of_the_validation_split(caplog, tmp_path, name, advice):
    path = tmp_path / "mails.csv"
    path.write_text("text,label\n" + "a,1\nb,0\n" * 10)
    files = dict.fromkeys(["train", name], str(path))
    tell.cache_clear()
    (task,) = resolve([{"name": "mails", "files": files}])
    assert task.size("validation") == 2
    assert ("is meant for that" in caplog.text) == bool(advice)
    assert not advice or re.search(f"mails has no val{advice}", caplog.text)


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


def contexts_of(sizes):
    """Questions on contexts of so many each; of those of the first "", none."""
    return [
        {"context": f"text {n}" if n else "", "question": "?", "answer": "!"}
        for n, size in enumerate(sizes)
        for _ in range(size)
    ]


def question_parts(tmp_path, lines, name="mine"):
    """The places in the file of the examples that are trained on and not."""
    path = tmp_path / "questions.jsonl"
    rows = [{**line, "question": str(n)} for n, line in enumerate(lines)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    entry = {"name": name, "type": "question_answering"}
    (task,) = resolve([{**entry, "files": {"train": str(path)}}])
    parts = [task.dataset(split) for split in ("train", "validation")]
    assert [task.size(split) for split in ("train", "validation")] == [
        int(part.cardinality()) for part in parts
    ]
    return [
        [int(one["question"]) for one in part.as_numpy_iterator()]
        for part in parts
    ]


@pytest.mark.by_default("sizes0-21", "sizes3-28")
@pytest.mark.parametrize(
    ("sizes", "count"),
    [
        ([0] + [7] * 30, 21),
        ([20] + [1, 2, 3, 9] * 12, 20),
        # Each has more than a tenth of all.
        ([0, 30, 25, 40, 35], 25),
        ([0, 300, 1, 15, 12], 28),
        ([0, 300, 9], 9),
    ],
)
def test_questions_on_a_context_are_held_out_together(tmp_path, sizes, count):
    lines = contexts_of(sizes)
    kept, held_out = question_parts(tmp_path, lines)
    assert sorted(kept + held_out) == list(range(len(lines)))
    contexts = [
        {lines[n]["context"] for n in part} for part in (kept, held_out)
    ]
    assert contexts[0] & contexts[1] <= {""}
    assert len(held_out) == count
    assert question_parts(tmp_path, lines) == [kept, held_out]
    # Drawn by the texts: another task on this file holds out the same.
    other = question_parts(tmp_path, lines, name="other")
    assert other == [kept, held_out]


def test_contexts_that_differ_in_white_space_and_case_are_one(tmp_path):
    lines = contexts_of([0] + [1] * 20)
    lines += [
        {**line, "context": line["context"].title() + "\n"} for line in lines
    ]
    kept, held_out = question_parts(tmp_path, lines)
    assert len(held_out) == 4
    assert {n % 20 for n in held_out}.isdisjoint(n % 20 for n in kept)


@pytest.mark.parametrize("sizes", [[60], [0] + [1] * 60])
def test_questions_without_a_shared_context_are_drawn_one_by_one(
    tmp_path, caplog, sizes
):
    tell.cache_clear()
    _, held_out = question_parts(tmp_path, contexts_of(sizes))
    assert len(held_out) == 6 and "too few" not in caplog.text


@pytest.mark.parametrize("sizes", [[0, 60], [0, 20, 20, 20], [0, 59, 1]])
def test_too_few_contexts_are_told(tmp_path, caplog, sizes):
    tell.cache_clear()
    _, held_out = question_parts(tmp_path, contexts_of(sizes), name="mails")
    assert len(held_out) == 6
    assert "mails has too few different contexts" in caplog.text


def test_repeated_texts_of_other_types_are_drawn_one_by_one(tmp_path):
    rows = "".join(f"same\tother {n}\t{n % 2}\n" for n in range(60))
    (tmp_path / "a.tsv").write_text(rows)
    entry = {"name": "mails", "type": "pair_classification"}
    entry["files"] = {"train": str(tmp_path / "a.tsv")}
    entry["columns"] = {"text": 0, "text_pair": 1, "label": 2}
    (task,) = resolve([{**entry, "header": False}])
    held_out = task.dataset("validation").as_numpy_iterator()
    assert len([one["text_pair"] for one in held_out]) == 6
