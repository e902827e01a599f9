"""How a model is run over a split."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core import passes
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.prediction import inference
from mtl_tf.runs.stages import stage_runner
from tests.pipelines.helpers import random_split
from tests.runs.helpers import train
from tests.system import corpus

BOUNDARIES = (64, 128, 256, 512)


class Sums:
    """A model whose score is the sum of a text's ids; keeps what it read."""

    def __init__(self, static_shapes):
        self.static_shapes, self.shapes = static_shapes, []

    def key_of(self, task):
        return None

    def __call__(self, batch, training, key):
        self.shapes.append(tuple(batch["tokens"].shape[1:]))
        sums = tf.reduce_sum(batch["tokens"], -1)
        return {"scores": tf.cast(sums, tf.float32)[..., None]}


def config_with(jit, static_shapes):
    pipeline = {"static_shapes": static_shapes}
    return {"training": {"jit": jit}, "pipeline": pipeline}


IN_TRAINING = {
    "compile_from": inference.compile_in_training(config_with(True, True))
}


def test_long_predictions_tell_how_far_they_are(monkeypatch, caplog):
    monkeypatch.setattr(passes, "_SECONDS", 0.0)
    run = inference.Predictor(Sums(True), ["classification"], [BOUNDARIES], ())
    with caplog.at_level("INFO", logger="absl"):
        run.predict(random_split("books", 100, 60), 0, 64)
    assert caplog.messages == [
        "books: predicting, 64 of 100 examples",
        "books: predicting, 100 of 100 examples",
    ]


@pytest.mark.parametrize("count", [256, 300])
def test_models_without_static_shapes_read_little_padding(monkeypatch, count):
    split = random_split("books", count, 500)
    sums = [split.columns["tokens"][row].sum() for row in range(count)]
    shapes = {}
    for static in (True, False):
        model = Sums(static)
        run = inference.Predictor(
            model, ["classification"], [BOUNDARIES], (), **IN_TRAINING
        )
        # Traced once for several shapes, it would not show each.
        monkeypatch.setattr(run, "_plain", run._forward)
        monkeypatch.setattr(run, "_compiled", run._forward)
        scores = run.predict(split, 0, 64)["scores"]
        np.testing.assert_allclose(scores[:, 0], sums, rtol=1e-6)
        shapes[static] = model.shapes
    assert {length for _, length in shapes[True]} <= set(BOUNDARIES)
    cells = {static: sum(b * t for b, t in s) for static, s in shapes.items()}
    assert all(b * t <= 4096 for b, t in shapes[False])
    assert cells[False] < 0.8 * cells[True]


@pytest.mark.parametrize(
    ("count", "options", "is_compiled"),
    [
        (300, {}, False),
        (300, IN_TRAINING, True),
        (200, IN_TRAINING, False),
    ],
)
def test_recurrences_are_compiled_for_many_examples(
    monkeypatch, count, options, is_compiled
):
    """Of training, which scores a split many times, fewer are many."""
    split = random_split("books", count, 50)
    run = inference.Predictor(
        Sums(True), ["classification"], [BOUNDARIES], (), **options
    )
    found = set()

    def forward(batch, names, key):
        found.add(recurrence.is_compiled())
        return run._forward(batch, names, key)

    monkeypatch.setattr(run, "_plain", forward)
    monkeypatch.setattr(run, "_compiled", forward)
    assert len(run.predict(split, 0, 64)["scores"]) == count
    assert found == {is_compiled}


@pytest.mark.parametrize(("jit", "static"), [(False, True), (True, False)])
def test_validation_is_not_compiled_where_training_is_not(jit, static):
    config = config_with(jit, static)
    assert inference.compile_in_training(config) == np.inf


def test_training_says_from_where_its_validation_is_compiled(
    toy_files, tmp_path, monkeypatch
):
    made = []

    class Noted(inference.Predictor):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(stage_runner, "Predictor", Noted)
    config = corpus.quick(toy_files, epochs=1, steps_per_epoch=2)
    train(config, str(tmp_path / "run"))
    (predictor,) = made
    # Compiled nowhere; what scores a finished run compiles many examples.
    assert predictor.compile_from == np.inf


def test_what_is_not_compiled_is_padded_to_the_longest_of_a_batch(monkeypatch):
    split, model = random_split("books", 64, 500), Sums(True)
    run = inference.Predictor(model, ["classification"], [BOUNDARIES], ())
    monkeypatch.setattr(run, "_plain", run._forward)
    scores = run.predict(split, 0, 1)["scores"]
    assert [t for _, t in model.shapes] == sorted(np.maximum(split.lengths, 1))
    sums = [split.columns["tokens"][row].sum() for row in range(64)]
    np.testing.assert_allclose(scores[:, 0], sums, rtol=1e-6)
