"""The forward and backward loops of a recurrence, on time-major tensors.

This is the implementation of `recurrence`, which layers use.
"""

from collections.abc import Callable, Mapping, Sequence

import tensorflow as tf

from mtl_tf.layers.products import outer_product
from mtl_tf.layers.recurrent import step_plan, steps


def _spec(x: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(x.shape, x.dtype)


def _step_spec(x: tf.Tensor) -> tf.TensorSpec:
    return tf.TensorSpec(x.shape[1:], x.dtype)


def _map(function: Callable, tensors: Mapping) -> dict:
    return {name: function(x) for name, x in tensors.items()}


def _read(arrays: Mapping[str, tf.TensorArray], t: tf.Tensor) -> dict:
    return _map(lambda array: array.read(t), arrays)


def _length(x: tf.Tensor) -> int | tf.Tensor:
    # XLA needs a constant. A tensor is no longer one after it passes from a
    # branch of `tf.cond` to the branch's gradient.
    return tf.shape(x)[0] if x.shape[0] is None else x.shape[0]


def _unstack(x: tf.Tensor) -> tf.TensorArray:
    array = tf.TensorArray(x.dtype, _length(x), element_shape=x.shape[1:])
    return array.unstack(x)


class Loop:
    """The loops of one recurrence.

    Args:
        step: the step function (see `steps`).
        weights: the weights that `ops.matmul` reads, by name.
        mask: bool `[T, G, B]`.
        reverse: from the last step to the first.
        sequences: names of the states to return for all steps.
        emits: names of the emissions to return for all steps.
        plans: known plans of the step function, by the shapes that they are
            for. A caller that keeps this dictionary avoids making them again
            for another length, shard or call.
    """

    def __init__(
        self,
        step: Callable,
        weights: steps.Tensors,
        mask: tf.Tensor,
        reverse: bool,
        sequences: Sequence[str],
        emits: Sequence[str],
        plans: dict[tuple, step_plan.Plan],
    ):
        self._step = step
        self._weights = dict(weights)
        self._mask = mask
        self._reverse = reverse
        self._sequences = tuple(sequences)
        self._emits = tuple(emits)
        self._plans = plans
        self._length = _length(mask)

    def run(self, inputs, state, constants, keep: bool):
        """Runs the recurrence.

        Args:
            inputs: `[T, ...]` by name.
            state: the initial state by name.
            constants: what every step reads as a whole, by name.
            keep: store the values that the backward loop reads. Otherwise the
                backward pass runs the forward loop again.

        Returns:
            The last state, the sequences and the emissions, by name. No
            gradient flows through the emissions.
        """
        plan = self._plan(inputs, state, constants)
        # The gradient of a constant that is multiplied like a weight also comes
        # from one product after the loop.
        if common := self._weights.keys() & constants.keys():
            raise ValueError(f"weights and constants are both named {common}")
        known = self._weights | dict(constants)
        weights = {name: known[name] for name in set(plan.weights)}
        constants = {n: c for n, c in constants.items() if n not in weights}
        arguments = tuple(map(dict, (inputs, state, weights, constants)))
        returned = tuple(("state", name) for name in self._sequences)
        emits = tuple(("emit", name) for name in self._emits)
        reads = tuple(("output", n) for n in plan.kept_outputs)
        reads += tuple(("state", name) for name in plan.kept_state)

        @tf.custom_gradient
        def run(*flat):
            packed = tf.nest.pack_sequence_as(arguments, flat)
            write = dict.fromkeys(returned + emits + (reads if keep else ()))
            last, out = self._forward(plan, *packed, write)
            result = last, [out[key] for key in returned]

            def backward(*cotangents):
                d_last, d_series = tf.nest.pack_sequence_as(
                    result, cotangents[: len(tf.nest.flatten(result))]
                )
                read = out if keep else self._forward(plan, *packed, reads)[1]
                gradients = self._backward(plan, packed, read, d_last, d_series)
                return tf.nest.flatten(gradients)

            flat = tf.nest.flatten(result) + [out[key] for key in emits]
            return flat, backward

        structure = (dict(state), self._sequences, self._emits)
        flat = run(*tf.nest.flatten(arguments))
        last, series, emitted = tf.nest.pack_sequence_as(structure, flat)
        return (
            last,
            dict(zip(self._sequences, series)),
            dict(zip(self._emits, emitted)),
        )

    def _plan(self, inputs, state, constants) -> step_plan.Plan:
        shapes = (
            _map(_spec, self._weights | dict(constants)),
            _map(_spec, constants),
            _map(_step_spec, inputs),
            _map(_spec, state),
        )
        mask = _step_spec(self._mask)
        key = (mask, *(tuple(specs.items()) for specs in shapes))
        if key not in self._plans:
            self._plans[key] = step_plan.plan(self._step, *shapes, mask)
        return self._plans[key]

    def _forward(self, plan, inputs, state, weights, constants, keys):
        """The last state, and what `keys` names, `[T, ...]` by key."""
        known = {
            "state": _map(_spec, state),
            "output": plan.outputs,
            "emit": plan.emitted,
        }
        specs = {key: known[key[0]][key[1]] for key in keys}
        read, masks = _map(_unstack, inputs), _unstack(self._mask)

        def compute(t, state):
            ops = steps.Operations(weights, constants)
            state = steps.masked_step(
                self._step, ops, _read(read, t), state, masks.read(t)
            )
            values = {
                "state": state,
                "output": ops.outputs,
                "emit": ops.emitted,
            }
            return state, {key: values[key[0]][key[1]] for key in specs}

        return self._loop(compute, dict(state), specs, self._reverse)

    def _backward(self, plan, arguments, out, d_last, d_series):
        """The gradients of `arguments`, one dictionary for each part."""
        inputs, state, weights, constants = arguments
        before = {
            name: self._previous(state[name], out["state", name])
            for name in plan.kept_state
        }
        outputs = {n: _unstack(out["output", n]) for n in plan.kept_outputs}
        masks = _unstack(self._mask)
        arriving = dict(zip(self._sequences, map(_unstack, d_series)))
        series = {k: _unstack(inputs[k]) for k in plan.kept_inputs}
        states = _map(_unstack, before)
        transposed = steps.transpose(weights)
        no_inputs = _map(_zeros_of_step, inputs)
        no_state = _map(tf.zeros_like, state)

        def compute(t, carry):
            d_state, d_constants = carry
            arrived = _read(arriving, t)
            pulled, _ = steps.pull(
                self._step,
                weights,
                transposed,
                constants,
                no_inputs | _read(series, t),
                no_state | _read(states, t),
                masks.read(t),
                _read(outputs, t),
                {k: d + arrived.get(k, 0.0) for k, d in d_state.items()},
            )
            d_constants = {
                name: d + pulled.constants[name]
                for name, d in d_constants.items()
            }
            values = step_plan.results(pulled)
            written = {key: values[key] for key in plan.written}
            return (pulled.state, d_constants), written

        carry = dict(d_last), _map(tf.zeros_like, constants)
        (d_state, d_constants), written = self._loop(
            compute, carry, plan.written, not self._reverse
        )
        if plan.late:
            written |= self._product_inputs(plan, arguments, out, before)
        # In the input of a product, "state" means the state before the step.
        values = out | {("state", name): x for name, x in before.items()}
        values |= written
        values |= {key: values[source] for key, source in plan.same.items()}
        d_inputs = {name: values["input", name] for name in inputs}
        return (
            d_inputs,
            d_state,
            self._weight_gradients(plan, values, weights),
            d_constants,
        )

    def _product_inputs(self, plan, arguments, out, before):
        """What `plan.late` names, `[T, ...]` by key, for all steps at once."""
        inputs, state, weights, constants = arguments
        no_inputs = _map(_zeros_of_step, inputs)
        no_state = _map(tf.zeros_like, state)
        of_steps = {
            "inputs": {name: inputs[name] for name in plan.kept_inputs},
            "state": before,
            "outputs": {n: out["output", n] for n in plan.kept_outputs},
        }

        def of_a_step(values):
            products = steps.product_inputs(
                self._step,
                weights,
                constants,
                no_inputs | values["inputs"],
                no_state | values["state"],
                values["outputs"],
            )
            return [products[n] for _, n in plan.late]

        return dict(zip(plan.late, tf.vectorized_map(of_a_step, of_steps)))

    def _weight_gradients(self, plan, values, weights):
        """One matrix product over all steps for each product of the step."""
        gradients = {}
        for n, name in enumerate(plan.weights):
            x, dy = values["x", n], values["dy", n]
            weight = weights[name]
            gradient = outer_product(
                tf.cast(x, weight.dtype), tf.cast(dy, weight.dtype), weight
            )
            old = gradients.get(name)
            gradients[name] = gradient if old is None else old + gradient
        return gradients

    def _previous(self, initial: tf.Tensor, states: tf.Tensor) -> tf.Tensor:
        """The states before each step, from those after each step."""
        if self._reverse:
            return tf.concat([states[1:], initial[None]], 0)
        return tf.concat([initial[None], states[:-1]], 0)

    def _loop(self, compute, carry, specs, reverse):
        """Runs `compute(t, carry) -> carry, written` for all times.

        Returns:
            The last carry, and `[T, ...]` by the keys of `specs`.
        """

        def body(i, carry, arrays):
            t = self._length - 1 - i if reverse else i
            carry, out = compute(t, carry)
            arrays = [a.write(t, out[key]) for a, key in zip(arrays, specs)]
            return i + 1, carry, arrays

        arrays = [
            tf.TensorArray(spec.dtype, self._length, element_shape=spec.shape)
            for spec in specs.values()
        ]
        _, carry, arrays = tf.while_loop(
            lambda i, *_: i < self._length,
            body,
            (tf.constant(0), carry, arrays),
            maximum_iterations=self._length,
        )
        return carry, {key: a.stack() for key, a in zip(specs, arrays)}


def _zeros_of_step(x: tf.Tensor) -> tf.Tensor:
    """Zeros of the shape of one step, in place of unused values."""
    if x.shape[1:].is_fully_defined():
        return tf.zeros(x.shape[1:], x.dtype)
    return tf.zeros(tf.shape(x)[1:], x.dtype)
