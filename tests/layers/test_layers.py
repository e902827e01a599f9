"""The layers that do not run over time."""

import functools

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers import base
from mtl_tf.layers.base import check_init
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.task_dense import TaskDense
from tests.layers.layer_testing import run_layer_test

TASK = tf.constant([2, 0])


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).normal(size=shape)
    return tf.constant(values, tf.float32)


def test_task_dense():
    x = normal(2, 4, 5)
    layer = run_layer_test(
        lambda: TaskDense(3, tasks=3, name="dense"),
        (x, TASK),
        parameters=3 * (5 * 3 + 3),
        output_shapes=(2, 4, 3),
    )
    kernel, bias = map(np.array, (layer.kernel, layer.bias))
    for group, task in enumerate(TASK.numpy()):
        expected = x[group] @ kernel[task] + bias[task]
        np.testing.assert_allclose(layer(x, TASK)[group], expected, atol=1e-6)


def test_task_dense_on_sequences_without_bias():
    x = normal(2, 4, 6, 5)
    layer = run_layer_test(
        lambda: TaskDense(3, tasks=3, use_bias=False, name="dense"),
        (x, TASK),
        parameters=3 * 5 * 3,
        output_shapes=(2, 4, 6, 3),
    )
    expected = np.einsum("gbtk,gkn->gbtn", x, tf.gather(layer.kernel, TASK))
    np.testing.assert_allclose(layer(x, TASK), expected, atol=1e-5)


def test_task_dense_that_is_shared():
    x = normal(2, 4, 6, 5)
    for bias in (True, False):
        layer = run_layer_test(
            functools.partial(
                TaskDense, 3, tasks=0, use_bias=bias, name="dense"
            ),
            (x, TASK),
            parameters=5 * 3 + (3 if bias else 0),
            output_shapes=(2, 4, 6, 3),
        )
        expected = x @ layer.kernel + (layer.bias if bias else 0)
        np.testing.assert_allclose(layer(x, TASK), expected, atol=1e-5)
        assert not any(marks_of(weight).is_private for weight in layer.weights)


def test_embedding():
    tokens = tf.constant([[[3, 0, 3], [1, 2, 0]]])
    layer = run_layer_test(
        lambda: Embedding(7, 4, name="embedding"),
        (tokens,),
        parameters=28,
        output_shapes=(1, 2, 3, 4),
        symbolic=None,
    )
    np.testing.assert_array_equal(layer.mask(tokens), tokens != 0)
    vectors = np.arange(28, dtype=np.float32).reshape(7, 4)
    layer.set_vectors(vectors)
    np.testing.assert_array_equal(layer(tokens)[0, 0, 0], vectors[3])
    with pytest.raises(ValueError, match=r"shape \(7, 4\), got \(4, 7\)"):
        layer.set_vectors(vectors.T)


@pytest.mark.parametrize("policy", ["float32", "mixed_bfloat16"])
def test_embedding_has_sparse_gradients_of_repeated_rows(policy):
    layer = Embedding(7, 4, dtype=policy)
    layer.build()

    @tf.function
    def gradient(tokens):
        with tf.GradientTape() as tape:
            x = layer(tokens)
            assert x.dtype.name == layer.compute_dtype
            total = tf.reduce_sum(tf.cast(x, tf.float32))
        found = tape.gradient(total, layer.vectors.value)
        assert isinstance(found, tf.IndexedSlices)
        return tf.convert_to_tensor(found)

    dense = gradient(tf.constant([[[3, 0, 3]]]))
    np.testing.assert_array_equal(dense[:, 0], [1, 0, 0, 2, 0, 0, 0])


def test_embedding_shared_in_part():
    tokens = tf.constant([[[3, 0, 3]], [[3, 1, 2]]])
    layer = run_layer_test(
        lambda: Embedding(7, 5, private_dimension=2, tasks=3, name="e"),
        (tokens, TASK),
        parameters=7 * 3 + 3 * 7 * 2,
        output_shapes=(2, 1, 3, 5),
    )
    shared = np.array(layer.vectors)
    private = np.array(layer.private_vectors).reshape(3, 7, 2)
    for g, task in enumerate(TASK.numpy()):
        ids = tokens[g].numpy()
        expected = np.concatenate([shared[ids], private[task][ids]], -1)
        np.testing.assert_array_equal(layer(tokens, TASK)[g], expected)
    assert np.any(private[0] != private[1])
    # Pretrained vectors are the shared part.
    layer.set_vectors(np.ones([7, 3], np.float32))
    assert np.all(np.array(layer(tokens, TASK))[..., :3] == 1)
    np.testing.assert_array_equal(
        np.array(layer.private_vectors).reshape(3, 7, 2), private
    )
    with pytest.raises(ValueError, match=r"shape \(7, 3\), got \(7, 5\)"):
        layer.set_vectors(np.ones([7, 5], np.float32))
    with pytest.raises(ValueError, match="need the groups' tasks, got None"):
        layer(tokens)


