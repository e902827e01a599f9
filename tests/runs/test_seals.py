"""Files that a run's weights depend on, changed by hand."""

import glob
import json
import os
import shutil

import pytest

import mtl_tf
from mtl_tf.core.errors import MtlError, RunError
from mtl_tf.runs import fitting, training_run
from mtl_tf.runs.directory import seals
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus


@pytest.fixture
def copied(toy_run, tmp_path):
    return shutil.copytree(toy_run, tmp_path / "run")


def swap_lines(path):
    lines = path.read_text().split("\n")
    lines[4], lines[5] = lines[5], lines[4]
    path.write_text("\n".join(lines))


def swap_labels(path):
    labels = json.loads(path.read_text())
    labels["tasks"][0]["labels"].reverse()
    path.write_text(json.dumps(labels))


def change_letter(path):
    text = path.read_text()
    path.write_text(text.replace("house", "hause"))


CHANGES = [
    ("vocabulary/vocabulary.txt", swap_lines),
    ("vocabulary/vocabulary.txt", change_letter),
    ("labels.json", swap_labels),
]


@pytest.mark.parametrize("name, change", CHANGES)
def test_a_changed_file_is_named(copied, toy_files, tmp_path, name, change):
    """Not answered from, not started from, not trained on."""
    change(copied / name)
    with pytest.raises(RunError, match=f"{name} has changed"):
        mtl_tf.load(str(copied))
    longer = corpus.config(toy_files, epochs=9)
    with pytest.raises(RunError, match=f"{name} has changed"):
        training_run.train(longer, str(copied))
    other = corpus.config(toy_files, initialize_from=str(copied), steps=1)
    with pytest.raises(RunError, match=f"{name} has changed"):
        training_run.train(other, str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("model", "scheme", {"name": "lstm", "units": 5, "pooling": "max"}),
        ("text", "max_length", 2),
    ],
)
def test_a_changed_field_of_the_model_is_told(
    copied, toy_files, part, field, value
):
    path = copied / "config.json"
    config = json.loads(path.read_text())
    config[part][field] = value
    path.write_text(json.dumps(config))
    rule = "config.json: model or text has changed"
    with pytest.raises(RunError, match=rule):
        mtl_tf.load(str(copied))
    with pytest.raises(RunError, match=rule):
        training_run.train(corpus.config(toy_files, epochs=9), str(copied))


def test_a_refused_config_leaves_the_digests(copied, toy_files):
    before = (copied / "digests.json").read_text()
    other = corpus.config(toy_files)
    other["model"]["word_dropout"] = 0.5
    with pytest.raises(RunError, match="holds a run with another config"):
        training_run.train(other, str(copied))
    assert (copied / "digests.json").read_text() == before


def test_other_fields_and_folders_of_files_may_change(copied):
    path = copied / "config.json"
    config = json.loads(path.read_text())
    config["training"]["clip_norm"] = 3.0
    config["text"]["vectors"] = "elsewhere/" + config["text"]["vectors"]
    path.write_text(json.dumps(config, indent=None))
    assert mtl_tf.load(str(copied)).tasks


@pytest.fixture
def of_an_older_version(toy_files, tmp_path):
    """The directory of a run whose config has fewer fields than today's."""
    run = RunDirectory(str(tmp_path / "run"))
    training_run.train(corpus.config(toy_files, epochs=1), run.path)
    config = run.read("config.json")
    del config["model"]["word_dropout"]
    run.write("config.json", config)
    seals.seal_config(run)
    return run


def killed_after(function):
    def killed(*arguments):
        function(*arguments)
        raise KeyboardInterrupt

    return killed


@pytest.mark.extended
def test_a_longer_training_seals_its_config_again(
    toy_files, of_an_older_version
):
    run = of_an_older_version
    training_run.train(corpus.config(toy_files, epochs=2), run.path)
    assert "word_dropout" in run.read("config.json")["model"]
    assert mtl_tf.load(run.path).tasks


@pytest.mark.extended
def test_a_run_killed_when_its_config_was_written_continues(
    toy_files, of_an_older_version, monkeypatch
):
    run, config = of_an_older_version, corpus.config(toy_files, epochs=2)
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "claim", killed_after(RunDirectory.claim))
        with pytest.raises(KeyboardInterrupt):
            training_run.train(config, run.path)
    assert "word_dropout" in run.read("config.json")["model"]
    training_run.train(config, run.path)
    assert mtl_tf.load(run.path).tasks
    edited = run.read("config.json")
    edited["model"]["word_dropout"] = 0.5
    run.write("config.json", edited)
    with pytest.raises(RunError, match="has changed"):
        mtl_tf.load(run.path)


def test_a_run_killed_when_it_was_fitted_anew_loads(copied, monkeypatch):
    run = mtl_tf.load(str(copied))
    name, write = run.tasks[0]["name"], RunDirectory.write

    def killed(directory, file, value):
        write(directory, file, value)
        if file == fitting.FILE:
            raise KeyboardInterrupt

    fitting.keep(run, {name: {"temperature": 2.0}})
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            fitting.keep(run, {name: {"temperature": 3.0}})
    run = mtl_tf.load(str(copied))
    assert run.tasks[0]["temperature"] == 3.0
    fitting.keep(run, {name: {"temperature": 4.0}})
    (copied / fitting.FILE).write_text("{}")
    with pytest.raises(RunError, match=f"{fitting.FILE} has changed"):
        mtl_tf.load(str(copied))


