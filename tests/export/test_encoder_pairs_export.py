"""Pairs of texts on a pretrained encoder, predicted and served."""

import os

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.configs import base
from tests.export.export_testing import assert_scores
from tests.system import random_runs
from tests.text import small_presets

LINES = "yes\tthe book\tgood\nno\tthe film\tnot good\n" * 4
PAIRS = [("the book", "good"), ("", "x"), ("zzz " * 40, "the film")]


@pytest.mark.extended
@pytest.mark.parametrize("form", ["joined", "apart"])
def test_pairs_are_answered_as_predict_does(form, tmp_path):
    path = random_runs.written(tmp_path, "pairs.tsv", LINES)
    entry = {
        "name": "entails",
        "type": "pair_classification",
        "files": dict.fromkeys(("train", "validation", "test"), path),
        "columns": {"label": 0, "text": 1, "text_pair": 2},
        "pairs": form,
    }
    chosen = base.default_config().to_dict()
    chosen["tasks"] = [entry]
    chosen["text"]["max_length"] = 24
    preset = small_presets.bert(os.path.join(tmp_path, "bert"))
    chosen["model"]["encoder"] |= {"preset": preset, "adapter_units": 2}
    chosen["model"]["scheme"] = {"name": "direct"}
    directory, _ = random_runs.write_weights(tmp_path / "run", chosen)
    run = mtl_tf.load(directory.path)
    found = run.predict(
        "entails", [{"text": a, "text_pair": b} for a, b in PAIRS]
    )
    version = saved_model.export(run, str(tmp_path / "export"))
    answers = check.ask(version, "entails", ["\t".join(p) for p in PAIRS])
    assert_scores(answers, found)
    assert all(row["ok"] for row in check.check(version))
