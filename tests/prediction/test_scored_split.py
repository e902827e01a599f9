"""What is kept of a model's outputs beside its predictions."""

import numpy as np
import pytest

from mtl_tf.evaluation import scored_examples
from mtl_tf.prediction.scored_split import score
from mtl_tf.prediction.task_types import of


class Said:
    """A predictor that says the same of two sentences."""

    def __init__(self, **outputs):
        self.outputs = outputs

    def predict(self, encoded, index, batch_size, texts):
        return {"loss": np.zeros(2, np.float32), **self.outputs}


TASK = {"name": "t", "labels": ["O", "X"], "metrics": ["x"], "loss_weight": 1.0}


def test_confidences_of_tokens_reach_the_kept_predictions(tmp_path):
    sure = [np.array([0.5, 0.75]), np.array([1.0])]
    said = Said(prediction=[np.array([0, 1]), np.array([1])], confidence=sure)
    task = {**TASK, "type": "tagging"}
    found = score(said, None, task, 0, 2, targets=[[0, 1], [0]])
    scored_examples.write(str(tmp_path), "test", [found])
    kept = scored_examples.read(str(tmp_path), "test")["t"]
    assert kept.confidences == [[0.5, 0.75], [1.0]]


@pytest.mark.parametrize("type", ["classification", "regression"])
def test_types_without_tokens_have_none(type):
    said = Said(prediction=np.array([0, 1]), scores=np.eye(2, dtype=np.float32))
    task = {**TASK, "type": type}
    assert of(type).fits is False
    assert score(said, None, task, 0, 2, targets=[0, 1]).confidences is None
