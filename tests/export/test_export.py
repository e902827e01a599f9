import json
import os
import shutil
import signal
import time

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import mtl_tf
from export import (
    c_loader_process,
    check,
    exported_files,
    latency,
    saved_model,
    task_types,
    warmup,
)
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner
from mtl_tf.runs import training_run
from tests.export.export_testing import TEXTS, ask_each, assert_scores
from tests.system import corpus


@pytest.fixture(scope="module")
def run(toy_run):
    return mtl_tf.load(toy_run)


@pytest.fixture(scope="module")
def version(tmp_path_factory, run):
    made = saved_model.export(run, str(tmp_path_factory.mktemp("e") / "toy"))
    assert os.path.basename(made) == "1"
    # What is served lies elsewhere than where it was made.
    moved = tmp_path_factory.mktemp("moved") / "1"
    shutil.move(made, moved)
    return str(moved)


@pytest.mark.extended
def test_the_c_loader_answers_as_predict_does(run, version):
    calls = [("plain", TEXTS), ("mirror", TEXTS)]
    # Empty and enormous ones.
    for texts in ([""], ["", ""], [], ["yes " * 100_000]):
        calls.append(("plain", texts))
    for call, answers in zip(calls, ask_each(version, calls)):
        assert_scores(answers, run.predict(*call))


def test_one_task_is_asked(run, version):
    answers = check.ask(version, "mirror", TEXTS)
    assert [(a["text"], a["task"]) for a in answers] == [
        (text, "mirror") for text in TEXTS
    ]
    assert_scores(answers, run.predict("mirror", TEXTS))


def test_a_text_of_a_shell_that_is_not_utf_8_is_printed(monkeypatch, capsys):
    """Such a byte of an argument is a surrogate, which no JSON can have."""
    monkeypatch.setattr(
        check, "ask", lambda _, task, texts: [{"text": t} for t in texts]
    )
    flags = ["--model=m", "--task=plain", "--text=caf\udce9", "--text=é"]
    with pytest.raises(SystemExit) as ended:
        runner.run(check.PROGRAM, ["check", *flags])
    assert not ended.value.code
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["text"] for line in lines] == ["caf\ufffd", "é"]


MIXED = ["mirror", "plain", "no such task", "mirror", ""]


@pytest.fixture(scope="module")
def served(version):
    """What a single process answers to all that tests ask."""
    inputs = {"text": TEXTS, "task": MIXED}
    requests = [{"signature": "serving_default", "inputs": inputs}]
    for texts in [TEXTS, *([text] for text in TEXTS)]:
        requests.append({"signature": "plain", "inputs": {"text": texts}})
    return c_loader_process.run_in_c_loader(version, requests)


def test_mixed_tasks_in_one_call_and_unknown_ones(run, served):
    outputs = served["answers"][0]["outputs"]
    assert served["imported"] == []
    for row, (text, task) in enumerate(zip(TEXTS, MIXED)):
        if task in ("plain", "mirror"):
            (expected,) = run.predict(task, [text])
            assert outputs["label"][row] == expected["label"]
            np.testing.assert_allclose(
                outputs["scores"][row],
                [expected["scores"][c] for c in outputs["classes"][row]],
                atol=1e-5,
            )
        else:
            assert outputs["label"][row] == ""
            assert outputs["scores"][row] == [0.0, 0.0]
            assert outputs["classes"][row] == ["", ""]


@pytest.mark.by_default("3")
@pytest.mark.parametrize("tasks", [1, 3])
def test_texts_without_tasks_are_refused(version, tasks):
    inputs = {"text": TEXTS[:2], "task": ["plain"] * tasks}
    request = {"signature": "serving_default", "inputs": inputs}
    with pytest.raises(RunError, match="text and task must have as many rows"):
        c_loader_process.run_in_c_loader(version, [request])


def test_no_company_changes_a_score(served):
    row_of = task_types.of("classification").row
    together, *alone = [
        [
            row_of({name: value[row] for name, value in outputs.items()})
            for row in range(len(outputs["label"]))
        ]
        for outputs in (answer["outputs"] for answer in served["answers"][1:])
    ]
    assert len(together) == len(TEXTS)
    assert_scores(together, [answers[0] for answers in alone], 1e-6)


@pytest.mark.extended
def test_check_passes_and_notices_a_wrong_answer(version, tmp_path):
    rows = check.check(version)
    names = {"plain", "mirror", "serving_default"}
    assert {row["signature"] for row in rows} == names
    assert all(row["ok"] for row in rows)
    copy = tmp_path / "1"
    shutil.copytree(version, copy)
    path = copy / "assets.extra" / "warmup_answers.json"
    calls = json.loads(path.read_text())
    calls[1]["outputs"]["scores"][0][0] += 2e-5
    path.write_text(json.dumps(calls))
    wrong = [r["signature"] for r in check.check(str(copy)) if not r["ok"]]
    assert wrong == [calls[1]["signature"]]


