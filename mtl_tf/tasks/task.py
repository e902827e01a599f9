"""What a task is: a name, a kind, labels, metrics, and texts to learn from."""

import abc
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.core.names import hint
from mtl_tf.text.translation import languages_of

TAGGING = "tagging"
TRANSLATION = "translation"
KINDS = ("classification", TAGGING, TRANSLATION)
METRICS = ("accuracy", "macro_f1")
_SPAN_METRICS = ("span_f1", "token_accuracy")
_TOKEN_METRICS = ("token_accuracy",)
_TRANSLATION_METRICS = ("bleu", "bleu_lc", "chrf")
# What `mtl_tf.evaluation` computes of each kind.
KNOWN_METRICS = {
    "classification": METRICS,
    TAGGING: (*_SPAN_METRICS, "span_f1_strict"),
    TRANSLATION: _TRANSLATION_METRICS,
}
SPLITS = ("train", "validation", "test")

# What cross-validation divides in folds: all but the official test split; all,
# where no split is official; or nothing, where examples hang together.
WITHOUT_TEST = ("train", "validation")
WHOLE_CORPUS = SPLITS
NO_FOLDS = ()


def default_metrics(kind: str, scheme: str = "") -> tuple[str, ...]:
    """Names of a kind's usual metrics, the primary one first.

    Args:
        kind: of the task.
        scheme: how its tags write spans; "" for tags of words.
    """
    if kind == TAGGING:
        return _SPAN_METRICS if scheme else _TOKEN_METRICS
    return _TRANSLATION_METRICS if kind == TRANSLATION else METRICS


def check_metrics(names: Iterable[str], kind: str, scheme: str = "") -> None:
    """Complains of metrics that a task cannot have, before it is trained.

    Args:
        names: of metrics.
        kind, scheme: of the task; see `default_metrics`.

    Raises:
        ConfigError: an unknown name, or one of another kind of tasks (the
            nearest are offered), or F1 of spans where tags are of words.
    """
    for name in names:
        checks.one_of(f"metric of {kind}", name, KNOWN_METRICS[kind])
        if kind == TAGGING and name not in _TOKEN_METRICS and not scheme:
            raise ConfigError(
                f"metrics has {name!r}, but the tags are of words, not of "
                f"spans: they have {', '.join(_TOKEN_METRICS)}"
            )


def text_of(examples: Mapping[str, Any]) -> tf.Tensor:
    """The texts of examples of any kind; tokens are joined by spaces.

    Of a pair it is the source: what a model reads.

    Args:
        examples: one example, or a (ragged) batch of them.

    Returns:
        string [], or string [n] of a batch.
    """
    if "source" in examples:
        return examples["source"]
    if "tokens" not in examples:
        return examples["text"]
    return tf.strings.reduce_join(examples["tokens"], axis=-1, separator=" ")


