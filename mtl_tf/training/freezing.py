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


# Of a model that translates the encoder is the scheme, and the decoders are
# the heads.
_SCHEME = ("scheme/", "encoder/")
_WORDS = (
    *("embedding/", "ngram_embedding/"),
    *("characters/", "casing/", "wide/"),
)
_BELOW_HEADS = (*_SCHEME, *_WORDS)


def is_head(variable: keras.Variable) -> bool:
    """Whether the weight is of a head, which a task's labels number."""
    return not path_of(variable).startswith(_BELOW_HEADS)


# Names of parts -> their trainable weights. "shared" is what the tasks share
# besides words: theta_m of Chen et al. (2018).
_Variables = Sequence[keras.Variable]
PARTS: dict[str, Callable[[keras.Model, _Variables], _Variables]] = {
    "shared": lambda model, variables: _without(
        variables, [*model.private_variables(), *model.embedding_variables()]
    ),
    "private": lambda model, variables: model.private_variables(),
    "embedding": lambda model, variables: model.embedding_variables(),
    "scheme": lambda model, variables: [
        v for v in variables if path_of(v).startswith(_SCHEME)
    ],
    "heads": lambda model, variables: list(filter(is_head, variables)),
}


def _without(variables: _Variables, others: _Variables) -> _Variables:
    left_out = {id(v) for v in others}
    return [v for v in variables if id(v) not in left_out]


def frozen(model: keras.Model, patterns: Sequence[str]) -> list[keras.Variable]:
    """What `training.freeze` names; see `named`."""
    return named(model, patterns, "training.freeze", model.trainable_variables)


def taken(model: keras.Model, patterns: Sequence[str]) -> list[keras.Variable]:
    """What `training.initialize_only` names; see `named`.

    The weights of a pretrained encoder that is not trained are among them.
    """
    variables = [
        v
        for v in model.variables
        if v.trainable or getattr(v, "is_pretrained", False)
    ]
    return named(model, patterns, "training.initialize_only", variables)


def named(
    model: keras.Model,
    patterns: Sequence[str],
    field: str,
    variables: Sequence[keras.Variable],
) -> list[keras.Variable]:
    """The weights that the patterns name.

    Args:
        model: a built model.
        patterns: names of `PARTS`; paths of weights; beginnings of paths that
            end at a slash (`scheme/forward`); or shell patterns of whole
            paths, in which `*` also stands for slashes.
        field: of the config that holds them, for errors.
        variables: the weights that can be named.

    Raises:
        ConfigError: a pattern names none of them.
    """
    chosen: dict[int, keras.Variable] = {}
    for pattern in patterns:
        if pattern in PARTS:
            matches = PARTS[pattern](model, variables)
        else:
            matches = [v for v in variables if _matches(path_of(v), pattern)]
        if not matches:
            paths = "\n".join(f"  {path_of(v)}" for v in variables)
            raise ConfigError(
                f"{field}: {pattern!r} names no trainable weight; "
                f"there are the names {', '.join(PARTS)} and the paths\n"
                f"{paths}"
            )
        chosen.update({id(v): v for v in matches})
    return list(chosen.values())


def _matches(path: str, pattern: str) -> bool:
    below = path.startswith(pattern.rstrip("/") + "/")
    return below or fnmatch.fnmatchcase(path, pattern)
