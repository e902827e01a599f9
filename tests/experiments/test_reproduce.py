"""Tables of the embedded corpus, killed, resumed and failing."""

import dataclasses
import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from mtl_tf.core.errors import (
    ConfigError,
    Interrupted,
    MissingData,
    RunError,
)
from mtl_tf.evaluation import scored_examples
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.experiments import compare, planned_runs, published, reproduce
from mtl_tf.experiments import transfer as transferring
from mtl_tf.experiments.published import (
    PublishedRow,
    PublishedTable,
)
from mtl_tf.runs import training_run
from tests.experiments import small_table
from tests.experiments.small_table import TABLE, config, plan, run_all

ROOT = pathlib.Path(__file__).parents[2]


def read(folder, name):
    return json.loads((folder / name).read_text())


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


def wait_for(path, process):
    end = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, "it ended before it was killed"
        assert time.monotonic() < end, f"no {path}"
        time.sleep(0.02)


def test_a_control_is_compared_with_what_it_controls(tmp_path, monkeypatch):
    def transfer(config, path, *_, control=""):
        draw = np.random.default_rng(len(control))
        labels = np.arange(40) % 2
        found = np.where(draw.random(40) < 0.3, 1 - labels, labels)
        below = "controls/random/" if control else ""
        said = TaskPredictions("books", labels, found, ("a", "b"))
        target = os.path.join(path, f"{below}targets", "books")
        scored_examples.write(target, "test", [said])
        return {"mean": {"overall": 70.0}, "tasks": {}}

    monkeypatch.setattr(transferring, "transfer", transfer)
    rows = [
        PublishedRow("transfer", "T", published.TRANSFER),
        PublishedRow(
            "transfer_random",
            "C",
            published.TRANSFER,
            control="random",
            control_of="transfer",
        ),
    ]
    for row in rows:
        path = tmp_path / row.name / "seed_1"
        run = planned_runs.PlannedRun(row, 1, {}, str(path))
        reproduce._attempt(run, reproduce.Settings())
        assert not (path / "failure.json").exists()
    moved = shutil.copytree(tmp_path, tmp_path / "moved", symlinks=True)
    shutil.rmtree(tmp_path / "transfer")
    folders = [str(moved / row.name) for row in rows]
    assert compare.compare(*folders, draws=9)["tasks"]["books"]


def test_rows_are_compared_by_the_split_and_metric_of_the_table(tmp_path):
    right = ["ein Haus im Wald am See", "zwei Hunde auf dem Weg hier"]
    said = {"single": [text.upper() for text in right], "multi": right}
    for row, texts in said.items():
        path = tmp_path / row / "seed_1"
        for split, found in (("flickr", texts), ("test", right)):
            task = TaskPredictions(
                name="en-de",
                type="translation",
                class_names=(),
                labels=right,
                predictions=found,
                metrics=("bleu", "bleu_lc"),
            )
            scored_examples.write(str(path), split, [task])
        (path / "results.json").write_text('{"split": "flickr"}')
    rows = [PublishedRow(row, row, published.MULTI) for row in said]
    for metric, gain in (("bleu", 100.0), ("bleu_lc", 0.0)):
        table = dataclasses.replace(TABLE, rows=tuple(rows), metrics=(metric,))
        found = reproduce._comparisons(table, str(tmp_path))
        assert found["single"].keys() == {"standard_error"}
        found = found["multi"]
        assert found["split"] == "flickr"
        assert found["tasks"]["en-de"]["metric"] == metric
        assert found["mean"]["gain"] == pytest.approx(gain)


