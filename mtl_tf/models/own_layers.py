"""Schemes and heads of the user's own: loaded, checked and built."""

import inspect
from collections.abc import Callable, Iterable

import keras
import tensorflow as tf
from absl import logging

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.pretrained.sublayers import sublayers
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models import components
from mtl_tf.models.scheme import SharingScheme

# Another seed than the default of layers.
_SEED = 1


def load_scheme(place: str) -> type[SharingScheme]:
    """Loads a user's scheme class from its path.

    Raises:
        ConfigError: there is none, or models cannot make or call it.
    """
    cls = own_functions.load_class(place, SharingScheme)
    signature = inspect.signature(cls)
    try:
        signature.bind(tasks=None)
    except TypeError as error:
        raise ConfigError(
            f"{place} must take tasks, their number, as its one argument "
            f"without a default: {error}"
        )
    try:
        signature.bind(tasks=None, name=None, init=None, dtype=None)
    except TypeError as error:
        raise ConfigError(
            f"{place} must take **kwargs, such as name, init and dtype, and "
            f"pass them to super().__init__(**kwargs): {error}"
        )
    _check_call(place, cls)
    return cls


def _check_call(place: str, scheme: type[SharingScheme]) -> None:
    """Refuses a `call` that is missing, or lacks an argument of models."""
    if scheme.call is SharingScheme.call:
        raise ConfigError(
            f"{place} has no call: it must encode the texts "
            "(docs/add_a_sharing_scheme.md)"
        )
    options = ("training", "seed", "inspect", "sequence", *scheme.batch_entries)
    signature = inspect.signature(scheme.call)
    try:
        signature.bind(None, None, None, None, **dict.fromkeys(options))
        _check_named(signature)
    except TypeError as error:
        raise ConfigError(
            f"{place}: call{signature} must take (self, embedded, mask, task, "
            f"{', '.join(f'{name}=...' for name in options)}): {error}"
        )


def _check_named(signature: inspect.Signature) -> None:
    """Refuses `*args` and `**kwargs`: Keras reads all of one as one argument.

    It would complain of an argument that mixes tensors and flags.

    Raises:
        TypeError: there is such a parameter.
    """
    for parameter in signature.parameters.values():
        if parameter.kind in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.VAR_KEYWORD,
        ):
            raise TypeError(f"name each argument in place of {parameter}")


def check_layers(place: str, make: Callable[[int], SharingScheme]) -> None:
    """Checks the layers inside a scheme.

    Args:
        place: the scheme's path, for messages.
        make: makes the scheme, given the seed of its initial weights.

    Raises:
        ConfigError: a layer has no name of its own. A run would not find its
            weights again, as Keras numbers such layers throughout a process.
    """
    layers, again = sublayers(make(_SEED)), sublayers(make(_SEED))
    for layer, other in zip(layers, again):
        if layer.name != other.name:
            kind = type(layer).__name__
            raise ConfigError(
                f"{place}: its layer {layer.name} needs a name of its own, "
                f"{kind}(..., name=...). Keras numbers layers without one, "
                "and their weights would be called differently when the run "
                "continues or is loaded"
            )
        is_seeded = isinstance(layer, StackedLayer)
        if is_seeded and layer.init["seed"] != _SEED:
            logging.warning(
                "%s: the weights of its layer %s start the same whatever "
                "`seed` says: pass it init=self.init.",
                place,
                layer.name,
            )


def build_scheme(
    scheme: SharingScheme, size: int, reads: Iterable[str]
) -> None:
    """Makes all weights of a scheme.

    A scheme of the user's own also encodes a word. That makes the weights of
    layers that `build` does not build: those made in the first step would be
    neither trained nor saved.

    Args:
        scheme: the scheme.
        size: D, the size of the word vectors.
        reads: what the heads read, "summary" and "sequence".

    Raises:
        ConfigError: the scheme is the user's own and returns something else
            than `SharingScheme` says.
    """
    scheme.build((None, None, None, size))
    if not _is_own(scheme):
        return
    components.units_of(scheme)
    entries = dict.fromkeys(scheme.batch_entries)
    for entry in sorted(set(reads)):
        with recurrence.options(jit=False):
            encoded = scheme(
                tf.zeros([1, 1, 1, size]),
                tf.ones([1, 1, 1], tf.bool),
                tf.zeros([1], tf.int32),
                training=False,
                seed=tf.constant([1, 2]),
                inspect=False,
                sequence=entry == "sequence",
                **entries,
            )
        components.check_encoded(encoded, scheme, entry)


def build_head(head: keras.layers.Layer, size: int) -> None:
    """Makes all weights of a head, as `build_scheme` does of a scheme.

    Args:
        head: the head.
        size: the size of what it reads.
    """
    shapes = {
        "summary": (None, None, size),
        "sequence": (None, None, None, size),
    }
    head.build(shapes)
    if not _is_own(head):
        return
    encoded = {
        "summary": tf.zeros([1, 1, size]),
        "sequence": tf.zeros([1, 1, 1, size]),
        "mask": tf.ones([1, 1, 1], tf.bool),
    }
    output = head(encoded, {"task": tf.zeros([1], tf.int32)})
    components.check_scored(output, head, training=False)


def _is_own(layer: keras.layers.Layer) -> bool:
    """Whether a layer's class is the user's."""
    return not type(layer).__module__.startswith("mtl_tf.")
