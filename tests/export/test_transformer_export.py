"""The Transformers answer the same when they are served."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.training import runs
from tests.export.test_export import TEXTS, assert_scores
from tests.system import corpus

SIZES = {"train": 40, "validation": 10, "test": 10}
SCHEME = {"layers": 2, "units": 12, "heads": 3, "feed_forward": 16}
SLOW = [
    ("s_p", {"positions": "sinusoidal"}, {"hidden_units": 8}),
    ("s_c", {"norm": "post"}, {}),
    ("l_i", {}, {"sharing": "shared"}),
]


@pytest.mark.parametrize(
    "name, options, head",
    [("l_e", {}, {})]
    + [pytest.param(*case, marks=pytest.mark.slow) for case in SLOW],
)
def test_a_served_model_answers_as_predict_does(name, options, head, tmp_path):
    config = corpus.config(corpus.write(tmp_path, 1, SIZES), epochs=1)
    # Some texts are longer than there are positions.
    scheme = {"name": name, "max_positions": 4, **SCHEME, **options}
    config["text"]["max_length"] = 0
    config["model"]["scheme"] = scheme
    config["model"]["head"] |= head
    runs.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    for task in ("plain", "mirror"):
        assert_scores(check.ask(version, task, TEXTS), run.predict(task, TEXTS))
    assert all(row["ok"] for row in check.check(version))
