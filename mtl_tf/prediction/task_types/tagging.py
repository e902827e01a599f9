"""Tagging: a label for each token."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from mtl_tf.core.columns import column_value
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.evaluation.metrics import tagging_metrics
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.prediction.other_files import format_as_trained, resolve_file
from mtl_tf.prediction.predicting_run import PredictingRun
from mtl_tf.prediction.prediction_type import (
    Prediction,
    PredictionType,
    TaskDict,
    as_json,
    as_tensors,
)
from mtl_tf.tasks.batching import AT_ONCE, batched
from mtl_tf.tasks.reading.tagged_readers import FORMATS
from mtl_tf.tasks.task import Task
from mtl_tf.text import span_schemes
from mtl_tf.text.encoding.encoder import TextEncoder


class Sentence(NamedTuple):
    """The tokens of a text.

    Attributes:
        tokens: the tokens, as they are in the text or were given.
        offsets: [start, end] of each token, in characters from the start of the
            text; None if tokens were given.
    """

    tokens: list[str]
    offsets: list[list[int]] | None


def as_columns(prediction: Mapping[str, Any]) -> str:
    """A prediction as lines of token and tag, then a blank line.

    The tags are in the scheme that the run was trained with.
    """
    return tagging_metrics.conll_sentence(
        prediction["tokens"], prediction["tags"]
    )


class TagPrediction(PredictionType):
    """`tokens`, their `tags`, `offsets` and `confidence`.

    An example is a text, which the run's tokenizer splits, or a list of tokens,
    which are taken as they are and have no offsets. Tokens after the config's
    `text.max_length` are left out.
    """

    outputs = {"prediction": True, "confidence": True, "loss": False}
    forms = {"jsonl": as_json, "conll": as_columns}

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, Any]:
        """Parses a text or a list of tokens, also in a mapping of that name."""
        if isinstance(value, Mapping):
            if isinstance(value.get("tokens"), str):
                raise TypeError(
                    "tokens must be a list of strings, and a text to be split "
                    f"is called text, got {value['tokens']!r:.60}"
                )
            if "tokens" in value:
                return {"tokens": _checked_tokens(value["tokens"])}
            value = value.get("text")
        if isinstance(value, str):
            return {"text": value}
        return {"tokens": _checked_tokens(value)}

    def column_fields(self, task: TaskDict) -> list[str]:
        """A text, which the run tokenizes."""
        return ["text"]

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """See `PredictionType.columns_in`; a text column is not the tokens."""
        present = super().columns_in(row, columns)
        return {
            field: name
            for field, name in present.items()
            if not isinstance(column_value(row, name), str)
        }

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: list[dict],
        batch_size: int,
    ) -> list[Prediction]:
        """See `PredictionType.predict`."""
        split_texts = sentences(
            run.encoder, [next(iter(e.values())) for e in examples]
        )
        tokens = [{"tokens": sentence.tokens} for sentence in split_texts]
        outputs = run.forward(task, as_tensors(tokens), batch_size)
        predictions = []
        for sentence, numbers, confidence in zip(
            split_texts, outputs["prediction"], outputs["confidence"]
        ):
            prediction = {
                "task": task["name"],
                "tokens": sentence.tokens,
                "tags": [task["labels"][number] for number in numbers],
            }
            if sentence.offsets is not None:
                prediction["offsets"] = sentence.offsets
            prediction["confidence"] = confidence.tolist()
            predictions.append(prediction)
        return predictions

    def cut(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: Sequence[Mapping[str, Any]],
    ) -> np.ndarray:
        """See `PredictionType.cut`; the limit is one of words."""
        texts = [next(iter(example.values())) for example in examples]
        limit = run.encoder.max_length
        if not limit:
            return np.zeros(len(texts), bool)
        # As one token more would be read.
        read = sentences(run.encoder, texts, limit + 1)
        return np.array([len(sentence.tokens) > limit for sentence in read])

    def told(self, prediction: Mapping[str, Any]) -> str:
        """The tokens with spans in brackets; for tags of words, token/tag."""
        tokens, tags = list(prediction["tokens"]), prediction["tags"]
        if not span_schemes.are_span_tags(tags):
            return " ".join(f"{a}/{b}" for a, b in zip(tokens, tags))
        for span in span_schemes.spans(tags):
            tokens[span.start] = f"[{tokens[span.start]}"
            tokens[span.stop - 1] += f" {span.type}]".replace(" ]", "]")
        return " ".join(tokens)

    def inputs(self, task: Task, split: str) -> list[list[str]]:
        """The tokens of the sentences."""
        return _read(task, split)[0]

    def targets(self, task: Task, split: str) -> list[list[int]]:
        """The tags of whole sentences, also of tokens that no model reads.

        Tokens that a model does not read must count in its score.
        """
        return _read(task, split)[1]

    def encoded_targets(
        self, task: TaskDict, split: EncodedSplit
    ) -> list[Sequence[int]]:
        """The tags of the tokens that the model reads."""
        column = split.columns["tags"]
        return [column[number] for number in range(len(column))]

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads CoNLL columns, CoNLL-U or JSON, by the file's ending."""
        form = format_as_trained(path, entry, FORMATS)
        entry = {
            # Tags of words are not spans, even if they look like them.
            "scheme": "auto" if task["scheme"] else "none",
            "columns": {},
            **entry,
            "format": form or "conll",
        }
        is_own = bool(entry.get("files"))
        if form == "conllu" and not is_own and task["name"] in CONLLU_COLUMNS:
            entry["columns"] = {"tags": task["name"]}
        tokens, tags = _read(resolve_file(path, task, entry), "test")
        return [{"tokens": sentence} for sentence in tokens], tags

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """See `PredictionType.scored`."""
        numbers = {name: number for number, name in enumerate(task["labels"])}
        return {
            "labels": targets,
            "predictions": [
                [numbers[tag] for tag in prediction["tags"]]
                for prediction in predictions
            ],
        }


