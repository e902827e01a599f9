"""Which weights `training.freeze` keeps as they are."""

import fnmatch
from collections.abc import Callable, Sequence

import keras

from mtl_tf.core.errors import ConfigError


def path_of(variable: keras.Variable) -> str:
    """A weight's path below the model, such as `scheme/forward/meta_bias`."""
    return variable.path.partition("/")[2]


def is_private(variable: keras.Variable) -> bool:
    """Whether the weight is stacked by task, one slice each."""
    return getattr(variable, "is_private", False)


def _in_embedding(variable: keras.Variable) -> bool:
    path = path_of(variable)
    # A model that translates has an embedding for each language.
    languages = path.startswith(("encoder/", "decoder_"))
    own = languages and path.split("/")[-2].endswith("_embedding")
    return own or path.startswith("embedding/")


def _of_one_task(variable: keras.Variable) -> bool:
    """Whether the weight, or each slice of it, belongs to one task."""
    return is_private(variable) or path_of(variable).startswith("decoder_")


_SCHEME = ("scheme/", "encoder/")
_BELOW_HEADS = (*_SCHEME, "embedding/", "characters/", "casing/")


# Names of parts -> whether a weight belongs to them. "shared" is what the
# tasks share besides words: theta_m of Chen et al. (2018). Of a model that
# translates the encoder is the scheme, and the decoders are the heads.
PARTS: dict[str, Callable[[keras.Variable], bool]] = {
    "shared": lambda v: not _of_one_task(v) and not _in_embedding(v),
    "private": _of_one_task,
    "embedding": _in_embedding,
    "scheme": lambda v: path_of(v).startswith(_SCHEME),
    "heads": lambda v: not path_of(v).startswith(_BELOW_HEADS),
}


def frozen(model: keras.Model, patterns: Sequence[str]) -> list[keras.Variable]:
    """The trainable weights that the patterns name.

    Args:
        model: a built model.
        patterns: names of `PARTS`; paths of weights; beginnings of paths that
            end at a slash (`scheme/forward`); or shell patterns of whole
            paths, in which `*` also stands for slashes.

    Raises:
        ConfigError: a pattern names no trainable weight.
    """
    variables = model.trainable_variables
    chosen: dict[int, keras.Variable] = {}
    for pattern in patterns:
        found = [v for v in variables if _matches(v, pattern)]
        if not found:
            paths = "\n".join(f"  {path_of(v)}" for v in variables)
            raise ConfigError(
                f"training.freeze: {pattern!r} names no trainable weight; "
                f"there are the names {', '.join(PARTS)} and the paths\n"
                f"{paths}"
            )
        chosen.update({id(v): v for v in found})
    return list(chosen.values())


def _matches(variable: keras.Variable, pattern: str) -> bool:
    if pattern in PARTS:
        return PARTS[pattern](variable)
    path = path_of(variable)
    below = path.startswith(pattern.rstrip("/") + "/")
    return below or fnmatch.fnmatchcase(path, pattern)
