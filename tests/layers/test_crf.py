"""The CRF layer beside an enumeration of all paths."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers import CRF, CRFLoss
from mtl_tf.layers.crf import recursions as crf_recursions
from mtl_tf.layers.crf.constraints import Constraints
from mtl_tf.layers.recurrent import recurrence
from tests.layers.crf_reference import Reference, allows, long_log_partition
from tests.layers.crf_testing import (
    BIO,
    CONSTRAINTS,
    COUNTS,
    LABELS,
    SHAPE,
    Case,
    compiled,
    make_layer,
    parts_of,
    references,
)
from tests.layers.layer_testing import run_layer_test


# At the large scale products underflow, and logarithms have to be taken.
@pytest.mark.by_default("True-200.0")
@pytest.mark.parametrize("scale", [1.0, 200.0])
@pytest.mark.parametrize("holes", [False, True])
def test_agrees_with_enumeration(scale, holes):
    known = references(parts_of(make_layer()))
    for seed in range(4):
        case = Case(seed, scale, holes)
        logits, tags, mask, task = case.tensors()
        found = compiled("log_likelihood")(logits, tags, mask, task)
        best = compiled("viterbi")(logits, mask, task)
        marginals = compiled("marginals")(logits, mask, task).numpy()
        flat = zip(
            case.rows(known),
            found.numpy().reshape(-1),
            best.tags.numpy().reshape(-1, SHAPE[2]),
            best.score.numpy().reshape(-1),
            marginals.reshape(-1, *marginals.shape[2:]),
        )
        for (reference, x, y, real), likelihood, path, score, shares in flat:
            expected = reference.log_likelihood(x[real], y[real])
            # A float32 of the logits' size is as exact.
            exact = 1e-6 * scale + 1e-5
            np.testing.assert_allclose(likelihood, expected, 1e-5, exact)
            expected, top, margin = reference.viterbi(x[real])
            np.testing.assert_allclose(score, top, 1e-5, exact)
            if margin > 1e-3:
                np.testing.assert_array_equal(path[real], expected)
            np.testing.assert_array_equal(path[~real], 0)
            expected = reference.marginals(x[real])
            np.testing.assert_allclose(shares[real], expected, 1e-3, 1e-5)
            np.testing.assert_array_equal(shares[~real], 0)


def weighted_likelihood(case, parts, weights):
    known = references(parts)
    return sum(
        weight * reference.log_likelihood(x[real], y[real])
        for (reference, x, y, real), weight in zip(case.rows(known), weights)
    )


@pytest.mark.by_default("200.0")
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_gradients_are_finite_differences(scale):
    layer, case = make_layer(), Case(7, scale, holes=True)
    draw = np.random.default_rng(5)
    weights = draw.uniform(0.5, 1.5, SHAPE[0] * SHAPE[1])
    logits, tags, mask, task = case.tensors()
    with tf.GradientTape() as tape:
        tape.watch(logits)
        found = compiled("log_likelihood")(logits, tags, mask, task)
        total = tf.reduce_sum(found * np.reshape(weights, SHAPE[:2]))
    sources = [w.value for w in layer.weights]
    gradients = tape.gradient(total, [logits, *sources])
    gradients = [tf.convert_to_tensor(g).numpy() for g in gradients]
    arrays = [case.logits, *parts_of(layer)]

    def at(which, step):
        old = arrays[which].copy()
        arrays[which] += step
        value = weighted_likelihood(case, arrays[1:], weights)
        arrays[which][...] = old
        return value

    for which, gradient in enumerate(gradients):
        for _ in range(6):
            direction = draw.normal(size=gradient.shape)
            step = 1e-4 * direction
            expected = (at(which, step) - at(which, -step)) / 2e-4
            got = np.sum(gradient * direction)
            np.testing.assert_allclose(got, expected, 1e-4, 1e-4)


@pytest.mark.usefixtures("without_jit")
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_logarithms_are_taken_where_products_underflow(scale, monkeypatch):
    logits, _, mask, task = Case(0, scale, holes=False).tensors()
    called = []

    def by_logarithms(call):
        called.append(call.reverse)
        return call.by_products()[0]

    monkeypatch.setattr(crf_recursions._Call, "by_logarithms", by_logarithms)
    make_layer().marginals(logits, mask, task)
    assert called == ([] if scale == 1 else [False, True])


@pytest.mark.usefixtures("without_jit")
def test_labels_that_can_be_reached_now_and_then_only():
    """A ring, 0 to 1 to 2 to 3 to 0, with no way to stay."""
    ring = Constraints(
        np.roll(np.eye(4, dtype=bool), 1, 1),
        np.array([True, True, False, False]),
        np.ones(4, bool),
    )
    layer = CRF(4, constraints=ring, name="ring")
    layer.build()
    x = np.random.default_rng(0).normal(size=(1, 4, 4)).astype(np.float32)
    reference = Reference(*parts_of(layer), 4, ring)
    np.testing.assert_allclose(
        layer.marginals(x)[0], reference.marginals(x[0]), atol=1e-5
    )


@pytest.mark.usefixtures("without_jit")
def test_padding_changes_nothing():
    layer, case = make_layer(), Case(9, 1.0, holes=False)
    logits, tags, mask, task = case.tensors()
    # What stands in the padding is no reason to fail, either.
    wide = tf.pad(logits, [[0, 0], [0, 0], [0, 3], [0, 0]])
    wide_mask = tf.pad(mask, [[0, 0], [0, 0], [0, 3]])
    junk = np.array([np.nan, np.inf, -np.inf, 1e30], np.float32)
    wide = tf.where(wide_mask[..., None], wide, junk)
    wide_tags = tf.pad(tags, [[0, 0], [0, 0], [0, 3]], constant_values=-1)
    with tf.GradientTape() as tape:
        tape.watch(wide)
        got = layer.log_likelihood(wide, wide_tags, wide_mask, task)
    gradient = tape.gradient(got, wide)
    assert np.all(np.isfinite(gradient))
    assert not np.any(gradient[:, :, SHAPE[2] :])
    expected = layer.log_likelihood(logits, tags, mask, task)
    np.testing.assert_allclose(got, expected, rtol=1e-6)
    got, expected = (
        layer(x, m, task=task) for x, m in ((wide, wide_mask), (logits, mask))
    )
    for name in ("scores", "prediction", "confidence"):
        short = got[name][:, :, : SHAPE[2]]
        np.testing.assert_allclose(short, expected[name], atol=1e-6)
        assert not np.any(got[name][:, :, SHAPE[2] :])


@pytest.mark.usefixtures("without_jit")
def test_alone_without_groups_mask_or_tasks():
    layer = CRF(LABELS, name="alone")
    layer.build()
    draw = np.random.default_rng(0)
    for weight in layer.weights:
        weight.assign(draw.normal(size=weight.shape))
    x = draw.normal(size=(3, 4, LABELS)).astype(np.float32)
    tags = draw.integers(0, LABELS, (3, 4))
    reference = Reference(*parts_of(layer), LABELS)
    found = layer.log_likelihood(x, tags)
    assert found.shape == (3,)
    for row in range(3):
        np.testing.assert_allclose(
            found[row], reference.log_likelihood(x[row], tags[row]), 1e-5
        )
        np.testing.assert_allclose(
            layer.marginals(x)[row], reference.marginals(x[row]), atol=1e-5
        )
    # The tasks of rows, each a group of its own.
    stacked, task = make_layer(), np.array([1, 0, 0], np.int32)
    mask = np.ones([3, 4], bool)
    rows = stacked.viterbi(x, mask, task)
    groups = stacked.viterbi(x[:, None], mask[:, None], task)
    np.testing.assert_array_equal(rows.tags, groups.tags[:, 0])
    np.testing.assert_allclose(rows.score, groups.score[:, 0])
    with pytest.raises(ValueError, match="need a task"):
        stacked.viterbi(x)
    with pytest.raises(ValueError, match=r"4 labels, got shape \(3, 4, 3\)"):
        layer.viterbi(x[..., :3])


@pytest.mark.usefixtures("without_jit")
@pytest.mark.by_default("1")
@pytest.mark.parametrize("length", [0, 1, 500])
def test_lengths(length):
    layer = CRF(9, name="long")
    layer.build()
    draw = np.random.default_rng(1)
    for weight in layer.weights:
        weight.assign(draw.normal(size=weight.shape))
    x = 5 * draw.normal(size=(2, length, 9)).astype(np.float32)
    tags = draw.integers(0, 9, (2, length))
    found = layer.log_likelihood(x, tags)
    paths, scores = layer.viterbi(x)
    marginals = layer.marginals(x).numpy()
    assert marginals.shape == x.shape and paths.shape == tags.shape
    if not length:
        np.testing.assert_array_equal(found, 0)
        np.testing.assert_array_equal(scores, 0)
        return
    np.testing.assert_allclose(marginals.sum(-1), 1, atol=1e-5)
    # Sums of thousands, wrong in the seventh digit only.
    a, b, e = parts_of(layer)
    steps = np.arange(length)
    for row in range(2):
        logs = long_log_partition(x[row].astype(np.float64), a, b, e)
        for path, score, normalized in (
            (tags[row], found[row], True),
            (paths[row].numpy(), scores[row], False),
        ):
            expected = b[path[0]] + e[path[-1]]
            expected += x[row][steps, path].astype(np.float64).sum()
            expected += a[path[:-1], path[1:]].sum()
            expected -= logs if normalized else 0.0
            np.testing.assert_allclose(score, expected, rtol=1e-6)


@pytest.mark.usefixtures("without_jit")
def test_half_precision_is_for_others_only():
    case = Case(2, 3.0, holes=False)
    logits, tags, mask, task = case.tensors()
    logits = tf.cast(logits, tf.bfloat16)
    half, full = make_layer("bfloat16"), make_layer()
    for method, arguments in (
        ("log_likelihood", (tags, mask, task)),
        ("marginals", (mask, task)),
    ):
        got = getattr(half, method)(logits, *arguments)
        exact = tf.cast(logits, tf.float32)
        assert got.dtype == tf.float32
        expected = getattr(full, method)(exact, *arguments)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.usefixtures("without_jit")
def test_what_is_forbidden_harms_no_gradient():
    layer = CRF(3, constraints=BIO, name="forbidden")
    layer.build()
    # "O I" is forbidden; in the second sentence the logits insist on it.
    tags = np.array([[0, 2, 2], [1, 2, 0]])
    x = np.zeros([2, 3, 3], np.float32)
    x[1, :, 2] = 1e4
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = layer.log_likelihood(x, tags)
    gradients = tape.gradient(found, [x, *(w.value for w in layer.weights)])
    for gradient in gradients:
        assert np.all(np.isfinite(tf.convert_to_tensor(gradient)))
    assert found[0] < -1e8
    np.testing.assert_allclose(found[1], -1e4, rtol=1e-4)
    assert gradients[1][0, 2] == 0
    best = layer.viterbi(x).tags.numpy()
    assert all(allows(BIO, path) for path in best)
    np.testing.assert_array_equal(best[1], [1, 2, 2])


@pytest.mark.usefixtures("without_jit")
def test_a_sentence_that_cannot_be_keeps_to_own_labels():
    nowhere = Constraints(np.zeros([2, 2], bool), *np.ones([2, 2], bool))
    layer = CRF(3, 1, [2], [nowhere], name="nowhere")
    layer.build()
    x, task = (
        tf.random.stateless_normal([4, 3, 3], [1, 2]),
        tf.zeros(4, "int32"),
    )
    output = layer(x, tags=tf.zeros([4, 3], tf.int32), task=task)
    assert np.all(output["prediction"] < 2)
    assert np.all(np.isfinite(output["loss"]))
    np.testing.assert_array_equal(output["scores"][..., 2], 0)
    np.testing.assert_allclose(
        tf.reduce_sum(output["scores"], -1), 1, rtol=1e-5
    )


@pytest.mark.extended
@pytest.mark.usefixtures("without_jit")
def test_layer():
    logits, tags, mask, task = Case(1, 1.0, holes=False).tensors()
    groups, rows, length = SHAPE
    run_layer_test(
        lambda: CRF(LABELS, len(COUNTS), COUNTS, CONSTRAINTS, name="crf"),
        (logits, mask, tags, task),
        parameters=len(COUNTS) * (LABELS * LABELS + 2 * LABELS),
        output_shapes={
            "logits": (*SHAPE, LABELS),
            "scores": (*SHAPE, LABELS),
            "prediction": SHAPE,
            "confidence": SHAPE,
            "loss": (groups, rows),
        },
    )


@pytest.mark.extended
def test_nothing_compiled_is_left_where_nothing_may_be():
    layer = make_layer()
    with recurrence.options(jit=False):
        graph = tf.function(layer.call, autograph=False).get_concrete_function(
            tf.TensorSpec([None, None, None, LABELS]),
            tf.TensorSpec([None, None, None], tf.bool),
            task=tf.TensorSpec([None], tf.int32),
        )
    definition = graph.graph.as_graph_def()
    for function in definition.library.function:
        assert not function.attr["_XlaMustCompile"].b
    case = Case(4, 200.0, holes=True)
    logits, _, mask, task = case.tensors()
    got = graph(logits, mask, task=task)
    with recurrence.options(jit=False):
        expected = layer(logits, mask, task=task)
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, atol=1e-5)


@pytest.mark.extended
@pytest.mark.usefixtures("without_jit")
def test_a_whole_step_compiles():
    """As TPUs do it: shapes are known, nothing is compiled on its own."""
    layer = make_layer()

    def step(logits, tags, mask, task):
        with tf.GradientTape() as tape:
            loss = layer.log_likelihood(logits, tags, mask, task)
        gradients = tape.gradient(loss, layer.trainable_variables)
        return loss, *map(tf.convert_to_tensor, gradients)

    compiled_step = tf.function(step, jit_compile=True, autograph=False)
    for scale in (1.0, 200.0):
        batch = Case(5, scale, holes=True).tensors()
        for got, wanted in zip(compiled_step(*batch), step(*batch)):
            np.testing.assert_allclose(got, wanted, 1e-4, 1e-4)


@pytest.mark.slow
@pytest.mark.usefixtures("without_jit")
def test_fits_in_keras():
    """Tags whose order is all there is to learn; they are -1 at padding."""
    draw = np.random.default_rng(0)
    first = draw.integers(0, 2, (64, 1))
    tags = (first + np.arange(6)) % 2
    tags[:, 4:] = np.where(first, -1, tags[:, 4:])
    tokens = np.ones([64, 6], np.int32)
    inputs = keras.Input([6], dtype="int32")
    logits = keras.layers.Embedding(2, 2)(inputs)
    model = keras.Model(inputs, CRF(2, name="crf")(logits))
    loss = {"potentials": CRFLoss()}
    model.compile(keras.optimizers.Adam(0.3), loss=loss)
    fit = model.fit(
        tokens, {"potentials": tags}, batch_size=64, epochs=30, verbose=0
    )
    # It cannot know which of two tags is the first.
    np.testing.assert_allclose(fit.history["loss"][-1], np.log(2), atol=0.05)
    paths = model(tokens)["prediction"]
    assert np.all(np.diff(paths) != 0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"units": 0}, "units must be a positive"),
        ({"units": 3, "label_counts": [4]}, r"above units \(3\), got 4"),
        ({"units": 3, "tasks": 2, "label_counts": [3]}, "each of 2 sets"),
        ({"units": 3, "tasks": 2, "constraints": [None]}, "of 2 tasks, got 1"),
        ({"units": 4, "constraints": BIO}, r"shapes \[\(4, 4\)"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ConfigError, match=message):
        CRF(**arguments)