@pytest.mark.extended
def test_preparations_with_another_config_are_made_anew(
    toy_files, tmp_path, monkeypatch
):
    """Without weights there is nothing that an edited config could spoil."""
    run, config = (
        RunDirectory(str(tmp_path)),
        corpus.config(toy_files, epochs=1),
    )
    with monkeypatch.context() as patch:
        patch.setattr(seals, "seal_config", killed_after(seals.seal_config))
        with pytest.raises(KeyboardInterrupt):
            training_run.train(config, run.path)
    edited = run.read("config.json")
    edited["model"]["word_dropout"] = 0.5
    run.write("config.json", edited)
    training_run.train(config, run.path)
    assert run.read("config.json")["model"]["word_dropout"] != 0.5


def test_what_nothing_depends_on_may_change(copied):
    for name in ("results.md", "metrics.jsonl"):
        (copied / name).write_text("anything")
    assert mtl_tf.load(str(copied)).tasks


def test_runs_of_older_versions_have_no_digests(copied):
    (copied / "digests.json").unlink()
    swap_lines(copied / "vocabulary" / "vocabulary.txt")
    assert mtl_tf.load(str(copied)).tasks


@pytest.mark.parametrize("content", ["[]", "3", '{"a": 1}', "null", "{"])
def test_damaged_digests_are_an_error(copied, content):
    (copied / "digests.json").write_text(content)
    with pytest.raises(MtlError, match=r"digests\.json"):
        mtl_tf.load(str(copied))


@pytest.mark.extended
def test_code_of_ones_own_that_has_changed_is_told(toy_files, tmp_path, caplog):
    file = tmp_path / "mine.py"
    file.write_text("def flat(progress, step, warmup):\n    return 1.0\n")
    config = corpus.config(toy_files, steps=1)
    config["training"]["optimizer"]["schedule"] = f"{file}:flat"
    run = str(tmp_path / "run")
    training_run.train(config, run)
    mtl_tf.load(run)
    assert "has changed" not in caplog.text
    file.write_text("def flat(progress, step, warmup):\n    return 0.5\n")
    mtl_tf.load(run)
    assert f"{file} has changed since the run in {run} began" in caplog.text
    # What it was is in the run.
    (kept,) = glob.glob(os.path.join(run, "own_code", "*", "mine.py"))
    assert kept in caplog.text
    with open(kept) as old:
        assert "return 1.0" in old.read()


def test_only_a_copy_that_there_is_is_named(tmp_path, caplog):
    """Older versions noted what a file was, and kept no copy."""
    file, run = tmp_path / "mine.py", RunDirectory(str(tmp_path / "run"))
    file.write_text("one = 1\n")
    os.makedirs(run.path)
    seals.note_code(run, {"name": f"{file}:one"})
    file.write_text("one = 2\n")
    seals.check(run)
    shutil.rmtree(run.file(seals.CODE_FOLDER))
    seals.check(run)
    with_copy, without = caplog.messages
    assert f"What it was is in {run.path}/own_code/" in with_copy
    assert without.endswith("may not fit any more.")


TOKENIZER = """
import tensorflow as tf
from mtl_tf.text.own_tokenizer import OwnTokenizer

class Halves(OwnTokenizer):
    def split(self, texts):
        return tf.strings.split(texts)
"""


@pytest.mark.extended
def test_code_of_ones_own_may_move_or_go(toy_files, tmp_path, caplog):
    first, second = tmp_path / "a" / "mine.py", tmp_path / "b" / "mine.py"
    for file in (first, second):
        file.parent.mkdir()
    first.write_text(TOKENIZER)

    def config(file):
        made = corpus.quick(toy_files, steps=1)
        made["text"]["tokenizer"] = {"name": f"{file}:Halves"}
        return made

    run = str(tmp_path / "run")
    training_run.train(config(first), run)
    before = mtl_tf.load(run).predict("plain", ["yes no"])
    first.unlink()
    with caplog.at_level("INFO", logger="absl"):
        assert mtl_tf.load(run).predict("plain", ["yes no"]) == before
    assert f"{first} is gone; its copy" in caplog.text
    # The same training, from where the file is by now.
    second.write_text(TOKENIZER + "# another file\n")
    with pytest.raises(RunError, match="holds a run with another config"):
        training_run.train(config(second), run)
    second.write_text(TOKENIZER)
    training_run.train(config(second), run)
    longer = config(second)
    longer["training"]["steps"] = 2
    assert training_run.train(longer, run)["run"]["steps"] == 2
    caplog.clear()
    with caplog.at_level("INFO", logger="absl"):
        mtl_tf.load(run)
    assert "is gone" not in caplog.text
    with open(os.path.join(run, "own_code.json")) as file:
        assert list(json.load(file)) == [str(second)]
