"""Selects the weights that `training.freeze` keeps unchanged."""

import fnmatch
from collections.abc import Callable, Sequence

import keras

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of


def path_of(variable: keras.Variable) -> str:
    """A weight's path inside the model, such as `scheme/forward/meta_bias`."""
    return variable.path.partition("/")[2]


# In a translation model the encoder is the scheme and the decoders are the
# heads.
_SCHEME = ("scheme/", "encoder/")
_WORDS = (
    "embedding/",
    "ngram_embedding/",
    "characters/",
    "casing/",
    "wide/",
)
_BELOW_HEADS = (*_SCHEME, *_WORDS)


def is_head(variable: keras.Variable) -> bool:
    """Whether the weight belongs to a head, whose size is set by the labels."""
    return not path_of(variable).startswith(_BELOW_HEADS)


# Part names -> their trainable weights. "shared" is what the tasks share except
# word vectors: theta_m of Chen et al. (2018).
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
    """The weights that `training.freeze` names; see `named`."""
    return named(model, patterns, "training.freeze", model.trainable_variables)


def taken(model: keras.Model, patterns: Sequence[str]) -> list[keras.Variable]:
    """The weights that `training.initialize_only` names; see `named`.

    They may include the weights of a pretrained encoder that is not trained.
    """
    variables = [
        v for v in model.variables if v.trainable or marks_of(v).is_pretrained
    ]
    return named(model, patterns, "training.initialize_only", variables)


def named(
    model: keras.Model,
    patterns: Sequence[str],
    field: str,
    variables: Sequence[keras.Variable],
) -> list[keras.Variable]:
    """The weights that match the patterns.

    Args:
        model: a built model.
        patterns: each is a name in `PARTS`, the path of a weight, the
            beginning of a path up to a slash (`scheme/forward`), or a shell
            pattern for whole paths, in which `*` also matches slashes.
        field: the config field with the patterns, for error messages.
        variables: the weights to choose from.

    Raises:
        ConfigError: a pattern matches no weight.
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
