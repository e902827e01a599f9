"""What `launch.prepare_data` tells of a task."""

import dataclasses

import pytest

from mtl_tf.core.errors import DataError
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task_statistics import statistics
from tests.tasks.fakes import Numbers, Unlabelled, mails, task_of


def test_texts_that_an_earlier_split_has(tmp_path):
    task = mails(
        tmp_path,
        train="ham\ta\nspam\tb b b\nham\ta\n",
        validation="ham\tc\n",
        test="spam\ta\nham\tc\nham\td\n",
    )
    train, validation, test = statistics(task)
    assert (train.examples, train.labels) == (3, {"ham": 2, "spam": 1})
    assert train.tokens == pytest.approx(5 / 3)
    # A text that a split has twice is in no earlier one.
    assert (train.repeated, train.unlabelled, validation.repeated) == (0, 0, 0)
    assert validation.labels == {"ham": 1, "spam": 0}
    assert (test.examples, test.repeated) == (3, 2)
    assert [*train.warnings(), *validation.warnings()] == []
    (warning,) = test.warnings()
    assert warning.startswith("2 of the 3 texts of the split 'test' also")


def test_words_with_a_comma_or_full_stop(tmp_path):
    raw = "ham\tso, what (really)?\nspam\tein Ärger. e.g. U.S. it 's 3, \n"
    rest = dict.fromkeys(("validation", "test"), "ham\ta word , .\n")
    train, _, test = statistics(mails(tmp_path, train=raw, **rest))
    assert (train.glued, test.glued) == (pytest.approx(0.3), 0.0)


def test_words_of_scripts_without_spaces(tmp_path):
    rest = dict.fromkeys(("validation", "test"), "ham\t我 喜 欢 。\n")
    task = mails(
        tmp_path, train="ham\t我喜欢 GPU 。\nspam\tเล่ม 한국어\n", **rest
    )
    train, _, test = statistics(task)
    assert (train.glued, test.glued) == (pytest.approx(0.4), 0.0)


def test_texts_without_labels_are_not_counted(tmp_path):
    lines = {"train": "ham\ta\nspam\tb\n", "test": "ham\tc\n"}
    task = mails(tmp_path, **lines, unlabelled="eggs\td\n")
    splits = [split.split for split in statistics(task)]
    assert "test" in splits and "unlabelled" not in splits


def test_the_last_split_is_read_to_its_end(tmp_path):
    task = mails(
        tmp_path,
        train="ham\ta\nspam\tb\n",
        test="ham\ta\nham\tb\neggs\tc\n",
    )
    with pytest.raises(DataError, match="test.tsv:3: unknown label 'eggs'"):
        list(statistics(task))


def test_numbers_of_labels_that_the_task_has_not():
    with pytest.raises(DataError, match="split test: .* number 2 is not one"):
        list(statistics(task_of(Numbers(5))))
    (split,) = statistics(task_of(Numbers(2)))
    assert split.labels == {"a": 1, "b": 1}
    with pytest.raises(DataError, match="number -7 is not one"):
        list(statistics(task_of(Unlabelled(1, label=-7))))


def test_a_split_that_stands_for_two_by_design():
    task = task_of(Numbers(2))
    both = dataclasses.replace(
        task, splits={"validation": "all", "test": "all"}
    )
    assert [split.repeated for split in statistics(both)] == [0, 0]


def test_examples_without_label_are_counted():
    (split,) = statistics(task_of(Unlabelled(1)))
    assert (split.unlabelled, split.labels) == (1, {"a": 0, "b": 0})
    (warning,) = split.warnings()
    assert warning.startswith("1 labels of the split 'test' are -1")


def test_a_split_without_examples():
    (split,) = statistics(task_of(Numbers(0)))
    assert (split.examples, split.tokens, split.repeated) == (0, 0, 0)


def test_numbers_have_bounds_and_a_mean(tmp_path):
    path = tmp_path / "stars.tsv"
    path.write_text("a\t-2\nb\t1.5\nc\t5\n")
    files = dict.fromkeys(("train", "validation"), str(path))
    columns = {"text": 0, "value": 1}
    entry = {"name": "stars", "type": "regression", "columns": columns}
    (task,) = resolve([entry | {"files": files}])
    for split in statistics(task):
        assert split.values == (-2, 1.5, 5) and split.labels is None