def test_the_graph_has_no_xla_no_python_and_no_path(version, toy_run):
    with open(os.path.join(version, "saved_model.pb"), "rb") as file:
        content = file.read()
    assert b"PyFunc" not in content
    assert os.path.dirname(toy_run).encode() not in content
    graph = saved_model_pb2.SavedModel.FromString(content)
    functions = graph.meta_graphs[0].graph_def.library.function
    compiled = [
        f.signature.name
        for f in functions
        if f.attr["_XlaMustCompile"].b or f.attr["_tf_compile"].b
    ]
    assert compiled == []


def test_labels_results_and_warm_up_travel_along(version):
    extra = os.path.join(version, "assets.extra")
    assert set(os.listdir(extra)) == {
        "config.json",
        "labels.json",
        "results.json",
        "tf_serving_warmup_requests",
        "warmup_answers.json",
        "digests.json",
    }


def test_warm_up_requests_are_prediction_logs(version):
    path = os.path.join(version, "assets.extra", "tf_serving_warmup_requests")
    records = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    assert len(records) == 3
    prediction_log = pytest.importorskip(
        "tensorflow_serving.apis.prediction_log_pb2"
    )
    log = prediction_log.PredictionLog.FromString(records[0])
    request = log.predict_log.request
    assert request.model_spec.signature_name == "plain"
    texts = tf.make_ndarray(request.inputs["text"])
    assert texts[0].decode().startswith("a good one")


def test_warm_up_message_field_numbers():
    record = warmup.request("plain", {"text": ["ab"]})
    # PredictionLog.predict_log = 6, .request = 1, then model_spec = 1 with
    # signature_name = 3, and inputs = 2 with key = 1.
    assert record[0] == (6 << 3 | 2) and record[2] == (1 << 3 | 2)
    assert b"\x0a\x07\x1a\x05plain" in record
    assert b"\x0a\x04text\x12" in record


def test_versions_count_up_and_are_never_overwritten(run, version):
    folder = os.path.dirname(version)
    with pytest.raises(RunError, match="exists already"):
        saved_model.export(run, folder, version=1)
    assert saved_model.next_version(folder) == 2
    assert os.listdir(folder) == ["1"]
    with pytest.raises(ConfigError, match="export_dir must name a folder"):
        saved_model.export(run, "")


def test_two_exports_at_once_both_get_a_number(run, tmp_path, monkeypatch):
    """And an export whose number was chosen never takes another one."""

    def written_last(run, directory, weights):
        taken = tmp_path / str(saved_model.next_version(str(tmp_path)))
        taken.mkdir()
        (taken / "saved_model.pb").write_text("another's")

    monkeypatch.setattr(saved_model, "_write", written_last)
    assert saved_model.export(run, str(tmp_path)) == str(tmp_path / "2")
    with pytest.raises(RunError, match="3 exists already"):
        saved_model.export(run, str(tmp_path), version=3)
    for number in ("1", "3"):
        found = (tmp_path / number / "saved_model.pb").read_text()
        assert found == "another's"
    assert sorted(os.listdir(tmp_path)) == ["1", "2", "3"]


@pytest.mark.slow
def test_fine_tuned_copies_are_exported_with_their_tasks(tmp_path, toy_files):
    config = corpus.config(
        toy_files,
        epochs=1,
        fine_tune={"epochs": 1, "scope": "all", "learning_rate": 0.01},
    )
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    for task in ("plain", "mirror"):
        assert_scores(check.ask(version, task, TEXTS), run.predict(task, TEXTS))
    assert all(row["ok"] for row in check.check(version))


def test_what_is_no_export_is_named(tmp_path):
    with pytest.raises(RunError, match="neither a version directory of an ex"):
        check.ask(str(tmp_path), "plain", ["a"])
    with pytest.raises(RunError, match="nowhere is not there"):
        check.check(str(tmp_path / "nowhere"))
    (tmp_path / "saved_model.pb").write_bytes(b"not a model")
    with pytest.raises(RunError, match="C loader cannot run"):
        check.ask(str(tmp_path), "plain", ["a"])


@pytest.mark.extended
def test_the_folder_of_versions_stands_for_the_newest(version, tmp_path):
    for name in ("2", "10", "11", "old"):
        (tmp_path / name).mkdir()
        if name != "11":  # An export that was never finished.
            (tmp_path / name / "saved_model.pb").touch()
    assert exported_files.version_of(str(tmp_path)) == str(tmp_path / "10")
    assert exported_files.version_of(str(tmp_path / "2")) == str(tmp_path / "2")
    shutil.copytree(version, tmp_path / "12")
    (found,) = check.ask(str(tmp_path), "plain", ["a yes"])
    assert_scores([found], check.ask(version, "plain", ["a yes"]))


@pytest.mark.extended
def test_unknown_signature_names_the_known(version):
    with pytest.raises(RunError, match="no signature 'plane'.*mirror.*plain"):
        check.ask(version, "plane", ["a"])


