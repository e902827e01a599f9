"""The reproduce program with a stand-in for the training."""

import json
import os
import sys

import pytest

from launch import reproduce
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.programs import runner
from mtl_tf.runs import training_run
from mtl_tf.tasks import registry


def call(*arguments):
    argv = ["reproduce", *arguments]
    return reproduce.main(runner.parse(reproduce.PROGRAM, argv))


@pytest.fixture
def trained(monkeypatch):
    monkeypatch.delenv("MTL_TF_DATA_DIR", raising=False)
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    calls = []

    def train(config, path, data_dir, manual_dir, strategy):
        calls.append((config, manual_dir, strategy))
        if config["name"] == "shared_memory_4_arc_ii":
            raise ValueError("broken")
        score = {"primary": "accuracy", "accuracy": 81.5, "examples": 200}
        score["type"] = "classification"
        return {
            "split": "test",
            "tasks": {"books": score},
            "mean": {"overall": 81.5},
        }

    monkeypatch.setattr(training_run, "train", train)
    monkeypatch.setattr(registry, "present", lambda entries, *_: (entries, {}))
    return calls


def test_the_rows_configs_reach_the_training(
    trained, tmp_path, capsys, monkeypatch
):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text(f"good{' 0.5' * 100}\n")
    arguments = [
        "--table=shared_memory/4",
        "--rows=lstm,arc_i",
        "--seeds=2",
        "--override=training.epochs=2",
        "--manual_dir=corpora",
        f"--vectors={vectors}",
        f"--model_dir={tmp_path / 'table'}",
    ]
    monkeypatch.setattr(sys, "argv", ["reproduce.py", "--rows=a b"])
    assert call(*arguments) == 0
    assert len(trained) == 4
    for config, manual_dir, strategy in trained:
        assert config["training"]["epochs"] == 2
        assert config["text"]["vectors"] == str(vectors)
        assert (manual_dir, strategy) == ("corpora", "auto")
    assert [c["seed"] for c, *_ in trained] == [1, 1, 2, 2]
    schemes = [c["model"]["scheme"]["name"] for c, *_ in trained]
    assert schemes == ["lstm", "arc_i"] * 2
    table = (tmp_path / "table" / "table.md").read_text()
    assert table == capsys.readouterr().out
    assert "81.5 ± 0.0 (81.2)" in table
    assert "`python -m launch.reproduce '--rows=a b'`" in table
    assert "training.epochs=2" in table and "Word vectors from" in table


def test_tagging_takes_the_corpora_that_are_there(
    trained, tmp_path, capsys, monkeypatch
):
    own = {"name": "wsj", "type": "tagging", "files": {"train": "a.conll"}}
    arguments = [
        "--table=meta_mtl/5",
        "--seeds=1",
        "--manual_dir=corpora",
        f"--model_dir={tmp_path}",
        f"--override=tasks=('conll2000', 'conll2003', {own!r})",
    ]
    asked = []

    def present(entries, *where):
        asked.append((entries, where))
        return [*entries[:1], *entries[2:]], {"conll2003/ner": "no file"}

    monkeypatch.setattr(registry, "present", present)
    assert call(*arguments) == 0
    assert asked == [
        (("conll2000", "conll2003", own), ("", "corpora", ("test",)))
    ]
    assert len(trained) == 4
    for config, *_ in trained:
        assert config["tasks"] == ["conll2000", own]
    separate = [config["train_separately"] for config, *_ in trained]
    assert separate == [True, True, False, False]
    text = capsys.readouterr().out
    assert "not there, or not all of them: conll2003/ner. Means" in text

    monkeypatch.setattr(registry, "present", lambda *_: ([], {"a": "no a."}))
    with pytest.raises(DataError, match="none of its corpora is there. no a"):
        call(*arguments)


