"""The schemes with memories answer the same when they are served."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.training import runs
from tests.system import corpus

SIZES = {"train": 40, "validation": 10, "test": 10}
TEXTS = ["the yes tree no stone", "", "no a yes of", "unseen words yes no"]


@pytest.mark.parametrize(
    "scheme",
    [
        pytest.param(
            {"name": "me_lstm", "align": "mlp"}, marks=pytest.mark.slow
        ),
        pytest.param({"name": "arc_i"}, marks=pytest.mark.slow),
        pytest.param({"name": "arc_ii"}, marks=pytest.mark.slow),
    ],
    ids=lambda scheme: scheme["name"],
)
def test_a_served_model_answers_as_predict_does(scheme, tmp_path):
    entries = corpus.write(tmp_path, 1, SIZES)
    config = corpus.config(entries, epochs=1)
    sizes = {"units": 6, "memory_slots": 5, "memory_width": 4}
    config["model"]["scheme"] = scheme | sizes
    runs.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    assert all(row["ok"] for row in check.check(version))
    answers = check.ask(version, "mirror", TEXTS)
    for answer, expected in zip(answers, run.predict("mirror", TEXTS)):
        assert answer["label"] == expected["label"]
        for label, score in expected["scores"].items():
            assert abs(answer["scores"][label] - score) < 1e-5
