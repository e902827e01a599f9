import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers import products
from mtl_tf.layers.recurrent import recurrence, step_plan, steps
from mtl_tf.layers.recurrent.recurrence import Recurrence

draw = np.random.default_rng(0)


def normal(*shape):
    return tf.constant(draw.normal(size=shape), tf.float32)


@pytest.mark.parametrize(
    "x, weight, equation",
    [
        ((2, 3, 5), (5, 4), "gbk,kn->gbn"),
        ((2, 3, 6, 5), (5, 4), "gbmk,kn->gbmn"),
        ((2, 3, 5), (2, 5, 4), "gbk,gkn->gbn"),
        ((1, 3, 5), (1, 5, 4), "gbk,gkn->gbn"),
        ((1, 3, 6, 5), (1, 5, 4), "gbmk,gkn->gbmn"),
        ((2, 3, 6, 5), (2, 5, 4), "gbmk,gkn->gbmn"),
        ((2, 4, 3, 5), (2, 4, 5, 7), "gebk,gekn->gebn"),
    ],
)
def test_products(x, weight, equation):
    x, weight = normal(*x), normal(*weight)
    got = products.product(x, weight)
    expected = np.einsum(equation, x, weight)
    np.testing.assert_allclose(got, expected, atol=1e-5)
    left, right = equation.split("->")[0].split(",")
    out = equation.split("->")[1]
    xs, dys = normal(6, *x.shape), normal(6, *got.shape)
    gradient = products.outer_product(xs, dys, weight)
    expected = np.einsum(f"t{left},t{out}->{right}", xs, dys)
    np.testing.assert_allclose(gradient, expected, atol=1e-4)
    traced = tf.function(
        products.product,
        input_signature=[
            tf.TensorSpec([None] * (x.shape.rank - 1) + [5]),
            tf.TensorSpec(weight.shape),
        ],
    )
    np.testing.assert_allclose(traced(x, weight), got, atol=1e-5)


def gru_with_reset_before(ops, inputs, state):
    """Eqs. 9 to 12 of Dong et al. (2015): the reset comes before U."""
    h = state["h"]
    gates = ops.sigmoid(inputs["gates"] + ops.matmul(h, "gates"))
    reset, update = tf.split(gates, 2, axis=-1)
    candidate = ops.tanh(inputs["h"] + ops.matmul(reset * h, "candidate"))
    return {"h": (1 - update) * h + update * candidate}


def memory_with_attention(ops, inputs, state):
    """Soft reads and writes of a memory, and attention to constants."""
    h, memory = state["h"], state["memory"]
    query = ops.matmul(h, "query")
    aligned = ops.matmul(
        ops.tanh(ops.matmul(memory, "align") + query[:, :, None]), "score"
    )
    weights = tf.nn.softmax(aligned, axis=2)
    read = tf.reduce_sum(weights * memory, axis=2)
    keys = ops.constants["keys"]
    focus = tf.nn.softmax(tf.einsum("gbm,gbsm->gbs", read, keys))
    read += tf.einsum("gbs,gbsm->gbm", focus, keys)
    h = ops.tanh(inputs["h"] + ops.matmul(tf.concat([h, read], -1), "h"))
    erase = ops.sigmoid(ops.matmul(h, "erase"))[:, :, None]
    ops.emit("focus", focus)
    return {
        "h": h,
        "memory": memory * (1 - weights * erase) + weights * read[:, :, None],
    }


def kept_attention(ops, inputs, state):
    """The softmax and what is kept have gradients of their own."""
    weights = ops.softmax(inputs["h"] + ops.matmul(state["h"], "query"))
    read = ops.keep(weights * state["h"])
    return {"h": ops.tanh(ops.matmul(read, "value") + read)}


def aside(ops, inputs, state):
    """One product reads a constant, another one only feeds an emission."""
    h = state["h"]
    bias = ops.matmul(tf.ones([*h.shape[:2], 1]), "bias")
    ops.emit("aside", ops.tanh(ops.matmul(h, "aside")))
    return {"h": ops.tanh(inputs["h"] + bias * h)}