def _read(task: Task, split: str) -> tuple[list[list[str]], list[list[int]]]:
    """The tokens and the tags of all sentences of a split."""
    tokens: list[list[str]] = []
    tags: list[list[int]] = []
    for batch in fixed(batched(task.dataset(split))):
        tokens += [
            [token.decode("utf-8", "replace") for token in sentence]
            for sentence in batch["tokens"].to_list()
        ]
        tags += batch["tags"].to_list()
    return tokens, tags


def sentences(
    encoder: TextEncoder,
    texts: Iterable[str | Sequence[str]],
    limit: int | None = None,
) -> list[Sentence]:
    """The tokens that a model reads from texts or lists of tokens.

    Args:
        encoder: the run's encoder.
        texts: the texts.
        limit: the most tokens of a text; None for what the model reads.

    Raises:
        TypeError: a text is neither a string nor a list of strings.
        ConfigError: the encoder's tokenizer does not split into words.
    """
    texts = list(texts)
    stop = limit or encoder.max_length or None
    strings = [text for text in texts if isinstance(text, str)]
    split = iter(_split(encoder, strings, stop))
    return [
        next(split)
        if isinstance(text, str)
        else Sentence(_checked_tokens(text)[:stop], None)
        for text in texts
    ]


def _split(
    encoder: TextEncoder, texts: Sequence[str], stop: int | None
) -> list[Sentence]:
    split_texts = []
    for first in range(0, len(texts), AT_ONCE):
        encoded = [
            text.encode("utf-8", errors="replace")
            for text in texts[first : first + AT_ONCE]
        ]
        located = encoder.locate(tf.constant(encoded, tf.string))
        for words, *places in zip(*(part.to_list() for part in located)):
            offsets = [list(pair) for pair in zip(*places)]
            tokens = [word.decode() for word in words[:stop]]
            split_texts.append(Sentence(tokens, offsets[:stop]))
    return split_texts


def _checked_tokens(tokens: Any) -> list[str]:
    is_list = isinstance(tokens, Sequence) and not isinstance(tokens, bytes)
    if is_list and all(isinstance(token, str) for token in tokens):
        if "" in tokens:  # Files to train on have none either.
            raise TypeError(
                f"the token {list(tokens).index('')} (counted from 0) of a "
                "text to be tagged is empty: leave it out or write a word, "
                f"got {tokens!r:.60}"
            )
        return list(tokens)
    raise TypeError(
        "a text to be tagged must be a string or a list of strings, its "
        f"tokens, got {tokens!r:.60}"
    )


TYPE = TagPrediction()
