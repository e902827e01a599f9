"""Callbacks: objects that are called while a run trains."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up


@dataclasses.dataclass(frozen=True)
class Training:
    """Facts about a training stage, given to callbacks when it begins.

    Attributes:
        directory: the run directory.
        config: the resolved config, as in JSON.
        stage: "joint", or the name of a fine-tuning stage.
        folder: the stage's folder inside `directory`; "" for the joint stage.
        step: steps already done; above 0 when a run continues.
        total_steps: steps of the stage.
    """

    directory: str
    config: Mapping[str, Any]
    stage: str
    folder: str
    step: int
    total_steps: int


class Callback:
    """Base class of callbacks; each method does nothing unless overridden.

    With several workers only the chief calls them. An exception in a callback
    ends the training like a crash, and the same command continues it. A killed
    run repeats the steps since its last checkpoint, so a callback may be called
    twice for the same step.
    """

    def on_begin(self, training: Training) -> None:
        """A stage begins, or continues after a stop."""

    def on_step(self, step: int, loss: float) -> None:
        """One or more steps are done; several at a time when steps are fast.

        Args:
            step: number of steps done since the beginning of the stage.
            loss: the mean training loss since the last evaluation.
        """

    def on_evaluation(self, entry: Mapping[str, Any]) -> None:
        """The validation sets were scored.

        Args:
            entry: the new line of `metrics.jsonl`: `stage`, `step`, `epoch`,
                `train_loss` and `loss_weights` by task, `learning_rate`, and
                `validation` with `mean` and `tasks`.
        """

    def on_end(self, directory: str, results: Mapping[str, Any]) -> None:
        """The run is finished.

        Args:
            directory: the run directory.
            results: the contents of `results.json`.
        """


def scalars(entry: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of an evaluation by name, such as `validation/books/loss`.

    Args:
        entry: as in `Callback.on_evaluation`.

    Returns:
        The finite numbers only.
    """
    numbers: dict[str, Any] = {"train/learning_rate": entry["learning_rate"]}
    for task, loss in entry["train_loss"].items():
        numbers[f"train/{task}/loss"] = loss
        numbers[f"train/{task}/loss_weight"] = entry["loss_weights"][task]
    validation = entry["validation"]
    numbers["validation/mean"] = validation["mean"]
    numbers |= _of_diagnostics("diagnostics", validation)
    for task, scores in validation["tasks"].items():
        for name, value in scores.items():
            numbers[f"validation/{task}/{name}"] = value
        numbers |= _of_diagnostics(f"diagnostics/{task}", scores)
    return {name: float(v) for name, v in numbers.items() if _is_number(v)}


def _of_diagnostics(
    prefix: str, scores: Mapping[str, Any]
) -> dict[str, float | None]:
    diagnostics = scores.get("diagnostics", {})
    return {f"{prefix}/{name}": value for name, value in diagnostics.items()}


def _is_number(value: Any) -> bool:
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    return numeric and math.isfinite(value)


def flat(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A config's fields by full name, such as `model.dropout.head`."""
    return dict(_leaves(config, prefix))


def _leaves(
    config: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


#: The classes of the callbacks that have a short name.
_NAMED = {
    "tensorboard": "mtl_tf.training.summaries:TensorBoard",
    "wandb": "mtl_tf.training.trackers:WeightsAndBiases",
    "mlflow": "mtl_tf.training.trackers:MLflow",
}


def by_name(names: Sequence[str]) -> list[Callback]:
    """Makes callbacks from their names.

    Args:
        names: each is "tensorboard", "wandb", "mlflow", or the path of a user's
            class, `my_file.py:Class` or `module:Class`. Such a class is called
            without arguments.

    Raises:
        ConfigError: the name does not exist, the class is not a `Callback`, or
            a package that it needs is not installed.
    """
    return [_make(name.strip()) for name in names]


def _make(name: str) -> Callback:
    place = name
    if not own_functions.is_own(name):
        place = look_up(name, _NAMED, "callback")
    try:
        callback = own_functions.load(place, "class")()
    except ConfigError as error:
        raise ConfigError(f"the callback {name!r} cannot be made: {error}")
    except Exception as error:  # User code can raise anything.
        raise ConfigError(
            f"the callback {name!r} cannot be made: "
            f"{own_functions.complaint(error) or error}"
        )
    if not isinstance(callback, Callback):
        raise ConfigError(
            f"the callback {name!r} must be a mtl_tf.training.callbacks."
            f"Callback, got {type(callback).__name__}"
        )
    return callback


# Hints for users who pass a Keras callback.
_INSTEAD = (
    " (a run stops early by training.patience, keeps its best weights and "
    "writes for TensorBoard without any)"
)


def checked(callbacks: Any) -> list[Callback]:
    """Checks that callbacks are a list of `Callback` objects, and returns it.

    Raises:
        ConfigError: they are not a list, or one is not a `Callback`. Keras
            callbacks are refused, because only Keras's `fit` calls them.
    """
    if not isinstance(callbacks, Iterable):
        raise ConfigError(
            "callbacks must be a list of mtl_tf.training.callbacks.Callback, "
            f"got {type(callbacks).__name__}"
        )
    callbacks = list(callbacks)
    for callback in callbacks:
        if not isinstance(callback, Callback):
            kind = callback if isinstance(callback, type) else type(callback)
            form = "the class" if isinstance(callback, type) else "one of"
            raise ConfigError(
                "each of callbacks must be a made mtl_tf.training.callbacks."
                f"Callback, got {form} {kind.__module__}.{kind.__qualname__}"
                + (_INSTEAD if kind.__module__.startswith("keras.") else "")
            )
    return callbacks