G, B, T, D, H, M, K, S = 2, 4, 5, 3, 4, 3, 6, 2

CELLS = {
    "gru": (
        gru_with_reset_before,
        {
            "gates": normal(G, H, 2 * H),
            "candidate": normal(H, H),
            "x_gates": normal(D, 2 * H),
            "x_h": normal(D, H),
        },
        {"h": normal(G, B, H)},
        {},
    ),
    "kept": (
        kept_attention,
        {
            "query": normal(H, H),
            "value": normal(G, H, H),
            "x_h": normal(D, H),
        },
        {"h": normal(G, B, H)},
        {},
    ),
    "aside": (
        aside,
        {
            "bias": normal(1, H),
            "aside": normal(H, H),
            "x_h": normal(D, H),
        },
        {"h": normal(G, B, H)},
        {},
    ),
    "memory": (
        memory_with_attention,
        {
            "query": normal(G, H, M),
            "align": normal(G, M, M),
            "score": normal(M, 1),
            "h": normal(H + M, H),
            "erase": normal(H, M),
            "x_h": normal(D, H),
        },
        {"h": normal(G, B, H), "memory": normal(G, B, K, M)},
        {"keys": normal(G, B, S, M)},
    ),
}


def project(x, weights):
    return {
        name[2:]: products.product(x, w)
        for name, w in weights.items()
        if name.startswith("x_")
    }


def unrolled(step, x, mask, weights, state, constants, reverse):
    """The plain meaning of a recurrence: TensorFlow differentiates it."""
    inputs = project(tf.transpose(x, [2, 0, 1, 3]), weights)
    times = range(x.shape[2])
    states = {}
    for t in reversed(times) if reverse else times:
        ops = steps.Operations(weights, constants)
        now = {name: value[t] for name, value in inputs.items()}
        new = step(ops, now, state)
        state = {
            name: tf.where(
                tf.reshape(mask[:, :, t], [G, B] + [1] * (s.shape.rank - 2)),
                new[name],
                s,
            )
            for name, s in state.items()
        }
        states[t] = state
    sequences = {
        name: tf.stack([states[t][name] for t in times], 2) for name in state
    }
    return state, sequences


@pytest.mark.by_default(
    "aside-False-False-1-False",
    "aside-True-False-1-True",
    "kept-False-False-1-False",
    "kept-True-False-1-False",
    "kept-True-False-1-True",
)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("jit, shards", [(False, 1), (True, 2)])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_any_cell_has_the_gradients_of_its_unrolled_form(
    cell, training, jit, shards, reverse
):
    if reverse and not training or jit and (reverse or not training):
        pytest.skip("each of the others has what is special in it")
    step, weights, state, constants = CELLS[cell]
    x = normal(G, B, T, D)
    mask = tf.sequence_mask(draw.integers(0, T + 1, (G, B)), T)
    sources = [x, weights, state, constants]
    factors = {name: normal(*value.shape) for name, value in state.items()}

    def total(last, sequences):
        return sum(
            tf.reduce_sum(last[n] * factors[n])
            + tf.reduce_sum(tf.sin(sequences[n]))
            for n in state
        )

    with tf.GradientTape() as tape:
        tape.watch(tf.nest.flatten(sources))
        last, sequences = unrolled(
            step, x, mask, weights, state, constants, reverse
        )
        loss = total(last, sequences)
    zero = tf.UnconnectedGradients.ZERO
    expected = tape.gradient(loss, sources, unconnected_gradients=zero)

    run = Recurrence(step, project)
    with recurrence.options(jit=jit, shards=shards):
        with tf.GradientTape() as tape:
            tape.watch(tf.nest.flatten(sources))
            result = run(
                x,
                mask,
                weights,
                state,
                constants,
                reverse=reverse,
                training=training,
                sequences=tuple(state),
            )
            loss = total(result.state, result.sequences)
        got = tape.gradient(loss, sources)
    for name in state:
        np.testing.assert_allclose(result.state[name], last[name], atol=1e-5)
        np.testing.assert_allclose(
            result.sequences[name], sequences[name], atol=1e-5
        )
    for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(expected)):
        np.testing.assert_allclose(a, b, atol=1e-4, rtol=1e-4)