@pytest.mark.parametrize("name", ["serving_default", "signatures"])
def test_a_reserved_task_name_is_refused(run, tmp_path, name):
    tasks = run.tasks
    run.tasks = [{**tasks[0], "name": name}]
    try:
        with pytest.raises(ConfigError, match="reserved"):
            saved_model.export(run, str(tmp_path / "e"))
    finally:
        run.tasks = tasks
    assert not os.path.exists(tmp_path / "e")


def test_a_run_with_its_last_weights_is_not_exported(run, tmp_path):
    """The scores beside an export are those of the best ones."""
    run.weights = "last"
    try:
        with pytest.raises(ConfigError, match="an export, .* best weights"):
            saved_model.export(run, str(tmp_path / "e"))
    finally:
        run.weights = "best"
    assert not os.path.exists(tmp_path / "e")


@pytest.mark.parametrize("name", ["assets/vocabulary.txt", "labels.json"])
def test_a_changed_file_of_an_export_is_named(version, tmp_path, name):
    """Swapped lines would give other answers without a word."""
    copy = shutil.copytree(version, tmp_path / "1")
    folder = "assets.extra/" if name == "labels.json" else ""
    path = copy / f"{folder}{name}"
    path.write_text(path.read_text().replace("a", "e"))
    with pytest.raises(RunError, match=f"{name} has changed"):
        check.check(str(copy))
    with pytest.raises(RunError, match=f"{name} has changed"):
        check.ask(str(copy), "plain", ["yes no"])


def test_warm_up_requests_that_a_server_cannot_read_are_named(
    version, tmp_path
):
    """It would not load such a version."""
    copy = shutil.copytree(version, tmp_path / "1")
    path = copy / "assets.extra" / "tf_serving_warmup_requests"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(RunError, match="warmup_requests has changed"):
        check.check(str(copy))


@pytest.mark.parametrize(
    "content",
    ["[]", "{}", "[1]", '[{"signature": "a", "inputs": {}, "outputs": {}}]'],
)
def test_recorded_answers_that_are_none_are_told(tmp_path, content):
    (tmp_path / "assets.extra").mkdir()
    (tmp_path / "saved_model.pb").touch()
    (tmp_path / "assets.extra/warmup_answers.json").write_text(content)
    with pytest.raises(RunError, match="warmup_answers.json (must|holds no)"):
        check.check(str(tmp_path))
    with pytest.raises(RunError, match="warmup_answers.json (must|holds no)"):
        latency.measure(str(tmp_path), 1)


def test_a_folder_with_a_digit_that_is_no_number_is_no_version(tmp_path):
    for name in ("2", "\u00b3"):
        (tmp_path / name).mkdir()
    assert saved_model.next_version(str(tmp_path)) == 3


def test_sigterm_leaves_no_half_of_an_export(toy_run, tmp_path, monkeypatch):
    def write(run, directory, weights):
        del run, weights
        with open(os.path.join(directory, "half"), "w"):
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)

    def ended(number, frame):
        raise AssertionError("it would have ended here")

    monkeypatch.setattr(saved_model, "_write", write)
    before = signal.signal(signal.SIGTERM, ended)
    flags = [f"--model_dir={toy_run}", f"--export_dir={tmp_path / 'e'}"]
    try:
        with pytest.raises(SystemExit) as stopped:
            runner.run(saved_model.PROGRAM, ["export", *flags])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert stopped.value.code == 128 + signal.SIGTERM
    assert not (tmp_path / "e").exists()


def test_the_export_of_a_training_that_has_not_ended_is_told(
    toy_run, tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(saved_model, "_write", lambda *ignored: None)
    copy = shutil.copytree(toy_run, tmp_path / "run")
    flags = [f"--model_dir={copy}", f"--export_dir={tmp_path / 'e'}"]
    told = []
    for _ in range(2):
        caplog.clear()
        with pytest.raises(SystemExit) as ended:
            runner.run(saved_model.PROGRAM, ["export", *flags])
        assert not ended.value.code
        told.append("has not come to its end" in caplog.text)
        (copy / "results.json").unlink(missing_ok=True)
    assert told == [False, True]


def test_an_unfinished_training_is_told_in_python_too(
    toy_run, tmp_path, monkeypatch
):
    warnings = []
    monkeypatch.setattr(saved_model, "_write", lambda *ignored: None)
    monkeypatch.setattr(
        saved_model.logging, "warning", lambda text, *_: warnings.append(text)
    )
    copy = shutil.copytree(toy_run, tmp_path / "run")
    (copy / "results.json").unlink()
    saved_model.export(mtl_tf.load(copy), str(tmp_path / "e"))
    assert any("has not come to its end" in text for text in warnings)


@pytest.mark.parametrize(
    ("started_as", "command"),
    [("bin/mtl-export", "mtl-check"), ("saved_model.py", "python -m export.")],
)
def test_the_check_is_named_as_it_can_be_started(
    monkeypatch, started_as, command
):
    monkeypatch.setattr("sys.argv", [started_as])
    assert saved_model._check_command().startswith(command)