def test_translation_cuts_the_data_of_the_pairs_that_are_there(
    trained, tmp_path, capsys, monkeypatch
):
    arguments = [
        "--table=multi_target_nmt/4",
        "--seeds=1",
        f"--model_dir={tmp_path}",
    ]
    missing = {"multi_target_nmt/en-nl": "no nl."}

    def present(entries, *where):
        pairs = [f"multi_target_nmt/{pair}" for pair in ("en-es", "en-pt")]
        return [pair for pair in pairs if pair not in missing], missing

    monkeypatch.setattr(registry, "present", present)
    assert call(*arguments) == 0
    for config, *_ in trained:
        assert config["pipeline"]["fractions"] == {"en-pt": 0.15}
        assert len(config["tasks"]) == 2
    assert [c["train_separately"] for c, *_ in trained] == [True, False]
    assert "not all of them: multi_target_nmt/en-nl" in capsys.readouterr().out
    # Without a poor pair there is nothing to show.
    missing["multi_target_nmt/en-pt"] = "no pt."
    with pytest.raises(DataError, match="en-nl, en-pt.*--override.*no pt"):
        call(*arguments)
    other = "--override=pipeline.fractions={'en-es': 0.5}"
    call(*arguments[:-1], f"--model_dir={tmp_path / 'b'}", other)
    assert trained[-1][0]["pipeline"]["fractions"] == {"en-es": 0.5}


def test_failed_rows_are_an_error_in_the_end(trained, tmp_path, capsys):
    with pytest.raises(RunError, match="1 of the runs failed"):
        call(
            "--table=shared_memory/4",
            "--rows=arc_ii,lstm",
            "--seeds=1",
            f"--model_dir={tmp_path}",
        )
    assert len(trained) == 2
    assert "ValueError: broken" in capsys.readouterr().out
    with open(os.path.join(tmp_path, "table.json")) as file:
        assert json.load(file)["rows"][0]["ours"]["finished"] == [1]


def test_only_this_calls_failures_are_an_error(trained, tmp_path, capsys):
    arguments = ["--table=shared_memory/4", "--seeds=1"]
    arguments.append(f"--model_dir={tmp_path}")
    with pytest.raises(RunError, match="1 of the runs failed"):
        call(*arguments, "--rows=arc_ii")
    assert call(*arguments, "--rows=lstm") == 0
    assert "ARC-II, seed 1: ValueError: broken" in capsys.readouterr().out


@pytest.mark.by_default("nowhere")
@pytest.mark.parametrize("corpora", [None, "nowhere"])
def test_missing_corpora_are_told_once_and_first(
    tmp_path, monkeypatch, corpora
):
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    table = tmp_path / "table"
    arguments = ["--table=shared_memory/4", f"--model_dir={table}"]
    arguments.append(f"--data_dir={tmp_path / 'data'}")
    if corpora:
        arguments.append(f"--manual_dir={tmp_path / corpora}")
    with pytest.raises(DataError, match="--manual_dir"):
        call(*arguments)
    assert not table.exists()


def test_a_finished_table_needs_no_corpora(trained, tmp_path, monkeypatch):
    arguments = ["--table=shared_memory/4", "--rows=lstm", "--seeds=1"]
    arguments.append(f"--model_dir={tmp_path}")
    assert call(*arguments) == 0

    def present(*_):
        raise AssertionError("it looked for corpora")

    monkeypatch.setattr(registry, "present", present)
    assert call(*arguments) == 0


def test_a_table_of_ones_own(trained, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "from mtl_tf.experiments.published import MULTI, PublishedRow\n"
        "from mtl_tf.experiments.published import PublishedTable\n"
        "from mtl_tf.experiments.published import PublishedTask\n"
        "TASKS = (PublishedTask('books', 'Books', 200),)\n"
        "ROWS = (PublishedRow('lstm', 'Mine', MULTI, (12.5,)),)\n"
        "TABLE = PublishedTable(\n"
        "    'mine/1', 'shared_memory_4', 'I 2026', '', TASKS, ROWS\n"
        ")\n"
    )
    arguments = ["--seeds=1", f"--model_dir={tmp_path / 'table'}"]
    assert call("--table=mine.py:TABLE", *arguments) == 0
    shown = capsys.readouterr().out
    assert "mine/1: I 2026" in shown and "81.5 (12.5)" in shown
    for name, message in (
        ("mine.py:ROWS", "must be a .*PublishedTable, got"),
        ("mine.py:TABEL", "mine.py has no table 'TABEL'"),
        ("other.py:TABLE", "there is no file .*other.py"),
    ):
        with pytest.raises(ConfigError, match=message):
            call(f"--table={name}", *arguments)


