"""Which weights `training.freeze` keeps as they are."""

import fnmatch
from collections.abc import Callable, Sequence

import keras

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.multi_task import MultiTaskModel


def path_of(variable: keras.Variable) -> str:
    """A weight's path below the model, such as `scheme/forward/meta_bias`."""
    return variable.path.partition("/")[2]


def is_private(variable: keras.Variable) -> bool:
    """Whether the weight is stacked by task, one slice each."""
    return getattr(variable, "is_private", False)


def _in_embedding(path: str) -> bool:
    return path.startswith("embedding/")


_BELOW_HEADS = ("scheme/", "embedding/", "characters/", "casing/")


# Names of parts -> whether a weight belongs to them. "shared" is what the
# tasks share besides words: theta_m of Chen et al. (2018).
PARTS: dict[str, Callable[[keras.Variable], bool]] = {
    "shared": lambda v: not is_private(v) and not _in_embedding(path_of(v)),
    "private": is_private,
    "embedding": lambda v: _in_embedding(path_of(v)),
    "scheme": lambda v: path_of(v).startswith("scheme/"),
    "heads": lambda v: not path_of(v).startswith(_BELOW_HEADS),
}


def frozen(
    model: MultiTaskModel, patterns: Sequence[str]
) -> list[keras.Variable]:
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
