"""A Transformer trained in bfloat16 is served in float32."""

import numpy as np
import pytest

import mtl_tf
from export import check, saved_model, served_graph
from tests.export.export_testing import TEXTS


@pytest.mark.slow
def test_an_export_computes_in_float32(transformer_run, tmp_path):
    run = mtl_tf.load(transformer_run)
    version = saved_model.export(run, str(tmp_path))
    assert all(row["ok"] for row in check.check(version))
    [model] = {id(m): m for m in served_graph._models(run)}.values()
    assert model.scheme.compute_dtype == "float32"
    for ours, theirs in zip(run.model.variables, model.variables):
        np.testing.assert_array_equal(ours.numpy(), theirs.numpy())
    for task in ("plain", "mirror"):
        served = check.ask(version, task, TEXTS)
        for one, other in zip(served, run.predict(task, TEXTS)):
            # bfloat16 has three digits.
            for label, score in other["scores"].items():
                assert abs(one["scores"][label] - score) < 0.05
