"""Question answering: an answer, and where its words come from."""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from mtl_tf.evaluation import answer_scoring
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.prediction.given_texts import GivenTexts, likelihood
from mtl_tf.prediction.other_files import format_as_trained, resolve_file
from mtl_tf.prediction.predicting_run import PredictingRun
from mtl_tf.prediction.prediction_type import (
    Prediction,
    PredictionType,
    TaskDict,
    as_json,
    no_texts,
)
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.in_memory import is_missing
from mtl_tf.tasks.reading.layouts import FORMATS
from mtl_tf.tasks.sources.question_source import answer_texts
from mtl_tf.tasks.task import Task

_QUESTION, _CONTEXT = "question", "context"
_INPUTS = (_QUESTION, _CONTEXT)


def _asking(task: TaskDict, value: Any) -> Any:
    """Adds the task's question to an example without one, if there is one."""
    question = task.get(_QUESTION)
    if not question:
        return value
    if isinstance(value, Mapping):
        return {**value, _QUESTION: _or(value.get(_QUESTION), question)}
    if isinstance(value, (list, tuple)) and value:
        return [_or(value[0], question), *value[1:]]
    return value


def _or(given: Any, question: str) -> Any:
    """What is given as a question, or else the task's."""
    is_given = given is not None and not is_missing(given) and given != ""
    return given if is_given else question


def as_text(prediction: Mapping[str, Any]) -> str:
    """The answer as a line."""
    return " ".join(prediction["answer"].splitlines()) + "\n"


class GivenAnswers(GivenTexts):
    """Scores given answers, as tokenized: their `confidence`, and more."""

    features = MappingProxyType({n: n for n in (*_INPUTS, "answer")})

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, str]:
        """See `GivenTexts.fields_of`; only the first of several answers counts.

        Several answers may be under `answers`, or in SQuAD's form, as in files.
        """
        if isinstance(value, Mapping):
            answers = value.get("answer")
            if answers is None:
                answers = value.get("answers")
            texts = answer_texts(answers)
            if texts is not None:
                answers = texts[0] if texts else ""
            value = {**value, "answer": answers}
        elif task.get(_QUESTION) and isinstance(value, (list, tuple)):
            # A context and its answer.
            value = ["", *value] if len(value) == len(_INPUTS) else value
        return super().fields_of(task, _asking(task, value))

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, str]:
        """See `GivenTexts.fields_of_line`; no question if the task has one."""
        if task.get(_QUESTION) and line.count("\t") == 1:
            line = f"\t{line}"
        return self.fields_of(task, super().fields_of_line(task, line))

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: Sequence[Mapping[str, str]],
    ) -> list[Prediction]:
        """See `GivenTexts.predict`."""
        predictions = []
        for words, values in run.predictor.decoder.log_likelihoods(
            task["name"], examples
        ):
            more = likelihood(words, values)
            confidence = math.exp(more["log_likelihood"])
            predictions.append(
                {"task": task["name"], "confidence": confidence, **more}
            )
        return predictions


