"""A run that trains adapters in a frozen encoder, saved and loaded."""

import numpy as np
import pytest

import mtl_tf
from mtl_tf.runs import training_run
from mtl_tf.text import presets
from tests.system import corpus
from tests.text import small_presets

SIZES = {"train": 40, "validation": 20, "test": 20}


@pytest.mark.extended
def test_adapters_train_in_a_frozen_encoder(tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    chosen = corpus.quick(corpus.write(tmp_path, 1, SIZES), epochs=1)
    chosen["model"]["encoder"] |= {
        "preset": preset,
        "trainable": False,
        "adapter_units": 3,
    }
    chosen["model"]["scheme"] = {"name": "direct"}
    chosen["evaluation"]["yardsticks"] = False
    results = training_run.train(chosen, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    assert run.evaluate("test")["tasks"] == results["tasks"]
    own = {v.path.partition("encoder/")[2]: v for v in run.model.variables}
    for weight in presets.load_backbone(preset).weights:
        if weight.path in own:
            np.testing.assert_array_equal(
                weight.numpy(), own[weight.path].numpy()
            )
    ups = [v for path, v in own.items() if path.endswith("/up")]
    assert len(ups) == 4
    # Of both tasks, each has its own by now.
    for up in ups:
        assert up.shape[0] == 2
        assert np.abs(up.numpy()).max(axis=(1, 2)).min() > 0
        assert not np.array_equal(up[0], up[1])