@pytest.mark.slow
def test_a_killed_table_continues_where_it_was(tmp_path, data_dir):
    code = (
        "import pathlib\n"
        "from tests.experiments import small_table\n"
        f"folder = pathlib.Path({str(tmp_path)!r})\n"
        f"small_table.run_all(folder, {str(data_dir)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    try:
        wait_for(tmp_path / "lstm" / "seed_1" / "results.json", process)
        wait_for(tmp_path / "meta" / "seed_1" / "metrics.jsonl", process)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    first = tmp_path / "lstm" / "seed_1"
    stamp = (first / "results.json").stat().st_mtime_ns
    partial = read(tmp_path, "table.json")
    assert partial["rows"][0]["ours"]["finished"] == [1]
    assert partial["rows"][1]["ours"]["finished"] == []

    report = run_all(tmp_path, data_dir)

    assert (first / "results.json").stat().st_mtime_ns == stamp
    assert json.loads(json.dumps(report)) == read(tmp_path, "table.json")
    lstm, meta, old = report["rows"]
    assert lstm["ours"]["finished"] == meta["ours"]["finished"] == [1, 2]
    scores = [
        read(tmp_path, f"meta/seed_{seed}/results.json")["mean"]["overall"]
        for seed in (1, 2)
    ]
    assert meta["ours"]["mean"]["mean"] == pytest.approx(sum(scores) / 2)
    assert meta["ours"]["mean"]["runs"] == 2
    # 4m(d+h+m+1) + zm + 12hz + 4dz + 2h + 2 with h 4, d 64 and m = z = 16.
    count = 64 * 85 + 256 + 12 * 64 + 4 * 64 * 16 + 10
    assert meta["ours"]["parameters"] == count
    assert old["ours"]["planned"] == 0
    assert "± " in (tmp_path / "table.md").read_text()


class Fake:
    """Stands in for the trainers; notes its calls."""

    def __init__(self):
        self.calls, self.error = [], None

    def __call__(self, config, path, *rest):
        self.calls.append((os.path.basename(os.path.dirname(path)), rest))
        if self.error and self.error[0] in path:
            raise self.error[1]
        score = 70.0 + config["seed"]
        books = {"primary": "accuracy", "accuracy": score, "examples": 50}
        results = {
            "split": "test",
            "tasks": {"sample_reviews/books": books},
            "mean": {"overall": score, "clean": {"overall": score - 1}},
            "run": {"wall_time": 90.0, "hardware": "a machine"},
        }
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, "results.json"), "w") as file:
            json.dump(results, file)
        return results

    @property
    def rows(self):
        return [row for row, _ in self.calls]


@pytest.fixture
def fake(monkeypatch):
    fake = Fake()
    monkeypatch.setattr(training_run, "train", fake)
    return fake


def test_every_row_comes_once_before_any_comes_twice(tmp_path, fake, points):
    run_all(tmp_path, "data")
    assert fake.rows == ["lstm", "meta", "lstm", "meta"]
    assert len(points) == 4


def test_finished_runs_are_not_repeated(tmp_path, fake):
    run_all(tmp_path, "data", seeds=1)
    report = run_all(tmp_path, "data", seeds=2)
    assert fake.rows == ["lstm", "meta", "lstm", "meta"]
    assert report["rows"][0]["ours"]["mean"] == {
        "mean": 71.5,
        "std": pytest.approx(0.5**0.5),
        "runs": 2,
    }


def test_finished_runs_of_other_rows_and_seeds_stay_in_the_table(
    tmp_path, fake
):
    run_all(tmp_path, "data", seeds=2, rows=["lstm"])
    # Neither rows of other tables nor unfinished runs belong to it.
    (tmp_path / "other" / "seed_1").mkdir(parents=True)
    (tmp_path / "other" / "seed_1" / "results.json").write_text("{}")
    (tmp_path / "lstm" / "seed_3").mkdir()
    shutil.copytree(tmp_path / "lstm/seed_2", tmp_path / "lstm/seed_2_old")
    report = run_all(tmp_path, "data", seeds=1, rows=["meta"])
    finished = {r["name"]: r["ours"]["finished"] for r in report["rows"]}
    assert finished == {"lstm": [1, 2], "meta": [1], "old": []}
    assert [r["ours"]["planned"] for r in report["rows"]] == [2, 1, 0]


