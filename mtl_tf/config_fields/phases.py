"""Phases of a mixing that last a fraction of a run."""

from collections.abc import Mapping
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

_FIELD = "pipeline.mixing.phases"


def with_steps(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config whose phases have steps in place of fractions of them.

    What else phases have is checked where a mixing is made of them.

    Args:
        config: of a run, plain values.

    Raises:
        ConfigError: a fraction is not between 0 and 1, or the run has epochs.
    """
    pipeline, steps = config["pipeline"], config["training"]["steps"]
    phases = pipeline["mixing"].get("phases")
    if not isinstance(phases, (list, tuple)):
        return dict(config)
    phases = [
        _with_steps(f"{_FIELD}[{number}].fraction", phase, steps)
        for number, phase in enumerate(phases)
    ]
    mixing = {**pipeline["mixing"], "phases": phases}
    return {**config, "pipeline": {**pipeline, "mixing": mixing}}


def _with_steps(field: str, phase: Any, steps: int) -> Any:
    if not isinstance(phase, Mapping) or phase.get("fraction") is None:
        return phase
    rest = {name: part for name, part in phase.items() if name != "fraction"}
    for other in ("steps", "epochs"):
        if rest.get(other) is not None:
            raise ConfigError(
                f"{field} and {other} are both given: a phase has one of them"
            )
    if not steps:
        raise ConfigError(
            f"{field} is of training.steps, which is 0 here: give the phase "
            "steps or epochs"
        )
    if checks.positive(field, phase["fraction"]) >= 1:
        raise ConfigError(
            f"{field} must be below 1, since all tasks come after it, got "
            f"{phase['fraction']}"
        )
    return {**rest, "steps": max(1, round(phase["fraction"] * steps))}
