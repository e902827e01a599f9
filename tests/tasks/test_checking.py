import pytest

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.tasks.checking import check_scored
from tests.tasks.fakes import Unlabelled, mails, task_of


def test_splits_that_cannot_be_scored(tmp_path):
    task = mails(tmp_path, train="ham\ta\nspam\tb\n", test="ham\tc\n")
    check_scored([task], ["test", "train"])
    (tmp_path / "alone").mkdir()
    alone = mails(tmp_path / "alone", train="ham\ta\nspam\tb\n")
    wrong = "has no test split: .*evaluation.splits has 'test'; cross_valid"
    with pytest.raises(ConfigError, match=wrong):
        check_scored([task, alone], ["validation", "test"])
    with pytest.raises(
        DataError,
        match="task t: 1 of 1 examples of the split 'test' have no label",
    ):
        check_scored([task_of(Unlabelled(1))], ["test"])
