"""A run that trains adapters in a frozen encoder, saved and loaded."""

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import initializing, training_run
from mtl_tf.text.pretrained import presets
from mtl_tf.training.optimizers import freezing
from tests.runs.encoder_runs import ADAPTERS, config_of, made
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
    for name, scores in run.evaluate("test")["tasks"].items():
        before = results["tasks"][name]
        assert scores["accuracy"] == before["accuracy"]
        assert scores["loss"] == pytest.approx(before["loss"], rel=1e-5)
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


def of_run(model, tasks):
    """What another run takes weights from: random ones of a model."""
    rng = np.random.default_rng(len(tasks))
    values = {
        freezing.path_of(v): rng.normal(size=v.shape) for v in model.variables
    }
    return initializing.Source("elsewhere", values, tasks, {}, 1)


def values_of(model):
    return {freezing.path_of(v): v.numpy() for v in model.variables}


@pytest.mark.extended
@pytest.mark.parametrize(
    "only",
    [
        pytest.param((), marks=pytest.mark.extended),
        ("scheme",),
        pytest.param(("encoder",), marks=pytest.mark.extended),
    ],
)
def test_adapters_stand_in_an_encoder_that_was_tuned(only, tmp_path):
    """Though the encoder is not trained any more."""
    preset = small_presets.bert(tmp_path / "bert")
    entries = corpus.write(tmp_path, 1, SIZES)
    tuned = made(config_of(entries, preset), tmp_path / "tuned")
    source = of_run(tuned, ["plain", "mirror"])
    config = config_of(entries, preset, **ADAPTERS)
    model = made(config, tmp_path / "adapted")
    before = values_of(model)
    initializing.initialize(model, source, source.tasks, {}, only=only)
    after = values_of(model)
    encoder = [freezing.path_of(v) for v in model.embedding.network.weights]
    for path in encoder:
        np.testing.assert_allclose(after[path], source.weights[path], 1e-6)
    for path in set(after) - set(source.weights):
        np.testing.assert_array_equal(after[path], before[path])


@pytest.mark.extended
def test_ranks_that_no_change_can_have_are_refused(tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    entries = corpus.write(tmp_path, 1, SIZES)
    made(config_of(entries, preset, lora_rank=16), tmp_path / "whole")
    config = config_of(entries, preset, lora_rank=17)
    message = "lora_rank must be at most 16, .* of 'query', got 17"
    with pytest.raises(ConfigError, match=message):
        made(config, tmp_path / "more")


@pytest.mark.extended
def test_a_task_more_keeps_the_adapters_of_the_others(tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    entries = corpus.write(tmp_path, 1, SIZES)
    more = [{**entries[0], "name": "more"}, *entries]
    source = of_run(
        made(config_of(entries, preset, **ADAPTERS), tmp_path / "two"),
        ["plain", "mirror"],
    )
    model = made(config_of(more, preset, **ADAPTERS), tmp_path / "three")
    before = values_of(model)
    names = ["more", "plain", "mirror"]
    initializing.initialize(model, source, names, {})
    after = values_of(model)
    private = [freezing.path_of(v) for v in model.private_variables()]
    assert len(private) == 30
    for path in private:
        new, old = after[path], source.weights[path]
        np.testing.assert_array_equal(new[:1], before[path][:1])
        np.testing.assert_allclose(new[1:], old, 1e-6, err_msg=path)
