"""The competitors of the Meta-LSTM are served as they predict."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.training import runs
from tests.export.test_export import TEXTS, assert_scores
from tests.system import corpus

SLOW = [
    {"name": "hyper_lstm", "hyper_units": 4, "hyper_vector": 3},
    {"name": "psp"},
    {"name": "ssp", "private_input": "both", "bidirectional": True},
]


@pytest.mark.parametrize(
    "scheme",
    [{"name": "asp"}]
    + [pytest.param(scheme, marks=pytest.mark.slow) for scheme in SLOW],
    ids=lambda scheme: scheme["name"],
)
def test_scheme_is_exported(scheme, toy_files, tmp_path):
    config = corpus.config(toy_files, epochs=1, jit=False)
    config["model"]["scheme"] = {"units": 6} | scheme
    runs.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    for task in ("plain", "mirror"):
        assert_scores(check.ask(version, task, TEXTS), run.predict(task, TEXTS))
    assert all(row["ok"] for row in check.check(version))
