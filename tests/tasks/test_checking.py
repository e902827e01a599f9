import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.checking import check_scored, check_task
from mtl_tf.tasks.registry import resolve
from mtl_tf.tasks.task import Task
from tests.tasks.fakes import Numbers


def mails(tmp_path, **contents):
    files = {}
    for split, content in contents.items():
        path = tmp_path / f"{split}.tsv"
        path.write_text(content)
        files[split] = str(path)
    columns = {"text": 1, "label": 0}
    return resolve([{"name": "mails", "files": files, "columns": columns}])[0]


def test_reports_what_the_splits_hold(tmp_path):
    report = check_task(
        mails(
            tmp_path,
            train="ham\ta\nspam\tb\nham\t \n",
            validation="ham\tc\n",
            test="spam\ta\nham\tc\nham\td\n",
        )
    )
    train, validation, test = report.splits.values()
    assert (train.rows, train.labels) == (3, {"ham": 2, "spam": 1})
    assert (train.empty, train.seen, train.unlabelled) == (1, 0, 0)
    assert validation.labels == {"ham": 1, "spam": 0}
    assert (test.rows, test.seen) == (3, 2)
    assert len(report.warnings) == 2
    shown = str(report)
    assert "train: 3 rows (ham 2, spam 1), 0 unlabelled, 1 empty" in shown
    assert "warning: " + report.warnings[0] in shown
    assert "all 1 rows are of one class" in shown


def test_reads_the_last_split_to_its_end(tmp_path):
    task = mails(
        tmp_path, train="ham\ta\nspam\tb\n", test="ham\ta\nham\tb\neggs\tc\n"
    )
    with pytest.raises(DataError, match="test.tsv:3: unknown label 'eggs'"):
        check_task(task)


def task_of(source, labels=("a", "b")):
    return Task("t", "classification", source, labels, splits={"test": "all"})


def test_label_ids_without_a_name():
    with pytest.raises(DataError, match="split test, example 2: label id 2"):
        check_task(task_of(Numbers(5)))
    assert check_task(task_of(Numbers(2))).splits["test"].rows == 2


class Unlabelled(Numbers):
    def dataset(self, split):
        return tf.data.Dataset.from_tensors({"text": "x", "label": -1})


def test_examples_without_label_are_counted():
    split = check_task(task_of(Unlabelled(1))).splits["test"]
    assert (split.unlabelled, split.labels) == (1, {"a": 0, "b": 0})


def test_a_split_without_examples():
    with pytest.raises(DataError, match="split test: no examples"):
        check_task(task_of(Numbers(0)))


def test_splits_that_cannot_be_scored(tmp_path):
    task = mails(tmp_path, train="ham\ta\nspam\tb\n", test="ham\tc\n")
    check_scored([task], ["test", "train"])
    (tmp_path / "alone").mkdir()
    alone = mails(tmp_path / "alone", train="ham\ta\nspam\tb\n")
    wrong = "has no test split: .*evaluation.splits has 'test'"
    with pytest.raises(ConfigError, match=wrong):
        check_scored([task, alone], ["validation", "test"])
    with pytest.raises(
        DataError,
        match="task t: 1 of 1 examples of the split 'test' have no label",
    ):
        check_scored([task_of(Unlabelled(1))], ["test"])
