"""Runs that older code trained: what they said then, they say now.

See `tests.stored_runs.make`, which made them.
"""

import json
import shutil

import numpy as np
import pytest
from seqeval.metrics import f1_score

import mtl_tf
from export import saved_model
from launch import predict
from mtl_tf.programs import runner
from tests.stored_runs import make

ROOT = make.HERE.parents[1]
NAMES = (*make.SCHEMES, "translation")


@pytest.fixture(scope="module", params=NAMES)
def stored(request, tmp_path_factory):
    """A copy of a stored run, loaded, and what it said."""
    folder = tmp_path_factory.mktemp("stored") / request.param
    shutil.copytree(make.HERE / request.param, folder)
    expected = json.loads((folder / "expected.json").read_text())
    # What is called type was called kind then.
    text = json.dumps(expected).replace('"kind":', '"type":')
    return mtl_tf.load(str(folder)), json.loads(text)


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    """The configs name their data relative to it."""
    monkeypatch.chdir(ROOT)


def assert_close(found, expected, where=""):
    """Equal, but for the last bits of numbers: processors differ.

    What newer code says besides, such as that translations repeat, may stand.
    """
    if isinstance(expected, dict):
        assert expected.keys() <= found.keys(), where
        for key in expected:
            assert_close(found[key], expected[key], f"{where}/{key}")
    elif isinstance(expected, list):
        assert len(found) == len(expected), where
        for number, (one, other) in enumerate(zip(found, expected)):
            assert_close(one, other, f"{where}/{number}")
    elif isinstance(expected, float):
        np.testing.assert_allclose(found, expected, 1e-4, 1e-5, err_msg=where)
    else:
        assert found == expected, where


@pytest.mark.by_default("lstm", "meta_mtl", "mt_cnn", "l_e", "tagging")
def test_it_predicts_what_it_did(stored):
    run, expected = stored
    for task, predictions in expected["predictions"].items():
        assert_close(run.predict(task, make.TEXTS), predictions, task)


@pytest.mark.by_default("lstm", "mt_cnn")
def test_it_scores_what_it_did(stored):
    run, expected = stored
    assert_close(run.evaluate("test"), expected["scores"])


@pytest.mark.extended
def test_a_tagged_file_has_the_scores_of_the_run(tmp_path, monkeypatch):
    """The file is in IOB2, the run was trained in IOBES."""
    folder = tmp_path / "run"
    shutil.copytree(make.HERE / "tagging", folder)
    run = mtl_tf.load(str(folder))
    monkeypatch.setattr(mtl_tf, "load", lambda *_: run)
    source = make.HERE / "data" / "spans.test.conll"
    argv = ["predict", "--model_dir=x", "--task=spans", f"--input={source}"]
    argv.append(f"--output={tmp_path / 'tagged.conll'}")
    predict.main(runner.parse(predict.PROGRAM, argv))
    rows = [
        [line.split(" ") for line in path.read_text().split("\n")]
        for path in (source, tmp_path / "tagged.conll")
    ]
    assert [row[:1] for row in rows[0]] == [row[:1] for row in rows[1]]
    gold, found = ([row[-1] or "O" for row in side] for side in rows)
    scores = run.results["tasks"]["spans"]
    f1 = 100 * f1_score([gold], [found])
    np.testing.assert_allclose(f1, scores["span_f1"], 1e-6)
    right = sum(a == b for a, b, row in zip(gold, found, rows[0]) if row[0])
    accuracy = 100 * right / scores["tokens"]
    np.testing.assert_allclose(accuracy, scores["token_accuracy"], 1e-6)


@pytest.mark.slow
def test_its_export_answers_what_it_did(stored, tmp_path):
    run, expected = stored
    path = saved_model.export(run, str(tmp_path / "export"))
    with open(f"{path}/assets.extra/warmup_answers.json") as file:
        assert_close(json.load(file), expected["export"])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_same_training_ends_with_the_same_weights(name, tmp_path):
    """`make --compare` tells whether they have the same bits.

    Adam takes a whole step where a gradient is nearly 0, so another processor's
    rounding moves single elements: the norm of a weight's difference counts.
    """
    make.train(make.config_of(make.HERE / name), str(tmp_path / name))
    found = make.weights_of(str(tmp_path / name))
    expected = make.weights_of(str(make.HERE / name))
    assert found.keys() == expected.keys()
    for path, weight in expected.items():
        moved = np.linalg.norm(found[path] - weight)
        assert moved <= 5e-4 * np.linalg.norm(weight) + 1e-6, path
