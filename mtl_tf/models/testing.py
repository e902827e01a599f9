"""Checks that a user's own sharing scheme or head has to pass.

from mtl_tf.models.testing import check_scheme

def test_my_scheme():
    check_scheme(lambda: MyScheme(tasks=3, units=8), tasks=3)
"""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models import components
from mtl_tf.models.scheme import SharingScheme

_CLOSE = 1e-5
Outputs = Mapping[str, tf.Tensor]


def check_scheme(
    make: Callable[[], SharingScheme],
    tasks: int,
    size: int = 5,
    entries: Mapping[str, Any] | None = None,
) -> SharingScheme:
    """Checks a sharing scheme on random texts.

    It checks that

    * the scheme returns what `SharingScheme` says, with size `output_units`;
    * neither more padding nor the values at padding change its outputs, a text
    without words gives finite numbers, and a text's outputs do not depend on
    the other texts of the batch;
    * the same seed gives the same outputs in training;
    * a gradient reaches every trainable weight, and in weights that belong to
    tasks (`add(..., stack=(tasks,))`) only the slices of the batch's tasks;
    * `get_config` and the weights recreate the same scheme;
    * it returns the same in a graph, as in an export.

    Args:
        make: makes the scheme, always in the same way.
        tasks: number of tasks, at least two.
        size: D, the size of the word vectors.
        entries: the entries that `batch_entries` names.

    Returns:
        The built scheme.

    Raises:
        AssertionError: a check fails; the message says which.
    """
    scheme = make()
    options = {"seed": tf.constant([1, 2]), **(entries or {})}
    inputs = _texts(tasks, size)

    def run(layer=scheme, arguments=inputs, training=False):
        with recurrence.options(jit=False):
            outputs = layer(
                *arguments,
                training=training,
                sequence=layer.has_sequence,
                **options,
            )
        return {k: outputs[k] for k in _read(layer) if k in outputs} | {
            "losses": outputs.get("losses", {})
        }

    with recurrence.options(jit=False):
        encoded = scheme(*inputs, sequence=scheme.has_sequence, **options)
    components.units_of(scheme)
    for name in _read(scheme):
        components.check_encoded(encoded, scheme, name)
    expected = _tensors(run())
    _finite(expected, "a batch in which a text has no words")
    _check_padding(scheme, inputs, run, expected)
    _same(
        _tensors(run(training=True)),
        _tensors(run(training=True)),
        "the same seed must give the same outputs in training",
    )
    _check_gradients(scheme, tasks, inputs, run)
    again = _made_again(scheme)
    run(again)  # builds
    again.set_weights(scheme.get_weights())
    _same(_tensors(run(again)), expected, f"{_name(scheme)} made again {_OF}")
    _check_graph(
        lambda *arguments: _tensors(run(arguments=arguments)), inputs, expected
    )
    return scheme


def check_head(
    make: Callable[[], keras.layers.Layer],
    encoded: Outputs,
    batch: Outputs,
) -> keras.layers.Layer:
    """Checks a head of a task type on a batch with targets.

    It checks that the head returns "prediction" and a finite "loss" `[G, B]`,
    that it predicts the same without targets, that a gradient reaches every
    trainable weight, that `get_config` and the weights recreate the same head,
    and that it returns the same in a graph.

    Args:
        make: makes the head, always in the same way.
        encoded: the head's input: "summary" `[G, B, H]`, or "sequence"
            `[G, B, T, H]` and "mask" bool `[G, B, T]`.
        batch: "task" int32 `[G]` and the targets. It should contain every task.

    Returns:
        The built head.

    Raises:
        AssertionError: a check fails; the message says which.
    """
    head = make()
    assert getattr(head, "reads", None) in ("summary", "sequence"), (
        f"{_name(head)} must have an attribute reads, 'summary' or 'sequence'"
    )
    with tf.GradientTape() as tape:
        output = head(encoded, batch)
        components.check_scored(output, head, training=True)
        total = tf.reduce_sum(output["loss"])
    expected = _tensors(output)
    _finite({"loss": output["loss"]}, "the batch")
    gradients = tape.gradient(total, head.trainable_variables)
    _reach(head.trainable_variables, gradients)
    alone = head(encoded, {"task": batch["task"]})
    _same(
        _tensors({"prediction": alone["prediction"]}),
        _tensors({"prediction": output["prediction"]}),
        "predictions without targets must be those with them",
    )
    again = _made_again(head)
    again(encoded, batch)  # builds
    again.set_weights(head.get_weights())
    _same(_tensors(again(encoded, batch)), expected, f"the head again {_OF}")
    _check_graph(
        lambda *arguments: _tensors(
            head(*tf.nest.pack_sequence_as([encoded, batch], arguments))
        ),
        tf.nest.flatten([encoded, batch]),
        expected,
    )
    return head


_OF = "of its get_config and its weights must return the same"


def _texts(tasks: int, size: int) -> list[tf.Tensor]:
    """Word vectors, mask and tasks; each task's last text has no words."""
    draw = np.random.default_rng(0)
    lengths = np.array([[4, 2, 0]] * tasks)
    mask = np.arange(4) < lengths[..., None]
    vectors = draw.normal(size=(tasks, 3, 4, size)).astype("float32")
    return [tf.constant(vectors), tf.constant(mask), tf.range(tasks)]


