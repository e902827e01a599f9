"""Run files that are JSON, but not what a run wrote."""

import json
import os
import shutil

import pytest

import mtl_tf
from mtl_tf.core.errors import MtlError
from mtl_tf.runs import training_run
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

FILES = (
    "config.json",
    "labels.json",
    "data.json",
    "batches.json",
    "digests.json",
    "results.json",
    "best/best.json",
    "vocabulary/tokenizer.json",
    "vocabulary/rare_words.json",
)
# What they hold in place of what they did.
OTHERS = ({}, [], None, 3, "text", [{}], {"tasks": [{}]}, {"tasks": {"a": 1}})


def mutations(value):
    """Values that parse, and this one without each of its fields."""
    yield from OTHERS
    for name in value if isinstance(value, dict) else ():
        yield {k: v for k, v in value.items() if k != name}
        for other in (None, 7, {}, []):
            yield value | {name: other}


@pytest.mark.parametrize("name", FILES)
def test_no_damage_ends_in_a_traceback(
    toy_run, toy_files, name, monkeypatch, tmp_path
):
    """Everything that reads the file says so in one line, or does not care."""
    # Training itself takes long and reads nothing more.
    monkeypatch.setattr(training_run, "_train_jointly", lambda *_: 1 / 0)
    original = os.path.join(toy_run, name)
    if not os.path.exists(original):
        pytest.skip(f"toy runs have no {name}")
    with open(original) as file:
        value = json.load(file)
    is_sealed = name == "labels.json" or name.startswith("vocabulary/")
    for number, other in enumerate(mutations(value)):
        copied = str(tmp_path / str(number))
        shutil.copytree(toy_run, copied)
        with open(os.path.join(copied, name), "w") as file:
            json.dump(other, file)
        with_message(mtl_tf.load, copied, must_fail=is_sealed)
        with_message(RunDirectory(copied).read, name)
        longer = corpus.config(toy_files, epochs=9)
        with_message(training_run.train, longer, copied)
        shutil.rmtree(copied)


def with_message(act, *arguments, must_fail=False):
    """Does what may fail with a message, but not otherwise."""
    try:
        act(*arguments)
    except MtlError:
        return
    except ZeroDivisionError:
        return  # As far as a training comes here.
    assert not must_fail, "a change was not noticed"
