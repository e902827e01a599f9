"""What a training tells others while it goes on."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up


@dataclasses.dataclass(frozen=True)
class Training:
    """What a callback is told when a stage begins.

    Attributes:
        directory: the run directory.
        config: the resolved config, as JSON has it.
        stage: "joint", or the name of a stage of fine-tuning.
        folder: the stage's folder below `directory`; "" of the joint one.
        step: steps that were done before; above 0 where a run continues.
        total_steps: steps of the stage.
    """

    directory: str
    config: Mapping[str, Any]
    stage: str
    folder: str
    step: int
    total_steps: int


class Callback:
    """Called while a run trains; each method does nothing unless overridden.

    With several workers only the chief calls. What a callback raises ends the
    training, as a crash does: the same command continues it. A run that is
    killed repeats the steps since its last checkpoint, so a callback may hear
    of them twice.
    """

    def on_begin(self, training: Training) -> None:
        """A stage begins, or goes on after a stop."""

    def on_step(self, step: int, loss: float) -> None:
        """Some steps are done: several, where they are quick.

        Args:
            step: how many, from the beginning of the stage.
            loss: the mean since the last evaluation.
        """

    def on_evaluation(self, entry: Mapping[str, Any]) -> None:
        """The validation splits were scored.

        Args:
            entry: the line that `metrics.jsonl` has got: `stage`, `step`,
                `epoch`, `train_loss` and `loss_weights` by task,
                `learning_rate`, and `validation` with `mean` and `tasks`.
        """

    def on_end(self, directory: str, results: Mapping[str, Any]) -> None:
        """The run is done.

        Args:
            directory: its run directory.
            results: the contents of its `results.json`.
        """


def scalars(entry: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of an evaluation by name, such as `validation/books/loss`.

    Args:
        entry: as of `Callback.on_evaluation`.

    Returns:
        Finite numbers alone.
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
    """A config's fields by their whole names, such as `model.dropout.head`."""
    return dict(_leaves(config, prefix))


def _leaves(
    config: Mapping[str, Any], prefix: str
) -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


#: Where the callbacks that have a name of their own are.
_NAMED = {
    "tensorboard": "mtl_tf.training.summaries:TensorBoard",
    "wandb": "mtl_tf.training.trackers:WeightsAndBiases",
    "mlflow": "mtl_tf.training.trackers:MLflow",
}


def by_name(names: Sequence[str]) -> list[Callback]:
    """Makes callbacks.

    Args:
        names: "tensorboard", "wandb", "mlflow", or the place of a
            class of one's own, `my_file.py:Class` or `module:Class`, which is
            called without arguments.

    Raises:
        ConfigError: there is none of that name, it is no `Callback`, or the
            package that it needs is not installed.
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
    except Exception as error:  # It is the user's code.
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


# Of what people use Keras's callbacks for.
_INSTEAD = (
    " (a run stops early by training.patience, keeps its best weights and "
    "writes for TensorBoard without any)"
)


def checked(callbacks: Any) -> list[Callback]:
    """The callbacks that a caller gives.

    Raises:
        ConfigError: they are no list, or one is no `Callback`, such as one of
            Keras, which `fit` calls and a run does not.
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