def _read(scheme: SharingScheme) -> tuple[str, ...]:
    return ("summary", "sequence") if scheme.has_sequence else ("summary",)


def _check_padding(scheme, inputs, run, expected) -> None:
    vectors, mask, task = inputs
    name = _name(scheme)
    real = tf.cast(mask, vectors.dtype)[..., None]
    noise = tf.where(real > 0, vectors, 7.0)
    _same(
        _tensors(run(arguments=(noise, mask, task)), mask),
        _real(expected, mask),
        f"{name} must not read the vectors of padding",
    )
    longer = tf.pad(vectors, [[0, 0], [0, 0], [0, 3], [0, 0]])
    longer_mask = tf.pad(mask, [[0, 0], [0, 0], [0, 3]])
    outputs = run(arguments=(longer, longer_mask, task))
    if "sequence" in outputs:
        outputs["sequence"] = outputs["sequence"][:, :, : mask.shape[-1]]
    _same(
        _tensors(outputs, mask),
        _real(expected, mask),
        f"more padding must not change what {name} returns",
    )
    order = [2, 0, 1]
    moved = [tf.gather(vectors, order, axis=1), tf.gather(mask, order, axis=1)]
    _same(
        _tensors(run(arguments=(*moved, task)), moved[1]),
        {
            k: np.take(v, order, axis=1)
            for k, v in _real(expected, mask).items()
        },
        f"what {name} returns of a text must not depend on those beside it",
    )


def _check_gradients(scheme, tasks, inputs, run) -> None:
    variables = scheme.trainable_variables

    def gradients(arguments):
        with tf.GradientTape() as tape:
            outputs = run(arguments=arguments, training=True)
            # Squares, because the sum of a softmax has no gradient.
            parts = [
                tf.reduce_sum(t**2) + tf.reduce_sum(t)
                for t in tf.nest.flatten(outputs)
            ]
            total = tf.add_n(parts)
        return tape.gradient(total, variables)

    _reach(variables, gradients(inputs))
    first = [part[:1] for part in inputs]
    for variable, gradient in zip(variables, gradients(first)):
        if not marks_of(variable).is_private or gradient is None:
            continue
        assert variable.shape[0] == tasks, (
            f"{variable.path} belongs to tasks: its first axis must be "
            f"{tasks}, got {tuple(variable.shape)}"
        )
        others = np.array(tf.convert_to_tensor(gradient))[1:]
        assert not others.any(), (
            f"a text of task 0 moves slices of {variable.path} that belong "
            "to other tasks"
        )


def _reach(variables, gradients) -> None:
    for variable, gradient in zip(variables, gradients):
        reached = gradient is not None and bool(
            np.any(tf.convert_to_tensor(gradient))
        )
        assert reached, f"no gradient reaches {variable.path}"


def _check_graph(function, inputs, expected) -> None:
    """Traces the function with unknown dimensions, as an export does."""
    specs = [
        tf.TensorSpec([None] * min(len(t.shape), 3) + t.shape[3:], t.dtype)
        if len(t.shape) > 1
        else tf.TensorSpec([None], t.dtype)
        for t in inputs
    ]
    graph = tf.function(function, input_signature=specs, autograph=False)
    outputs = {k: np.array(v) for k, v in graph(*inputs).items()}
    _same(outputs, expected, "in a graph it must return the same")


def _made_again(layer: keras.layers.Layer) -> Any:
    again = type(layer).from_config(layer.get_config())
    assert again.get_config() == layer.get_config(), (
        f"{_name(layer)} made of its get_config has another get_config: does "
        "it return all arguments of the constructor?"
    )
    return again


def _tensors(outputs: Mapping[str, Any], mask=None) -> dict[str, Any]:
    """The outputs as named tensors; in a graph they are not converted."""
    compared = {
        k: v
        for k, v in outputs.items()
        if k in ("summary", "sequence", "prediction", "loss", "scores")
    }
    if mask is not None:
        return _real(compared, mask)
    eager = tf.executing_eagerly()
    return {k: np.array(v) if eager else v for k, v in compared.items()}


def _real(outputs: Mapping[str, Any], mask) -> dict[str, np.ndarray]:
    """The outputs, with 0 at the padding of sequences."""
    real = np.array(mask)[..., None]
    return {
        k: np.where(real, v, 0) if k == "sequence" else np.array(v)
        for k, v in outputs.items()
    }


def _finite(outputs: Mapping[str, Any], of_what: str) -> None:
    for name, value in outputs.items():
        assert np.isfinite(value).all(), (
            f"{name!r} must be finite for {of_what}"
        )


def _same(outputs, expected, rule: str) -> None:
    for name, value in expected.items():
        if outputs[name].shape != value.shape:
            raise AssertionError(
                f"{rule}: {name!r} has the shape {outputs[name].shape}, not "
                f"{value.shape}"
            )
        wide = np.abs(outputs[name].astype(np.float64) - value)
        assert wide.max(initial=0) <= _CLOSE * max(1, np.abs(value).max()), (
            f"{rule}: {name!r} differs by {wide.max():.3g}"
        )


def _name(layer: keras.layers.Layer) -> str:
    return type(layer).__name__
