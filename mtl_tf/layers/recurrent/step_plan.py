"""Plans what the loops of a recurrence store and write, before they run."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import tensorflow as tf

from mtl_tf.layers.recurrent import steps

# Inputs of these operations need a tensor's shape, not its value.
_SHAPE_ONLY = ("Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike")


class Plan(NamedTuple):
    """What a step calls, and what its backward loop reads and writes.

    Attributes:
        outputs: specs of the operations' outputs, by number of call.
        emitted: specs of the emissions, by name.
        written: specs of what the backward loop writes, by key:
            `("input", name)` for gradients of inputs, `("dy", n)` for the
            cotangent of the output of product `n`. If several keys have the
            same tensor, it is written once.
        late: keys `("x", n)` of the inputs of products. They do not depend on
            cotangents, so they are computed for all steps at once after the
            loop, which then need not write them.
        same: for the keys left out of both, where their values are: a key of
            `written` or `late`, or `("state", name)`, `("output", number)`.
        weights: the name of the weight of every product.
        kept_outputs, kept_inputs, kept_state: what the backward loop reads.
    """

    outputs: list[tf.TensorSpec]
    emitted: dict[str, tf.TensorSpec]
    written: dict[tuple, tf.TensorSpec]
    late: list[tuple]
    same: dict[tuple, tuple]
    weights: list[str]
    kept_outputs: list[int]
    kept_inputs: list[str]
    kept_state: list[str]


def results(pulled: steps.Pulled) -> dict[tuple, tf.Tensor]:
    """What the backward loop may write at each step, by the keys of `Plan`."""
    out = {("input", name): d for name, d in pulled.inputs.items()}
    for n, (_, x, dy) in enumerate(pulled.products):
        out["x", n], out["dy", n] = x, dy
    return out


def _origin(tensor: tf.Tensor) -> tf.Tensor:
    """The tensor itself, without the identity of a custom gradient."""
    while tensor.op.type == "IdentityN":
        tensor = tensor.op.inputs[tensor.value_index]
    return tensor


def _reached(outputs: Iterable[tf.Tensor], leaves: Mapping) -> set:
    """Names of the leaves whose values the outputs depend on."""
    names = {id(leaf): name for name, leaf in leaves.items()}
    reached, seen, todo = set(), set(), list(outputs)
    while todo:
        tensor = _origin(todo.pop())
        if id(tensor) in names:
            reached.add(names[id(tensor)])
        elif id(tensor.op) not in seen and tensor.op.type not in _SHAPE_ONLY:
            seen.add(id(tensor.op))
            todo.extend(tensor.op.inputs)
    return reached


def _identity(tensor: tf.Tensor, seen: dict) -> tuple:
    """A key that is equal if the same operations computed both tensors."""
    tensor = _origin(tensor)
    op = tensor.op
    if id(op) not in seen:
        attributes = sorted(
            (name, value.SerializeToString(deterministic=True))
            for name, value in op.node_def.attr.items()
        )
        inputs = tuple(_identity(x, seen) for x in op.inputs)
        name = op.name if op.type == "Placeholder" else ""
        key = (op.type, name, tuple(attributes), inputs)
        seen[id(op)] = seen.setdefault(key, len(seen))
    return seen[id(op)], tensor.value_index


def _without_repeats(out: Mapping, leaves: Mapping) -> tuple[dict, dict]:
    """Computes `Plan.same` and `Plan.written`.

    The terms of a sum have the same gradient, and a step may compute a value
    twice. XLA merges such tensors, but not the arrays they are written to.
    """
    seen, known, same, written = {}, {}, {}, {}
    for key, leaf in leaves.items():
        if key[0] != "input_value":
            known.setdefault(_identity(leaf, seen), key)
    for key, tensor in out.items():
        identity = _identity(tensor, seen)
        if identity in known:
            same[key] = known[identity]
        else:
            known[identity] = key
            written[key] = _spec(tensor)
    return same, written


def _hold(specs: Mapping[str, tf.TensorSpec]) -> dict[str, tf.Tensor]:
    return {
        name: tf.compat.v1.placeholder(spec.dtype, spec.shape)
        for name, spec in specs.items()
    }


def _spec(x: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(x.shape, x.dtype)


def plan(step, weights, constants, inputs, state, mask) -> Plan:
    """Finds out what a step calls and what its backward loop needs.

    The arguments are those of one step, as `tf.TensorSpec`s. The step and its
    gradient are built once in a temporary graph.
    """
    with tf.Graph().as_default():
        x, s, c = _hold(inputs), _hold(state), _hold(constants)
        w = _hold(weights)
        mask = _hold({"mask": mask})["mask"]
        emitted = steps.Operations(w, c)
        step(emitted, x, s)
        pulled, outputs = steps.pull(
            step, w, steps.transpose(w), c, x, s, mask, {}, _hold(state)
        )
        leaves = {("output", n): y for n, y in enumerate(outputs)}
        leaves |= {("input_value", name): value for name, value in x.items()}
        leaves |= {("state", name): value for name, value in s.items()}
        out = results(pulled)
        needed = _reached(
            [*out.values(), *pulled.state.values(), *pulled.constants.values()],
            leaves,
        )
        same, written = _without_repeats(out, leaves)
        return Plan(
            outputs=[_spec(y) for y in outputs],
            emitted={n: _spec(e) for n, e in emitted.emitted.items()},
            written={k: v for k, v in written.items() if k[0] != "x"},
            late=[key for key in written if key[0] == "x"],
            same=same,
            weights=[name for name, _, _ in pulled.products],
            kept_outputs=sorted(n for kind, n in needed if kind == "output"),
            kept_inputs=sorted(
                n for kind, n in needed if kind == "input_value"
            ),
            kept_state=sorted(n for kind, n in needed if kind == "state"),
        )
