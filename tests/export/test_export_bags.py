"""The models that do not run over time are served like the others."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.training import runs
from tests.system import corpus

TEXTS = ["the yes tree no stone", "", "no a yes of", "unseen words yes no", "x"]


@pytest.mark.parametrize(
    "scheme, private",
    [
        ({"name": "mt_cnn", "filters": 8, "widths": [2, 3]}, 6),
        ({"name": "mt_dnn", "units": 8}, 0),
        ({"name": "nbow", "bag": "mean"}, 4),
    ],
    ids=str,
)
def test_exports_and_passes_the_check(scheme, private, tmp_path):
    sizes = {"train": 60, "validation": 20, "test": 20}
    config = corpus.config(corpus.write(str(tmp_path), 3, sizes), epochs=1)
    config["model"]["scheme"] = scheme
    config["model"]["embedding_private_dim"] = private
    results = runs.train(config, str(tmp_path / "run"))
    assert results["run"]["parameters"] > 0
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    rows = check.check(version)
    assert len(rows) == 3 and all(row["ok"] for row in rows)
    for task in ("plain", "mirror"):
        answers = check.ask(version, task, TEXTS)
        for answer, wanted in zip(answers, run.predict(task, TEXTS)):
            assert answer["label"] == wanted["label"]
            for label, score in wanted["scores"].items():
                assert abs(answer["scores"][label] - score) <= 1e-5