def test_private_embeddings_have_sparse_exact_gradients_of_their_task():
    layer = Embedding(7, 5, private_dimension=2, tasks=3)
    layer.build()

    @tf.function
    def gradients(tokens, task):
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(layer(tokens, task))
        found = tape.gradient(total, [v.value for v in layer.weights])
        assert all(isinstance(g, tf.IndexedSlices) for g in found)
        # No slice but of the tokens: nothing grows with tasks or vocabulary.
        assert all(g.values.shape[0] == 6 for g in found)
        return [tf.convert_to_tensor(g) for g in found]

    tokens = tf.constant([[[3, 0, 3]], [[3, 1, 2]]])
    shared, private = gradients(tokens, TASK)
    np.testing.assert_array_equal(shared[:, 0], [1, 1, 1, 3, 0, 0, 0])
    by_task = np.reshape(private, (3, 7, 2))
    np.testing.assert_array_equal(by_task[2, :, 0], [1, 0, 0, 2, 0, 0, 0])
    np.testing.assert_array_equal(by_task[0, :, 1], [0, 1, 1, 1, 0, 0, 0])
    assert not np.any(by_task[1])
    assert (
        marks_of(layer.private_vectors).is_private
        and not marks_of(layer.vectors).is_private
    )


@pytest.mark.parametrize("private", [5, 6, -1, 2.0])
def test_wrong_private_dimensions(private):
    with pytest.raises(ConfigError, match="embedding_private_dim must be"):
        Embedding(7, 5, private_dimension=private)


def head_arguments():
    return (
        {"summary": normal(2, 4, 5)},
        {"task": TASK, "label": tf.constant([[0, 1, 1, 0], [4, 0, 2, 3]])},
    )


def test_classification_head():
    counts = [5, 3, 2]
    encoded, batch = head_arguments()
    head = run_layer_test(
        lambda: ClassificationHead(counts, name="head"),
        (encoded, batch),
        parameters=3 * (5 * 5 + 5),
        output_shapes={
            "logits": (2, 4, 5),
            "scores": (2, 4, 5),
            "prediction": (2, 4),
            "loss": (2, 4),
        },
    )
    output = {name: np.array(v) for name, v in head(encoded, batch).items()}
    kernel, bias = (np.array(w) for w in head.dense.weights)
    for g, task in enumerate(TASK.numpy()):
        own = counts[task]
        logits = encoded["summary"][g] @ kernel[task] + bias[task]
        scores = np.exp(logits[:, :own])
        scores /= scores.sum(-1, keepdims=True)
        np.testing.assert_allclose(
            output["scores"][g, :, :own], scores, atol=1e-6
        )
        assert not np.any(output["scores"][g, :, own:])
        np.testing.assert_array_equal(
            output["prediction"][g], scores.argmax(-1)
        )
        label = batch["label"][g].numpy()
        np.testing.assert_allclose(
            output["loss"][g], -np.log(scores[range(4), label]), atol=1e-5
        )
    assert output["loss"].dtype == np.float32
    assert "loss" not in head(encoded, {"task": TASK})


def test_foreign_labels_get_no_gradient():
    head = ClassificationHead([5, 2])
    summary = normal(1, 4, 5)
    batch = {"task": tf.constant([1]), "label": tf.constant([[0, 1, 1, 0]])}
    head({"summary": summary}, batch)
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(head({"summary": summary}, batch)["loss"])
    kernel = tape.gradient(total, head.dense.kernel.value)
    kernel = tf.convert_to_tensor(kernel).numpy()
    assert np.any(kernel[1, :, :2])
    assert not np.any(kernel[1, :, 2:]) and not np.any(kernel[0])


def test_shared_head():
    encoded, batch = head_arguments()
    head = run_layer_test(
        lambda: ClassificationHead([5, 5, 5], "shared", name="head"),
        (encoded, batch),
        parameters=5 * 5 + 5,
        output_shapes={
            "logits": (2, 4, 5),
            "scores": (2, 4, 5),
            "prediction": (2, 4),
            "loss": (2, 4),
        },
    )
    kernel, bias = (np.array(w) for w in head.dense.weights)
    expected = np.array(encoded["summary"]) @ kernel + bias
    np.testing.assert_allclose(
        head(encoded, batch)["logits"], expected, atol=1e-5
    )
    with pytest.raises(ConfigError, match=r"got 'shared' for \[5, 2\]"):
        ClassificationHead([5, 2], "shared")
    with pytest.raises(ConfigError, match="did you mean 'shared'"):
        ClassificationHead([5, 5], "share")


