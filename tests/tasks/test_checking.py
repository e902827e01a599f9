import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.checking import check_scored
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


def task_of(source, labels=("a", "b")):
    return Task("t", "classification", source, labels, splits={"test": "all"})


class Unlabelled(Numbers):
    def dataset(self, split):
        return tf.data.Dataset.from_tensors({"text": "x", "label": -1})


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