class Source(abc.ABC):
    """Labelled texts, in splits.

    Attributes:
        scheme: of a tagging source how its tags write spans; see
            `mtl_tf.text.span_schemes`. "" for all others.
        warnings: what was odd in the splits read so far: counted, one
            sentence each. Rows are kept.
    """

    scheme = ""

    def __init__(self):
        self.warnings: list[str] = []

    @property
    @abc.abstractmethod
    def split_names(self) -> tuple[str, ...]:
        """The splits that are known by a name."""

    @abc.abstractmethod
    def size(self, split: str) -> int:
        """Returns how many examples `split` has."""

    @abc.abstractmethod
    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split, in source order.

        Returns:
            `{"text": string [], "label": int64 []}`, or for tagging
            `{"tokens": string [n], "tags": int64 [n]}`, or for translation
            `{"source": string [], "target": string []}`.

        Raises:
            ConfigError: there is no such split.
            DataError: the data are wrong; the message names the place.
        """


@dataclasses.dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: unique in a run; also the name of its served signature. Of a
            translation task it is the pair, source-target: "en-de".
        kind: one of `KINDS`.
        source: where its examples come from; None after `from_json`.
        labels: names of the classes; a label id is a place in them.
        metrics: names of metrics, the primary one first; None for
            `default_metrics`.
        loss_weight: factor of its loss.
        splits: the source's split for "train", "validation", "test" and
            further names.
        pool: splits that cross-validation divides in folds; see
            `mtl_tf.tasks.folds`.
        scheme: of a tagging task how its labels write spans ("iob2",
            "iobes"); "" where they are of words, and for other kinds.
        bleu_tokenizer: of a translation task how sacrebleu splits texts for
            BLEU: "none" for texts that are tokens between spaces, "13a",
            "intl" and so on; "" for what it takes for the target language.
    """

    name: str
    kind: str
    source: Source | None = dataclasses.field(repr=False, compare=False)
    labels: tuple[str, ...]
    metrics: tuple[str, ...] | None = None
    loss_weight: float = 1.0
    splits: Mapping[str, str] = dataclasses.field(
        default_factory=lambda: {split: split for split in SPLITS}, hash=False
    )
    pool: tuple[str, ...] = WITHOUT_TEST
    scheme: str = ""
    bleu_tokenizer: str = ""

    def __post_init__(self):
        checks.one_of("kind of task", self.kind, KINDS)
        if self.kind == TRANSLATION:
            languages_of(self.name)  # complains
        if self.metrics is None:
            metrics = default_metrics(self.kind, self.scheme)
            object.__setattr__(self, "metrics", metrics)
        checks.positive(f"task {self.name}: loss_weight", self.loss_weight)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split, in source order.

        Args:
            split: "train", "validation", "test", or any other split of the
                source, such as a slice "test[:10%]" of a TFDS dataset.

        Returns:
            As `Source.dataset` does.

        Raises:
            ConfigError: the task has no such split.
            DataError: the data are wrong; the message names the place.
            RunError: the task was read from a file and has no data.
        """
        source, split = self._locate(split)
        return source.dataset(split)

    def size(self, split: str) -> int:
        """Returns how many examples a split has; raises as `dataset` does."""
        source, split = self._locate(split)
        return source.size(split)

    def to_json(self) -> dict[str, Any]:
        """Returns what a trained run has to know of the task."""
        described = {
            "name": self.name,
            "kind": self.kind,
            "labels": list(self.labels),
            "metrics": list(self.metrics),
            "loss_weight": self.loss_weight,
        }
        if self.kind == TAGGING:
            described["scheme"] = self.scheme
        if self.kind == TRANSLATION:
            described["bleu_tokenizer"] = self.bleu_tokenizer
        return described

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Task":
        """Returns the task of `to_json`, which has no data.

        Raises:
            RunError: a field is missing.
        """
        try:
            return cls(
                name=value["name"],
                kind=value["kind"],
                source=None,
                labels=tuple(value["labels"]),
                metrics=tuple(value["metrics"]),
                loss_weight=value["loss_weight"],
                scheme=value.get("scheme", ""),
                bleu_tokenizer=value.get("bleu_tokenizer", ""),
            )
        except (KeyError, TypeError) as error:
            raise RunError(f"not the description of a task: {error}: {value!r}")

    def _locate(self, split: str) -> tuple[Source, str]:
        if self.source is None:
            raise RunError(f"task {self.name} was read from a run: no data")
        if split in self.splits:
            return self.source, self.splits[split]
        if split in SPLITS:
            raise ConfigError(
                f"task {self.name} has no {split} split: name one in its "
                f"entry; {hint(split, self.splits)}"
            )
        return self.source, split


@dataclasses.dataclass(frozen=True)
class TaskGroup:
    """The tasks of one corpus or paper, which share texts.

    Attributes:
        name: of the group.
        tasks: all of its tasks, in the paper's order.
    """

    name: str
    tasks: tuple[Task, ...]