class AnswerPrediction(PredictionType):
    """`answer` and more for each question; see `Answerer.answer`."""

    outputs = {"loss": False}
    fixed = (_QUESTION,)
    targets_are_encoded = False
    decodes_inputs = True
    forms = {"jsonl": as_json, "text": as_text}
    given_texts = GivenAnswers()

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, Any]:
        """Parses a mapping of `question` and `context`, or a list of the two.

        If the task's entry has a question, an example's question may be missing
        or empty, and a string is a context.
        """
        if isinstance(value, str) and task.get(_QUESTION):
            value = {_CONTEXT: value}
        value = _asking(task, value)
        texts = value
        if isinstance(value, Mapping):
            texts = [value.get(name) for name in _INPUTS]
        right = isinstance(texts, (list, tuple)) and len(texts) == len(_INPUTS)
        if not right or not all(isinstance(text, str) for text in texts):
            raise TypeError(
                f"the task {task['name']} answers a question about a context: "
                "an example must have these two as strings, got "
                f"{no_texts(value, _INPUTS)}"
            )
        return dict(zip(_INPUTS, texts))

    def asked(self, task: TaskDict) -> tuple[str, ...]:
        """The question, unless the task's entry has one; then the context."""
        return (_CONTEXT,) if task.get(_QUESTION) else _INPUTS

    def may_be_empty(self, task: TaskDict) -> tuple[str, ...]:
        """The context, as the question may hold all that its answer needs."""
        return () if task.get(_QUESTION) else (_CONTEXT,)

    def fields_of_line(self, task: TaskDict, line: str) -> dict[str, Any]:
        """Parses a question and a context, separated by a tab.

        If the task's entry has a question, a line without a tab is a context.
        """
        if "\t" not in line:
            if task.get(_QUESTION):
                return self.fields_of(task, line)
            raise TypeError(
                f"the task {task['name']} answers a question about a context: "
                "a line must have the question, a tab and the context, which "
                f"may be empty, got {line!r:.60}"
            )
        return self.fields_of(task, line.split("\t", 1))

    def told(self, prediction: Mapping[str, Any]) -> str:
        """The answer, its probability, and where each word comes from."""
        words = (
            f"{word} ({source})"
            for word, source in zip(prediction["words"], prediction["sources"])
        )
        return (
            f"{as_text(prediction).strip() or '(nothing)'}  "
            f"{100 * prediction['confidence']:.1f} %  {' '.join(words)}"
        ).rstrip()

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: list[dict],
        batch_size: int,
    ) -> list[Prediction]:
        """See `PredictionType.predict`; the search makes its own batches."""
        answers = run.predictor.decoder.answer(task["name"], examples)
        return [{"task": task["name"], **answer} for answer in answers]

    def inputs(self, task: Task, split: str) -> list[Any]:
        """The question and the context of each example."""
        return [
            {name: _text(batch[name][n]) for name in _INPUTS}
            for batch in _batches(task, split)
            for n in range(len(batch["question"]))
        ]

    def targets(self, task: Task, split: str) -> list[dict[str, Any]]:
        """All right answers, and what metrics need besides.

        Raises:
            DataError: an example lacks what a metric of the task needs.
        """
        return _targets(task, split, task.metrics)

    def check_scored(self, task: Task, split: str) -> None:
        """See `PredictionType.check_scored`."""
        self.targets(task, split)

    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """Nothing: predictions are scored against `targets`."""
        return []

    def decode(
        self, decoder: Any, task: int, split: EncodedSplit, texts: Sequence
    ) -> dict[str, Any]:
        """ "prediction": the answer to each question of a split."""
        answers = decoder.answer(split.name, texts)
        return {"prediction": [answer["answer"] for answer in answers]}

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """See `PredictionType.read_file`; unknown endings are read as JSON."""
        form = (
            format_as_trained(path, entry, FORMATS).removeprefix("qa_")
            or "jsonl"
        )
        resolved = resolve_file(path, task, {**entry, "format": form})
        targets = _targets(resolved, "test", task["metrics"])
        return self.inputs(resolved, "test"), targets

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """See `PredictionType.scored`."""
        return {
            "labels": targets,
            "predictions": [prediction["answer"] for prediction in predictions],
        }


def _targets(
    task: Task, split: str, metrics: Sequence[str]
) -> list[dict[str, Any]]:
    """The targets of a split, checked for what these metrics need."""
    targets = [
        {
            "answers": [_text(answer) for answer in answers],
            "scoring": _text(scoring),
        }
        for batch in _batches(task, split)
        for answers, scoring in zip(batch["answers"], batch["scoring"])
    ]
    place_of = functools.partial(task.place, split)
    answer_scoring.check(task.name, metrics, targets, place_of)
    return targets


def _batches(task: Task, split: str) -> Iterator[dict[str, Any]]:
    """The examples of a split, as NumPy arrays of strings."""
    batches = fixed(batched(task.dataset(split)))
    for batch in batches:
        yield {
            name: value.to_list() if name == "answers" else value.numpy()
            for name, value in batch.items()
        }


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


TYPE = AnswerPrediction()
