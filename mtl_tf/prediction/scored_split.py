"""A model's predictions for a split of a task, for scoring."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.evaluation import task_types as scoring
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction import calibrating, task_types
from mtl_tf.prediction.inference import DIAGNOSTICS, Predictor

# What a run knows about a task besides its type's settings.
_COMMON = ("name", "type", "labels", "metrics", "loss_weight")


def task_predictions(task: Mapping[str, Any], **fields: Any) -> TaskPredictions:
    """A model's predictions for a run's task, for scoring.

    Args:
        task: the run's description of the task.
        **fields: the other fields of `TaskPredictions`.
    """
    return TaskPredictions(
        name=task["name"],
        type=task["type"],
        class_names=tuple(task["labels"]),
        metrics=tuple(task["metrics"]),
        settings={k: v for k, v in task.items() if k not in _COMMON},
        **fields,
    )


def fitted_on(
    predictor: Predictor,
    encoded: EncodedSplit,
    task: Mapping[str, Any],
    index: int,
    config: Mapping[str, Any],
    temperature: bool = False,
    wishes: Sequence[calibrating.Wish] = (),
) -> dict[str, Any]:
    """The result of `calibrating.settled` for an encoded split."""
    predictions = task_types.of(task["type"])
    if not (predictions.fits or temperature or wishes):
        return {}
    batch_size = config["evaluation"]["batch_size"]
    outputs = predictor.predict(encoded, index, batch_size)
    targets = predictions.encoded_targets(task, encoded)
    return calibrating.settled(task, targets, outputs, temperature, wishes)


def score(
    predictor: Predictor,
    encoded: EncodedSplit,
    task: Mapping[str, Any],
    index: int,
    batch_size: int,
    targets: Sequence[Any] | None = None,
    texts: Sequence[Any] = (),
    fit: bool = False,
    **extra: Any,
) -> TaskPredictions:
    """The predictions for an encoded split with targets, for scoring.

    Args:
        predictor: predicts with the trained model.
        encoded: the split.
        task: the run's description of the task.
        index: the task's number.
        batch_size: examples at a time.
        targets: what is scored against, if not the encoded targets.
        texts: the examples' texts, if decoding needs them.
        fit: whether to fit on these examples, as on validation examples, what
            the model and the task's type fit.
        **extra: further fields of `TaskPredictions`.
    """
    chooses = fit and bool(predictor.model.choices)
    asked = {"choices": True} if chooses else {}
    outputs = predictor.predict(encoded, index, batch_size, texts, **asked)
    predictions, labels = task_types.of(task["type"]), targets
    if labels is None:
        labels = predictions.encoded_targets(task, encoded)
    empty = not len(labels)
    if "choice_loss" in outputs and not empty:
        best = calibrating.best_choice(task, labels, outputs)
        if predictor.model.choose(index, best):
            outputs = predictor.predict(
                encoded, index, batch_size, texts, **asked
            )
    if fit and not empty:
        task = {**task, **predictions.fit(task, labels, outputs)}
    losses = None
    if not empty:
        losses, outputs = outputs["loss"], predictions.decided(task, outputs)
    if losses is not None and "temperature" in task:
        # On the probabilities that users see.
        kind = scoring.of(task["type"]).probabilities
        losses = kind.losses(labels, outputs["scores"])
    return task_predictions(
        task,
        labels=labels,
        predictions=labels if empty else outputs["prediction"],
        losses=losses,
        scores=outputs.get("scores"),
        confidences=_of_tokens(outputs.get("confidence")),
        diagnostics={
            name.removeprefix(DIAGNOSTICS): values
            for name, values in outputs.items()
            if name.startswith(DIAGNOSTICS)
        },
        **extra,
    )


def _of_tokens(confidence: Any) -> list | None:
    """Confidences of tokens, a row for each example; else None."""
    return confidence if isinstance(confidence, list) else None
