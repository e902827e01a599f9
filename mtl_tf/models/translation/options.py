"""The options of a translation model, completed and checked."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed, look_up

DEFAULTS = {
    "name": "multi_target",
    "embedding_dim": 256,
    "units": 256,
    "attention_units": 0,
    "readout_units": 0,
    "bias": True,
    "dropout": {},
    "label_smoothing": 0.0,
    "output": {},
    "init": {},
}
DROPOUT = {"embedding": 0.0, "encoding": 0.0, "readout": 0.0}
OUTPUT = {"name": "full", "samples": 0}


def checked(model_config: Mapping) -> dict[str, Any]:
    """All fields of a model, including those of "dropout" and "output".

    Args:
        model_config: see `multi_target.build_translation_model`.

    Raises:
        ConfigError: a field or a name is unknown, or "output" is wrong. The
            layers check the other values.
    """
    config = completed("model", model_config, DEFAULTS)
    checks.one_of("model.name", config["name"], ["multi_target"])
    dropout = completed("model.dropout", config["dropout"], DROPOUT)
    output = completed("model.output", config["output"], OUTPUT)
    _check_output(output)
    return {**config, "dropout": dropout, "output": output}


def targets(pairs: Sequence[str], sizes: Mapping[str, int]) -> list[str]:
    """The target language of each pair.

    Args:
        pairs: names such as "en-de".
        sizes: vocabulary sizes by target language.

    Raises:
        ConfigError: a pair's name has another form, its target is unknown, the
            sources differ, or two pairs have the same target.
    """
    if not pairs:
        raise ConfigError("pairs must name at least one pair, such as 'en-de'")
    split = [tuple(pair.split("-", 1)) for pair in pairs]
    for pair, languages in zip(pairs, split):
        if len(languages) < 2 or not all(languages):
            raise ConfigError(
                f"a pair must be 'source-target', such as 'en-de', got {pair!r}"
            )
        look_up(languages[1], sizes, "target language")
    sources = sorted({source for source, _ in split})
    if len(sources) > 1:
        raise ConfigError(f"pairs must share one source, got {sources}")
    languages = [target for _, target in split]
    if len(set(languages)) < len(languages):
        raise ConfigError(f"pairs must have different targets, got {languages}")
    return languages


def _check_output(output: Mapping) -> None:
    """Checks the output layer; "samples" 0 means the whole vocabulary."""
    checks.one_of("model.output.name", output["name"], ["full", "sampled"])
    name = "model.output.samples"
    if output["name"] == "sampled":
        checks.positive_integer(name, output["samples"])
    elif output["samples"]:
        raise ConfigError(
            f"{name} must be 0 unless model.output.name is 'sampled', got "
            f"{output['samples']}"
        )
