"""Runs whose examples lie on disk are those whose examples are in memory."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from mtl_tf.core.errors import RunError
from mtl_tf.pipelines.examples import disk_encoding, disk_split, encoding
from mtl_tf.runs import training_run
from mtl_tf.runs.data import encoded_cache
from tests.runs.helpers import assert_same_weights, metrics, train_killed
from tests.system import corpus, families

_TYPES = {
    # Of one label and of five: their columns differ in width.
    "few": ("multi_label", {"labels": ["x", "y"]}),
    "many": ("multi_label", {"labels": list("vwxyz")}),
    "mood": ("classification", {}),
    "number": ("regression", {}),
    "same": ("pair_classification", {}),
    "near": ("pair_regression", {"range": [0, 8]}),
}


def row(rng):
    """A row that has what any of the types reads."""
    words = rng.choice(list("abcdef"), rng.integers(0, 8))
    return {
        "text": " ".join(words),
        "text_pair": " ".join(words[::2]),
        "label": "even" if len(words) % 2 == 0 else "odd",
        "labels": [name for name in "xy" if rng.random() < 0.5],
        "value": float(len(words)),
    }


def all_types(folder):
    """The config of a run of all types that whole texts have."""
    rng, entries = np.random.default_rng(5), []
    for name, (task_type, fields) in _TYPES.items():
        files = {}
        for split, size in (("train", 60), ("validation", 20), ("test", 20)):
            files[split] = str(folder / f"{name}.{split}.jsonl")
            with open(files[split], "w") as file:
                file.writelines(
                    json.dumps(row(rng)) + "\n" for _ in range(size)
                )
        entry = {"name": name, "type": task_type, "files": files, **fields}
        entries.append(entry)
    return corpus.quick(entries, steps=12, evaluate_every=6)


def stored(config, storage):
    return {**config, "pipeline": {**config["pipeline"], "storage": storage}}


def train(config, directory, storage):
    config = stored(config, storage)
    return training_run.train(config, str(directory), strategy="one_device")


def without_times(results):
    return {key: value for key, value in results.items() if key != "run"}


def losses(directory):
    kept = ("step", "loss", "mean", "tasks")
    return [
        {key: entry[key] for key in kept if key in entry}
        for entry in metrics(directory)
    ]


def assert_same_run(config, folder):
    memory = train(config, folder / "memory", "memory")
    disk = train(config, folder / "disk", "disk")
    assert without_times(memory) == without_times(disk)
    assert_same_weights(folder / "memory", folder / "disk")
    assert losses(folder / "memory") == losses(folder / "disk") != []
    data = [(folder / one / "data.json") for one in ("memory", "disk")]
    assert data[0].read_text() == data[1].read_text()
    assert os.listdir(folder / "disk" / "encoded")
    assert not (folder / "memory" / "encoded").exists()


@pytest.mark.extended
def test_texts_of_every_type(tmp_path):
    assert_same_run(all_types(tmp_path), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "family",
    [
        "gradnorm",  # joint steps
        "token_budget",
        "tagging",  # and characters
        "translation",
        "answering",
    ],
)
def test_families(tmp_path, family):
    config = families.write(tmp_path, [family])[family]
    assert_same_run(config, tmp_path)


@pytest.mark.extended
def test_pairs_that_are_left_out(tmp_path):
    config = families.write(tmp_path, ["translation"])["translation"]
    config["text"]["max_length"] = 4
    assert_same_run(config, tmp_path)
    with open(tmp_path / "disk" / "data.json") as file:
        tasks = json.load(file)["tasks"].values()
    assert any("left_out" in task["train"] for task in tasks)


@pytest.fixture
def config(tmp_path, small_files):
    return stored(corpus.quick(small_files), "disk")


@pytest.mark.extended
def test_a_killed_run_continues_bit_equal(tmp_path, config):
    train(config, tmp_path / "whole", "memory")
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(config, str(tmp_path / "killed"), 4)
    # Also where the examples have moved.
    train(config, tmp_path / "killed", "memory")
    assert_same_weights(tmp_path / "whole", tmp_path / "killed")


_KILLED_WHILE_WRITING = """
import json, os, sys
from mtl_tf.pipelines.examples import column_files, encoding
from mtl_tf.runs import training_run
encoding._TEXTS_AT_ONCE = column_files._EXAMPLES_A_NOTE = 8
append, count = column_files.ColumnFiles.append, [0]
def counted(self, part):
    append(self, part)
    count[0] += 1
    if count[0] == 5:
        os.kill(os.getpid(), 9)
