"""A joint model beside models of one task each."""

import json

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.tables import tables
from mtl_tf.experiments import single_tasks
from tests.system import corpus


@pytest.mark.extended
def test_scores_of_single_tasks_stand_beside_the_joint_ones(tmp_path):
    sizes = {"train": 40, "validation": 10, "test": 20}
    config = corpus.quick(
        corpus.write(str(tmp_path), 1, sizes), steps=1, evaluate_every=1
    )
    config["evaluation"]["splits"] = ("test", "validation")
    directory = tmp_path / "run"
    results = single_tasks.train(config, str(directory))
    read = [
        json.loads((directory / folder / "results.json").read_text())
        for folder in ("", "single")
    ]
    assert read[0] == results
    pairs = list(
        zip(*([one, one["other_splits"]["validation"]] for one in read))
    )
    for joint, single in pairs:
        assert set(joint["tasks"]) == {"plain", "mirror"}
        for name, task in joint["tasks"].items():
            expected = single["tasks"][name]["accuracy"]
            assert task["yardsticks"] == {"single": expected}
    assert "single" in tables.console(results).splitlines()[1]
    assert "| single" in (directory / "results.md").read_text()
    # Again: nothing is trained, nothing changes.
    assert single_tasks.train(config, str(directory)) == results


def test_single_tasks_have_nothing_beside_them(tmp_path):
    config = corpus.quick(corpus.write(str(tmp_path), 1))
    config["train_separately"] = True
    with pytest.raises(ConfigError, match="must be False, got True"):
        single_tasks.train(config, str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
