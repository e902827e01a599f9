"""Which weights a config's `freeze` names."""

import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import training_run
from mtl_tf.training.optimizers import freezing
from tests.system import corpus, random_runs


@pytest.fixture(scope="module")
def model(tmp_path_factory, small_files):
    config = corpus.config(small_files)
    folder = tmp_path_factory.mktemp("freezing") / "run"
    return mtl_tf.load(random_runs.write_weights(folder, config)[0].path).model


def paths(model, *patterns):
    return {freezing.path_of(v) for v in freezing.frozen(model, patterns)}


def test_the_named_parts_cover_the_model(model):
    shared = paths(model, "shared")
    names = ("meta_kernel", "meta_recurrent", "meta_bias", "vector_kernel")
    assert shared == {f"scheme/forward/{n}" for n in names}
    assert paths(model, "embedding") == {"embedding/vectors"}
    private = paths(model, "private")
    everything = {freezing.path_of(v) for v in model.trainable_variables}
    assert shared | private | {"embedding/vectors"} == everything
    assert not private & shared
    assert paths(model, "heads") == {
        "classification/dense/kernel",
        "classification/dense/bias",
    }


def test_patterns_of_paths(model):
    assert paths(model, "scheme") == paths(model, "scheme/forward")
    assert paths(model, "scheme/*/meta_*") == paths(
        model,
        "scheme/forward/meta_kernel",
        "scheme/forward/meta_recurrent",
        "scheme/forward/meta_bias",
    )
    assert paths(model, "*/vectors", "heads") == {"embedding/vectors"} | paths(
        model, "heads"
    )


def test_a_pattern_without_weights_lists_the_paths(model):
    with pytest.raises(ConfigError, match="'scheme/meta' names no") as got:
        paths(model, "scheme/meta")
    assert "scheme/forward/meta_kernel" in str(got.value)


def test_freezing_everything_is_an_error(tmp_path, small_files):
    chosen = corpus.config(small_files, freeze=["*"])
    with pytest.raises(ConfigError, match="leaves the stage joint nothing"):
        training_run.train(chosen, str(tmp_path / "a"))
