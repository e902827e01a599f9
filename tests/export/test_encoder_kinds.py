"""Each kind of encoder through a whole run: training, export, C loader."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.runs import training_run
from tests.export.export_testing import TEXTS, ask_each, assert_scores
from tests.system import corpus
from tests.text import small_presets

SIZES = {"train": 40, "validation": 20, "test": 20}


@pytest.mark.slow
@pytest.mark.parametrize("kind", small_presets.KINDS)
def test_every_kind_trains_predicts_and_is_served(kind, tmp_path):
    """With all kinds of adapters, which each of them has places for."""
    chosen = corpus.quick(corpus.write(tmp_path, 1, SIZES), epochs=1)
    chosen["model"]["encoder"] |= {
        "preset": small_presets.of_kind(kind, tmp_path / kind),
        "adapter_units": 2,
        "lora_rank": 2,
        "projected_attention_units": 4,
        "projected_attention_heads": 2,
    }
    chosen["model"]["scheme"] = {"name": "direct"}
    chosen["evaluation"]["yardsticks"] = False
    training_run.train(chosen, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    version = saved_model.export(run, str(tmp_path / "export"))
    texts = [*TEXTS, "a good book 😀 <s> " * 30]
    calls = [("plain", texts), ("mirror", texts)]
    for call, answers in zip(calls, ask_each(version, calls)):
        assert_scores(answers, run.predict(*call))
    rows = check.check(version)
    assert len(rows) == 3 and all(row["ok"] for row in rows)
    for path, value in (
        (v.path, v.numpy()) for v in run.model.private_variables()
    ):
        # Every adapter has learnt something, the tasks not the same.
        if path.endswith(("/up", "/decode")):
            assert (value[0] != value[1]).any(), path
