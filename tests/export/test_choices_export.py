"""An export of a run that has chosen what heads read beside n-grams."""

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import saved_model
from mtl_tf.runs import training_run
from tests.system import corpus


@pytest.mark.extended
def test_an_export_reads_the_same_share(tmp_path):
    sizes = {"train": 60, "validation": 40, "test": 20}
    config = corpus.quick(corpus.write(tmp_path, 1, sizes), "lstm")
    config["model"]["wide"] |= {"buckets": 64, "alone": 0.5}
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    texts = ["the yes of no", "no stone yes", "river"]
    before = run.predict("mirror", texts)
    for task in range(2):
        run.predictor.model.choose(task, 3)
    own = [row["scores"]["1"] for row in run.predict("mirror", texts)]
    assert own != [row["scores"]["1"] for row in before]
    path = saved_model.export(run, str(tmp_path / "export"))
    served = tf.saved_model.load(path).signatures["mirror"]
    said = served(text=tf.constant(texts))["scores"]
    np.testing.assert_allclose(said[:, 1], own, atol=1e-6)