def spec(x):
    return tf.TensorSpec(x.shape, tf.float32)


def test_the_plan_keeps_only_what_is_read():
    """Neither the LSTM's projections nor its pre-activations are read."""
    from mtl_tf.layers.recurrent import lstm

    plan = step_plan.plan(
        lstm._step,
        {"recurrent": spec(normal(3, 12))},
        {},
        {"gates": spec(normal(1, 2, 12))},
        {"hidden": spec(normal(1, 2, 3)), "memory": spec(normal(1, 2, 3))},
        tf.TensorSpec([1, 2], tf.bool),
    )
    # 0 is the product, 1 the gates, 2 the candidate, 3 tanh of the memory.
    assert plan.kept_outputs == [1, 2, 3]
    assert plan.kept_inputs == []
    assert plan.kept_state == ["hidden", "memory"]
    # The product's cotangent is its gates' gradient, its input the state.
    assert list(plan.written) == [("input", "gates")]
    assert plan.same == {
        ("x", 0): ("state", "hidden"),
        ("dy", 0): ("input", "gates"),
    }


def operations_of_a_pull(calls):
    """How many operations a graph has for the gradient of so many calls."""

    def step(ops, inputs, state):
        h = state["h"]
        for _ in range(calls):
            h = ops.tanh(h + inputs["h"])
        return {"h": h}

    with tf.Graph().as_default() as graph:
        x, h, dh = (tf.compat.v1.placeholder("float32", [1, 2, 3]),) * 3
        steps.pull(
            step,
            {},
            {},
            {},
            {"h": x},
            {"h": h},
            tf.ones([1, 2], tf.bool),
            {},
            {"h": dh},
        )
        return len(graph.get_operations())


def test_tracing_grows_with_the_calls_not_with_their_square():
    two, four, six = map(operations_of_a_pull, (2, 4, 6))
    assert six - four == four - two


def test_emissions():
    step, weights, state, constants = CELLS["memory"]
    x = normal(G, B, T, D)
    run = Recurrence(step, project)
    with recurrence.options(jit=False, shards=2):
        result = run(
            x,
            tf.fill([G, B, T], True),
            weights,
            state,
            constants,
            emits=("focus",),
        )
    focus = result.emitted["focus"]
    assert focus.shape == (G, B, T, S)
    np.testing.assert_allclose(tf.reduce_sum(focus, -1), 1.0, atol=1e-6)


def test_options_nest_and_end():
    assert recurrence._shards(8) >= 1
    with recurrence.options(jit=False, shards=4):
        assert not recurrence.is_compiled()
        assert recurrence._shards(8) == 4
        assert recurrence._shards(6) == 3
        assert recurrence._shards(None) == 1
        with recurrence.options(shards=2):
            assert not recurrence.is_compiled()
            assert recurrence._shards(6) == 2
        with pytest.raises(RuntimeError), recurrence.options(jit=True):
            assert recurrence.is_compiled()
            raise RuntimeError
        assert not recurrence.is_compiled()
    assert recurrence.is_compiled()


@pytest.mark.extended
def test_without_jit_nothing_is_compiled():
    """A served graph must not ask for XLA."""
    step, weights, state, _ = CELLS["gru"]
    run = Recurrence(step, project)

    @tf.function
    def traced(x):
        mask = tf.fill([G, B, T], True)
        return run(x, mask, weights, state).state["h"]

    def asks_for_xla(jit):
        with recurrence.options(jit=jit):
            graph = (
                tf.function(traced.python_function)
                .get_concrete_function(tf.TensorSpec([G, B, T, D]))
                .graph.as_graph_def()
            )
        attributes = [
            function.attr.get("_XlaMustCompile")
            for function in graph.library.function
        ]
        return any(a is not None and a.b for a in attributes)

    assert asks_for_xla(True)
    assert not asks_for_xla(False)
