"""Trainings of one program build a common vocabulary once."""

import os

from mtl_tf.runs.data import kept_vocabularies, run_data
from mtl_tf.runs.loaded import fewer_tasks
from mtl_tf.tasks import registry
from tests.system import corpus


def words_of(config, entry, folder):
    """Makes the vocabulary of a task's own run; its files."""
    one = fewer_tasks.part_of(config, [entry])
    tasks = registry.resolve(one["tasks"], None, None)
    options = (None, None, one["cross_validation"])
    run_data.make_encoder(one, str(folder), tasks, options)
    return {name: (folder / name).read_bytes() for name in os.listdir(folder)}


def test_models_of_single_tasks_share_one(toy_files, tmp_path, vocabularies):
    config = corpus.config(toy_files)
    apart = words_of(config, toy_files[1], tmp_path / "apart")
    assert len(vocabularies) == 1
    with kept_vocabularies.keeping():
        for number, entry in enumerate(toy_files):
            assert words_of(config, entry, tmp_path / str(number)) == apart
        with kept_vocabularies.keeping():
            words_of(config, toy_files[0], tmp_path / "within")
        assert len(vocabularies) == 2
        config["text"]["max_size"] = 5
        assert words_of(config, toy_files[0], tmp_path / "few") != apart
        assert len(vocabularies) == 3
    words_of(config, toy_files[0], tmp_path / "after")
    assert vocabularies == [[entry["name"] for entry in toy_files]] * 4