def test_a_dry_run_lists_and_does_nothing(trained, tmp_path, capsys):
    folder = tmp_path / "table"
    call(
        "--table=meta_mtl/3",
        "--columns=single,transfer",
        "--seeds=2",
        f"--model_dir={folder}",
        "--dry_run",
    )
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split()[2] for line in lines]
    transfers = ["transfer", "transfer_random", "transfer_fresh_vectors"]
    assert rows == ["lstm", "hyper_lstm", "meta_lstm", *transfers] * 2
    assert trained == [] and not folder.exists()


def test_epochs_are_not_overridden_where_steps_count(trained, tmp_path):
    with pytest.raises(ConfigError, match="training.steps is .* counts in its"):
        call(
            "--table=multi_target_nmt/3",
            "--rows=multi",
            f"--model_dir={tmp_path}",
            "--override=training.epochs=2",
        )
    assert trained == []


def test_changes_that_no_row_reads_are_refused(trained, tmp_path):
    def dry_run(rows, *changes):
        call(
            "--table=shared_memory/3",
            f"--rows={rows}",
            f"--model_dir={tmp_path}",
            "--dry_run",
            *(f"--override={change}" for change in changes),
        )

    with pytest.raises(ConfigError, match="alpha does nothing without"):
        dry_run("arc_i", "training.gradnorm.alpha=3")
    with pytest.raises(ConfigError, match="beam does nothing without transl"):
        dry_run("arc_i", "evaluation.decoding.beam=3")
    shares = "training.share_steps=True"
    with pytest.raises(ConfigError, match="share_steps does nothing"):
        dry_run("arc_i", shares)
    with pytest.raises(ConfigError, match="row nbow: unknown .*has no 'units'"):
        dry_run("lstm,nbow", "model.scheme.units=24")
    dry_run("lstm", "model.scheme.units=24")
    with pytest.raises(
        ConfigError, match="row arc_i: model.*memory_slots must"
    ):
        dry_run(
            "arc_i,arc_ii", "model.scheme={'name':'arc_i','memory_slots':0}"
        )
    with pytest.raises(
        ConfigError, match="row lstm: training.initialize_from: n"
    ):
        dry_run("lstm", "training.initialize_from=nowhere")
    with pytest.raises(ConfigError, match="row lstm: training.teachers: no"):
        dry_run("lstm", "training.teachers=('nowhere',)")
    with pytest.raises(ConfigError, match="row lstm: training.freeze: 'schm"):
        dry_run("lstm", "training.freeze=('schme',)")
    dry_run("lstm", "training.freeze=('scheme',)")
    dry_run("lstm,arc_i", shares)  # The row lstm has a model for each task.


def test_a_table_that_was_begun_goes_on(trained, tmp_path):
    folder = tmp_path / "arc_i" / "seed_1"
    folder.mkdir(parents=True)
    begun = {"training": {"gradnorm": {"alpha": 3.0}}}
    (folder / "config.json").write_text(json.dumps(begun))
    arguments = [
        "--table=shared_memory/3",
        "--rows=arc_i",
        "--dry_run",
        f"--model_dir={tmp_path}",
    ]
    call(*arguments, "--override=training.gradnorm.alpha=3")
    with pytest.raises(ConfigError, match="alpha does nothing without"):
        call(*arguments, "--override=training.gradnorm.alpha=4")


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--table=x", "there are shared_memory/3, shared_memory/4, meta_mtl"),
        ("--rows=lstn", "did you mean 'lstm'"),
        ("--vectors=nothing", "there is no file nothing"),
        ("--override=training.epoch=2", "did you mean 'epochs'"),
        ("--override=training.epochs", "must be FIELD=VALUE"),
        ("--override=seed=4", "seed=4 would change nothing.*--seeds"),
    ],
)
def test_mistakes_stop_before_training(trained, tmp_path, argument, message):
    with pytest.raises(ConfigError, match=message):
        call(
            "--table=meta_mtl/3",
            "--rows=lstm",
            f"--model_dir={tmp_path}",
            argument,
        )
    assert trained == []
