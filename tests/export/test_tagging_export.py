"""Exports of runs that tag; none of them is trained."""

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import mtl_tf
from export import c_loader_process, check, saved_model, serving, task_types
from tests.system import tagging

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

LONG = "EU " * 20_000
TEXTS = ["The EU rejects\tlamb", "", "é 🎉x sleeps", "one two three " * 5, LONG]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two tasks, with different numbers of labels."""
    folder = tmp_path_factory.mktemp("run")
    return mtl_tf.load(
        tagging.write_run(folder / "run", tagging.entries(folder))
    )


@pytest.fixture(scope="module")
def version(tmp_path_factory, run):
    return saved_model.export(run, str(tmp_path_factory.mktemp("export")))


def assert_tagged(answers, expected):
    assert len(answers) == len(expected)
    for answer, wanted in zip(answers, expected):
        for part in ("task", "tokens", "tags", "offsets"):
            assert answer[part] == wanted[part]
        np.testing.assert_allclose(
            answer["confidence"], wanted["confidence"], atol=1e-5
        )


def test_loading_one_in_python_warns_of_nothing(version, caplog):
    with caplog.at_level("WARNING"):
        loaded = tf.saved_model.load(version)
    assert not caplog.records
    assert "chunks" in loaded.signatures


def test_the_c_loader_answers_as_predict_does(run, version):
    tasks = ["words", "chunks", "no such task", "chunks", ""]
    requests = [
        {"signature": "chunks", "inputs": {"text": TEXTS}},
        {"signature": "words", "inputs": {"text": []}},
        {"signature": "words", "inputs": {"text": ["", " "]}},
        {"signature": "serving_default", "inputs": {"text": TEXTS}},
    ]
    requests[-1]["inputs"]["task"] = tasks
    result = c_loader_process.run_in_c_loader(version, requests)
    chunks, nothing, empty, mixed = (
        answer["outputs"] for answer in result["answers"]
    )
    assert_tagged(read("chunks", chunks), run.predict("chunks", TEXTS))
    shape = (len(TEXTS), tagging.MAX_LENGTH)
    assert np.shape(chunks["confidence"]) == np.shape(chunks["tags"]) == shape
    assert chunks["length"] == [4, 0, 3, shape[1], shape[1]]
    assert chunks["tokens"][1] == chunks["tags"][1] == [""] * shape[1]
    assert set(map(len, nothing.values())) == {0}
    assert empty["tokens"] == [[""], [""]] and empty["length"] == [0, 0]
    for row, (task, text) in enumerate(zip(tasks, TEXTS)):
        own = {name: values[row : row + 1] for name, values in mixed.items()}
        if task in ("words", "chunks"):
            assert_tagged(read(task, own), run.predict(task, [text]))
        else:
            assert own.pop("length") == [0]
            for values in own.values():
                assert set(values[0]) in ({""}, {0}, {0.0})


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["s_p", "l_i", "l_e"])
def test_transformers_are_served_as_well(tmp_path, scheme):
    directory = tmp_path / "run"
    entries = tagging.entries(tmp_path)
    run = mtl_tf.load(tagging.write_run(directory, entries, scheme))
    version = saved_model.export(run, str(tmp_path / "export"))
    for task in ("chunks", "words"):
        assert_tagged(check.ask(version, task, TEXTS), run.predict(task, TEXTS))
    assert all(row["ok"] for row in check.check(version))


def read(task, outputs):
    rows = zip(*outputs.values())
    return [
        {"task": task, **task_types.of("tagging").row(dict(zip(outputs, row)))}
        for row in rows
    ]


def test_nothing_is_compiled(version):
    with open(f"{version}/saved_model.pb", "rb") as file:
        content = file.read()
    graph = saved_model_pb2.SavedModel.FromString(content)
    functions = graph.meta_graphs[0].graph_def.library.function
    assert not any(f.attr["_XlaMustCompile"].b for f in functions)
    assert b"PyFunc" not in content


@pytest.mark.slow
def test_check_passes(version):
    rows = check.check(version)
    names = {"chunks", "words", "serving_default"}
    assert {row["signature"] for row in rows if row["ok"]} == names


@pytest.mark.slow
def test_kinds_have_no_default_in_common(tagging_run):
    run = mtl_tf.load(tagging_run)
    models = [run.model] * len(run.tasks)
    served = serving.all_served(run, models)
    functions = serving.functions(served, run.tasks)
    assert list(functions) == ["chunks", "words", "mood"]
    (expected,) = run.predict("mood", TEXTS[:1])
    outputs = functions["mood"](tf.constant(TEXTS[:1]))
    assert outputs["label"].numpy()[0].decode() == expected["label"]
    np.testing.assert_allclose(
        outputs["scores"][0], list(expected["scores"].values()), atol=1e-5
    )


@pytest.mark.slow
def test_several_kinds_are_exported_together(tagging_run, tmp_path):
    run = mtl_tf.load(tagging_run)
    version = saved_model.export(run, str(tmp_path))
    rows = check.check(version)
    names = ["chunks", "words", "mood"]
    assert [row["signature"] for row in rows if row["ok"]] == names
    loaded = tf.saved_model.load(version)
    assert sorted(loaded.signatures) == sorted(names)
    assert_tagged(
        check.ask(version, "words", TEXTS), run.predict("words", TEXTS)
    )
    (mood,) = check.ask(version, "mood", TEXTS[:1])
    assert mood["label"] == run.predict("mood", TEXTS[:1])[0]["label"]
