"""Where the words of answers come from: vocabulary, context or question."""

import dataclasses
from typing import Any

import numpy as np

from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.prediction import task_types
from mtl_tf.prediction.answering import Answerer
from mtl_tf.runs.loaded.loaded_run import Run


@dataclasses.dataclass(frozen=True)
class TaskSources:
    """The sources of a task's answers.

    Attributes:
        task: its name.
        shares: float64 [3], the mean over all words of `answering.SOURCES`.
        answers: how many answers.
        words: how many words they have.
    """

    task: str
    shares: np.ndarray
    answers: int
    words: int


@dataclasses.dataclass(frozen=True)
class AnswerSources:
    """The sources of one answer's words.

    Attributes:
        question: what was asked.
        words: the U words of the answer.
        shares: float64 [U, 3], of `answering.SOURCES`.
    """

    question: str
    words: tuple[str, ...]
    shares: np.ndarray


def of_tasks(
    run: Run,
    task: str | None,
    split: str,
    count: int,
    directories: Directories,
    label: str = "",
) -> list[TaskSources]:
    """Answers the first examples of a split of each task.

    Figure 3 of McCann et al. (2018), whose values are means over all words.

    Args:
        run: of question answering.
        task: the only task; None for all.
        split: of the tasks.
        count: examples of each.
        directories: folders of prepared datasets and of the corpora.
        label: how messages name the run.

    Raises:
        ConfigError: the run answers no questions.
        MtlError: the data cannot be read.
    """
    _check(run, label)
    sources = []
    for name in [task] if task else [t["name"] for t in run.tasks]:
        examples = run.inputs(name, split, *directories)[:count]
        answers = run.predict(name, examples)
        shares = np.array([row for a in answers for row in a["shares"]])
        if not len(shares):
            raise DataError(
                f"the run {label} answers the questions of {name}, {split}, "
                "by nothing: their words have no sources"
            )
        mean = shares.mean(0, dtype=np.float64)
        sources.append(TaskSources(name, mean, len(answers), len(shares)))
    return sources


def of_answer(run: Run, task: str, line: str, label: str = "") -> AnswerSources:
    """Answers one question.

    Args:
        run: of question answering.
        task: the question's task.
        line: the question and the context with a tab between them.
        label: how messages name the run.

    Raises:
        ConfigError: the run answers no questions, or the line has no two
            texts.
        DataError: the answer has no words.
    """
    _check(run, label)
    described = run.tasks[run.task_index(task)]
    try:
        example: Any = task_types.of(described["type"]).fields_of_line(
            described, line
        )
    except TypeError as error:
        raise ConfigError(f"{error} (a tab between them)")
    (answer,) = run.predict(task, [example])
    if not answer["words"]:
        raise DataError(
            f"the run {label} answers {example['question']!r:.60} by nothing"
        )
    shares = np.array(answer["shares"], np.float64)
    return AnswerSources(example["question"], tuple(answer["words"]), shares)


def _check(run: Run, label: str) -> None:
    if not isinstance(run.predictor.decoder, Answerer):
        raise ConfigError(
            f"the run {label} answers no questions: sources are of the words "
            "of answers"
        )