column_files.ColumnFiles.append = counted
training_run.train(json.loads(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.extended
def test_a_preparation_that_was_killed_goes_on(tmp_path, config, monkeypatch):
    folder = str(tmp_path / "run")
    command = [sys.executable, "-c", _KILLED_WHILE_WRITING]
    child = subprocess.run(
        [*command, json.dumps(config), folder], capture_output=True
    )
    assert child.returncode == -9, child.stderr[-2000:]
    encoded = pathlib.Path(folder, "encoded")
    [left] = os.listdir(encoded)
    assert left.endswith(".partial")
    begun, parts = [], disk_encoding.encoded_parts

    def counted(dataset, *arguments):
        begun.append(int(dataset.reduce(0, lambda count, _: count + 1)))
        return parts(dataset, *arguments)

    monkeypatch.setattr(encoding, "_TEXTS_AT_ONCE", 8)
    monkeypatch.setattr(disk_encoding, "encoded_parts", counted)
    train(config, folder, "disk")
    train(config, tmp_path / "whole", "disk")
    size = begun[1]  # of the second task, which is as large as the first
    # The first of five parts is of no example; four of eight were noted.
    assert begun[0] == size - 32
    assert_same_weights(tmp_path / "whole", folder)
    assert contents(encoded) == contents(tmp_path / "whole" / "encoded")


def contents(folder):
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


@pytest.mark.extended
def test_what_is_encoded_is_taken_again(tmp_path, config, monkeypatch):
    train(config, tmp_path / "run", "disk")
    before = sorted(os.listdir(tmp_path / "run" / "encoded"))
    config["training"]["epochs"] += 1

    def refuse(*args):
        raise AssertionError("written anew")

    monkeypatch.setattr(disk_split, "_write", refuse)
    train(config, tmp_path / "run", "disk")
    assert sorted(os.listdir(tmp_path / "run" / "encoded")) == before


@pytest.mark.extended
def test_a_truncated_file_is_made_anew(tmp_path, config):
    train(config, tmp_path / "run", "disk")
    folder = tmp_path / "run" / "encoded"
    paths = sorted(folder.glob("*/tokens.values"))
    sizes = [path.stat().st_size for path in paths]
    for path in paths:
        os.truncate(path, 4)
    config["training"]["epochs"] += 1
    train(config, tmp_path / "run", "disk")
    assert [path.stat().st_size for path in paths] == sizes
    train(config, tmp_path / "whole", "memory")
    assert_same_weights(tmp_path / "whole", tmp_path / "run")


def test_other_data_are_another_folder_and_the_old_one_goes(tmp_path):
    entries = corpus.write(tmp_path, 1, {"train": 40, "validation": 9})
    config = corpus.quick(entries, epochs=1)
    config["evaluation"]["splits"] = ["validation"]
    train(config, tmp_path / "run", "disk")
    folder = tmp_path / "run" / "encoded"
    before = set(os.listdir(folder))
    rows = pathlib.Path(entries[0]["files"]["train"])
    rows.write_text(rows.read_text() + rows.read_text())
    config["training"]["epochs"] = 2
    with pytest.raises(RunError, match="the data changed"):
        train(config, tmp_path / "run", "disk")
    after = set(os.listdir(folder))
    assert len(before) == len(after) and before != after


def test_a_folder_that_cannot_be_written_to_is_named(
    tmp_path, config, monkeypatch
):
    run = tmp_path / "run"
    folder = run / "encoded"
    folder.mkdir(parents=True)
    # Root may write anywhere: what the system says to others.
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda path, *a: path != str(folder) and allowed(path, *a)
    )
    with pytest.raises(RunError, match=f"into the directory {folder}"):
        train(config, run, "disk")


@pytest.mark.extended
def test_auto_looks_at_the_number_of_examples(tmp_path, config, monkeypatch):
    train(config, tmp_path / "few", "auto")
    assert not (tmp_path / "few" / "encoded").exists()
    monkeypatch.setattr(encoded_cache, "_MOST_IN_MEMORY", 10)
    train(config, tmp_path / "many", "auto")
    assert os.listdir(tmp_path / "many" / "encoded")