def test_a_table_has_one_setting(tmp_path, fake):
    def run_with(rows, *overrides):
        settings = reproduce.Settings(overrides=overrides)
        planned = plan(tmp_path, 1, rows=rows)
        return reproduce.reproduce(TABLE, planned, str(tmp_path), settings)

    two, three = "training.epochs=2", "training.epochs=3"
    # Nothing is there yet that another setting would contradict.
    fake.error = (os.path.join("lstm", "seed_1"), ZeroDivisionError("oh"))
    run_with(["lstm"], three)
    fake.error = None
    run_with(["lstm"], two, "seed=1")
    with pytest.raises(RunError, match=f"{two} there, none asked for"):
        run_with(["meta"])
    with pytest.raises(RunError, match=f"{two} there, .*{three} asked for"):
        run_with(["meta"], three)
    report = run_with(["meta"], "seed=1", two)
    assert fake.rows == ["lstm", "lstm", "meta"]
    assert [r["ours"]["finished"] for r in report["rows"]] == [[1], [1], []]


def test_the_folder_of_a_sweep_is_no_table(tmp_path, fake):
    (tmp_path / "sweep_config.json").write_text("{}")
    with pytest.raises(
        RunError, match="holds a sweep: .* the table of a paper"
    ):
        run_all(tmp_path, "", seeds=1)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_run_that_failed_late_keeps_its_setting(tmp_path, fake):
    def run_with(*overrides):
        settings = reproduce.Settings(overrides=overrides)
        planned = plan(tmp_path, 1, rows=["lstm"])
        return reproduce.reproduce(TABLE, planned, str(tmp_path), settings)

    fake.error = (os.path.join("lstm", "seed_1"), ZeroDivisionError("oh"))
    run_with("training.epochs=2")
    # Refused at first, it was begun then, and killed.
    (tmp_path / "lstm/seed_1/config.json").write_text("{}")
    run_with("training.epochs=4")  # Nothing is there that was trained.
    run_with("training.epochs=2")
    (tmp_path / "lstm/seed_1/checkpoints").mkdir()
    (tmp_path / "lstm/seed_1/checkpoints/checkpoint").write_text("")
    with pytest.raises(RunError, match="epochs=2 there, .*epochs=3 asked for"):
        run_with("training.epochs=3")
    fake.error = (fake.error[0], Interrupted("stopped", signal.SIGTERM))
    with pytest.raises(Interrupted):
        run_with("training.epochs=2")
    assert plan(tmp_path)[0].state == planned_runs.BEGUN


def test_a_failure_is_noted_and_tried_again(tmp_path, fake):
    fake.error = (os.path.join("lstm", "seed_1"), ZeroDivisionError("oh"))
    report = run_all(tmp_path, "data")
    assert fake.rows == ["lstm", "meta", "lstm", "meta"]
    ours = report["rows"][0]["ours"]
    assert ours["failures"] == {"1": "ZeroDivisionError: oh"}
    assert ours["finished"] == [2]
    assert plan(tmp_path)[0].state == planned_runs.FAILED
    assert "LSTM, seed 1: ZeroDiv" in (tmp_path / "table.md").read_text()
    fake.error = None
    report = run_all(tmp_path, "data")
    assert fake.rows[4:] == ["lstm"]
    assert report["rows"][0]["ours"]["failures"] == {}


def test_failures_of_other_rows_and_earlier_commands_stay(tmp_path, fake):
    def run_with(row, command):
        settings = reproduce.Settings(command=command)
        planned = plan(tmp_path, 1, rows=[row])
        return reproduce.reproduce(TABLE, planned, str(tmp_path), settings)

    fake.error = (os.path.join("lstm", "seed_1"), ZeroDivisionError("oh"))
    run_with("lstm", "a")
    for command in ("b", "a"):
        report = run_with("meta", command)
    assert report["rows"][0]["ours"]["failures"]["1"].endswith("oh")
    page = (tmp_path / "table.md").read_text()
    assert "* command: `a`\n* command: `b`\n" in page
    # Older tables have the last command alone, and from Python there is none.
    table = read(tmp_path, "table.json")
    del table["commands"]
    (tmp_path / "table.json").write_text(json.dumps({**table, "command": "c"}))
    assert run_with("meta", "")["commands"] == ["c"]
    os.unlink(tmp_path / "table.json")
    assert run_with("meta", "")["commands"] == []