def test_head_is_float32_under_mixed_policies():
    encoded, batch = head_arguments()
    head = ClassificationHead([5, 5, 5], dtype="mixed_bfloat16")
    output = head(encoded, batch)
    for name in ("logits", "scores", "loss"):
        assert output[name].dtype == tf.float32


@pytest.mark.parametrize("counts", [[], [2, 0], [2, -1]])
def test_wrong_label_counts(counts):
    with pytest.raises(ConfigError, match="label_counts"):
        ClassificationHead(counts)


def test_initial_values():
    def kernel(seed=0, name="dense", **init):
        layer = TaskDense(30, tasks=3, name=name, init={"seed": seed} | init)
        layer.build((None, None, 20))
        return np.array(layer.kernel), np.array(layer.bias)

    drawn, bias = kernel()
    np.testing.assert_array_equal(drawn, kernel()[0])
    assert np.any(drawn != kernel(seed=1)[0])
    assert np.any(drawn != kernel(name="other")[0])
    assert np.any(drawn[0] != drawn[1])
    limit = np.sqrt(6 / 50)
    assert 0.95 * limit < np.abs(drawn).max() <= limit
    assert not np.any(bias)
    drawn, bias = kernel(name="uniform_too", **{"range": 0.01})
    assert np.abs(drawn).max() > 0.1
    layer = TaskDense(30, 3, init={"name": "uniform", "range": 0.01})
    layer.build((None, None, 20))
    for weight in layer.weights:
        assert 0.009 < np.abs(np.array(weight)).max() <= 0.01
    layer = TaskDense(30, 3, init={"name": "normal", "range": 0.05})
    layer.build((None, None, 20))
    drawn = np.array(layer.kernel)
    assert abs(np.std(drawn) - 0.05) < 0.005 and np.abs(drawn).max() > 0.1
    assert not np.any(np.array(layer.bias))


@pytest.mark.parametrize(
    "init, message",
    [
        ({"name": "uniforn"}, "did you mean 'uniform'"),
        ({"rage": 0.1}, "did you mean 'range'"),
        ({"range": 0.0}, "init.range must be positive, got 0.0"),
        ({"range": float("nan")}, "init.range must be positive, got nan"),
        ({"seed": -1}, "init.seed must be zero or a positive integer"),
    ],
)
def test_wrong_init(init, message):
    with pytest.raises(ConfigError, match=message):
        check_init(init)


@pytest.mark.parametrize("value", [0, -3, float("nan"), "3"])
def test_wrong_sizes(value):
    if value != 0:  # 0 tasks: one map for all
        with pytest.raises(ConfigError, match="zero or a positive integer"):
            TaskDense(2, value)
    for make in (
        lambda: TaskDense(value, 2),
        lambda: Embedding(value, 2),
        lambda: Embedding(2, value),
    ):
        with pytest.raises(ConfigError, match="must be a positive integer"):
            make()


def test_layers_are_registered():
    for layer in (TaskDense, Embedding, ClassificationHead, Dropout):
        name = f"mtl_tf>{layer.__name__}"
        assert keras.saving.get_registered_object(name) is layer


def test_a_weight_beyond_the_free_memory_is_refused(monkeypatch):
    monkeypatch.setattr(base.machine, "free_memory", lambda: 1e6)
    monkeypatch.setattr(base, "_LARGE", 1000)
    layer = base.StackedLayer(name="any")
    layer.add("small", 300, 400)
    rule = r"kernel of any, \[2, 300, 400\], takes 0.0 GB .* 0.0 GB are free"
    with pytest.raises(MemoryError, match=rule):
        layer.add("kernel", 300, 400, stack=(2,))
    monkeypatch.setattr(base, "_LARGE", 1 << 26)
    layer.add("kernel", 300, 400, stack=(2,))


@pytest.mark.parametrize("name", ["glorot", "normal"])
def test_weights_that_are_drawn_in_parts_are_those_of_one_draw(
    name, monkeypatch
):
    layer = base.StackedLayer(name="any", init={"name": name, "seed": 3})
    draw = layer.initializer("kernel", (7, 5))
    whole = draw((3, 7, 5))
    monkeypatch.setattr(base, "_DRAWN", 8)
    np.testing.assert_array_equal(draw((3, 7, 5)), whole)
    assert whole.dtype == np.float32 and np.unique(whole).size == whole.size