def test_a_scheme_of_one_s_own_may_be_named_from_another_folder(
    tmp_path, fake, monkeypatch
):
    def run_from(folder, place):
        monkeypatch.chdir(folder)
        changed = config(TABLE.row("meta"))
        changed["model"]["scheme"] = {"name": place}
        monkeypatch.setattr(small_table, "config", lambda row: changed)
        return run_all(tmp_path / "table", "data", seeds=1, rows=["meta"])

    (tmp_path / "inner").mkdir()
    run_from(tmp_path, "mine.py:Own")
    run_from(tmp_path / "inner", "../mine.py:Own")
    assert fake.rows == ["meta"]
    with pytest.raises(RunError, match="config of the row meta changed"):
        run_from(tmp_path / "inner", "mine.py:Own")


def test_a_signal_ends_the_table(tmp_path, fake):
    fake.error = ("meta", Interrupted("stopped", signal.SIGTERM))
    with pytest.raises(Interrupted):
        run_all(tmp_path, "data")
    assert fake.rows == ["lstm", "meta"]
    table = read(tmp_path, "table.json")
    assert table["rows"][0]["ours"]["finished"] == [1]
    assert table["rows"][1]["ours"]["failures"] == {}


def test_another_config_in_the_same_folder_is_refused(
    tmp_path, fake, monkeypatch
):
    run_all(tmp_path, "data", seeds=1)
    changed = config(TABLE.row("lstm"))
    changed["text"]["min_count"] = 7
    monkeypatch.setattr(small_table, "config", lambda row: changed)
    with pytest.raises(RunError, match="the config of the row lstm changed"):
        run_all(tmp_path, "data", seeds=1)


def test_a_row_without_randomness_runs_once(tmp_path):
    row = PublishedRow("a", "A", published.BASELINE, seeded=False)
    table = PublishedTable("t/1", "c", "p", "v", (), (row,))
    planned = planned_runs.plan(table, lambda row: {}, str(tmp_path), 3)
    assert [run.seed for run in planned] == [1]


def test_a_row_without_its_data_is_left_out_unless_it_is_named(tmp_path):
    def make(row):
        if row.name == "lstm":
            raise MissingData("no SQuAD")
        return {}

    plan = functools.partial(planned_runs.plan, TABLE, make, str(tmp_path), 2)
    assert [run.row.name for run in plan()] == ["meta", "meta"]
    with pytest.raises(MissingData, match="row lstm: no SQuAD"):
        plan(["lstm"])


def test_rows_and_columns_choose(tmp_path):
    assert {r.row.name for r in plan(tmp_path, columns=["mtl"])} == {"meta"}
    assert {r.row.name for r in plan(tmp_path, rows=["lstm"])} == {"lstm"}
    with pytest.raises(ConfigError, match="did you mean 'meta'"):
        plan(tmp_path, rows=["metta"])
    with pytest.raises(ConfigError, match="did you mean 'single'"):
        plan(tmp_path, columns=["singel"])
    with pytest.raises(ConfigError, match="no row among lstm"):
        plan(tmp_path, rows=["lstm"], columns=["mtl"])
    # What the paper only quotes, nobody can run.
    with pytest.raises(ConfigError, match="unknown row of tiny/1 'old'"):
        plan(tmp_path, rows=["old"])


def test_unknown_table_lists_the_known_ones():
    with pytest.raises(ConfigError) as error:
        reproduce.find_table("meta_mtl/4")
    for name in published.TABLES:
        assert name in str(error.value)


def test_the_clock_takes_a_rows_own_time(tmp_path, fake):
    clock = planned_runs.Clock(plan(tmp_path))
    assert "unknown" in clock.left(plan(tmp_path))
    clock.add("lstm", 100)
    clock.add("meta", 500)
    # Two of each are left.
    assert "4 left, about 20 min 00 s" in clock.left(plan(tmp_path))
    run_all(tmp_path, "data", seeds=1)
    known = planned_runs.Clock(plan(tmp_path))
    assert "2 left, about 3 min 00 s" in known.left(plan(tmp_path))
