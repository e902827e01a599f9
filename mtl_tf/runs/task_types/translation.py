"""Translation: a text in the target language."""

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import translation_metrics
from mtl_tf.evaluation.task_types.translation import RESTRICTED
from mtl_tf.pipelines.encoded_split import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.runs.prediction_type import (
    AT_ONCE,
    Prediction,
    PredictionType,
    TaskDict,
    as_json,
)
from mtl_tf.tasks.row_files import json_records, lines_of
from mtl_tf.tasks.task import Task
from mtl_tf.text.decoding import UNKNOWN, restricted
from mtl_tf.text.encoder import TextEncoder


def as_text(prediction: Mapping[str, Any]) -> str:
    """The best translation as a line."""
    return f"{prediction['translation']}\n"


class TranslationPrediction(PredictionType):
    """`translation`, the best one, and its `score`, a log-likelihood.

    Where there are several, also `translations` and `scores`, the best first.
    """

    outputs = {"loss": False}
    targets_are_encoded = False
    forms = {"jsonl": as_json, "text": as_text}

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, Any]:
        """A source, also in a mapping of `text`."""
        if isinstance(value, Mapping):
            value = value.get("text")
        if not isinstance(value, str):
            raise TypeError(f"a source must be a string, got {value!r:.60}")
        return {"text": value}

    def predict(
        self, run: Any, task: TaskDict, examples: list[dict], batch_size: int
    ) -> list[Prediction]:
        """See `PredictionType.predict`; batches are the search's own."""
        decoder, source = run.predictor.decoder, run.encoder.source
        texts = [one["text"].encode("utf-8", "replace") for one in examples]
        words = source.tokenizer(tf.constant(texts))
        ids = source.vocabulary.lookup(words).to_list()
        pair = decoder.model.pairs.index(task["name"])
        found, scores = decoder.translate(pair, ids, words)
        predictions = []
        for best, values in zip(found, scores.tolist()):
            prediction = {"task": task["name"], "translation": best[0]}
            prediction["score"] = values[0]
            if len(best) > 1:
                prediction |= {"translations": best, "scores": values}
            predictions.append(prediction)
        return predictions

    def targets(self, task: Task, split: str) -> list[str]:
        """The references of a split, as real text."""
        batches = fixed(task.dataset(split).batch(AT_ONCE))
        return [
            text.decode("utf-8", "replace")
            for batch in batches
            for text in batch["target"].numpy()
        ]

    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """Nothing that could be scored; see `targets`."""
        return []

    def decode(
        self, decoder: Any, task: int, split: EncodedSplit, texts: Sequence
    ) -> dict[str, Any]:
        """ "prediction": the best translation of each source of a split."""
        return {"prediction": decoder.translate_split(task, split, texts)}

    def variants(
        self, run: Any, task: str, predictions: Sequence, labels: Sequence
    ) -> dict[str, tuple[Sequence, Sequence]]:
        """`paper_texts`, if the run's config asks for `paper_scoring`."""
        if not run.config["evaluation"]["paper_scoring"]:
            return {}
        target = run.encoder.target(task)
        return {RESTRICTED: paper_texts(target, predictions, labels)}

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Two line-aligned files, SOURCE,REFERENCE, or JSON lines of both.

        Raises:
            ConfigError: these are not two files.
        """
        if entry.get("format") == "jsonl":
            return _read_pairs(path)
        from mtl_tf.datasets import lines, parallel_lines

        paths = path.split(",")
        if len(paths) != 2 or not all(paths):
            raise ConfigError(
                f"--files={task['name']}={path} must be {task['name']}=SOURCE,"
                "REFERENCE: two files, line n of one the translation of line n "
                "of the other"
            )
        found = parallel_lines.read_aligned(*map(lines.LineFile, paths))
        for warning in found.warnings:
            logging.warning("%s", warning)
        sources, references = map(list, zip(*found.pairs))
        return [{"text": text} for text in sources], references

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """See `PredictionType.scored`."""
        return {
            "labels": targets,
            "predictions": [one["translation"] for one in predictions],
        }


def _read_pairs(path: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Sources (`source` or, as in predictions, `text`) and their `target`s."""
    sources, references = [], []
    for number, row in json_records(path, lines_of(path)):
        texts = (row.get("source", row.get("text")), row.get("target"))
        if not all(isinstance(text, str) for text in texts):
            raise DataError(
                f"{path}:{number}: must have the texts source and target, "
                f"found {', '.join(row)}"
            )
        sources.append({"text": texts[0]})
        references.append(texts[1])
    return sources, references


def paper_texts(
    target: TextEncoder, hypotheses: Sequence[str], references: Sequence[str]
) -> tuple[list[str], list[str]]:
    """What Dong et al. (2015) score: texts of words of the vocabulary only.

    Args:
        target: the target's texts.
        hypotheses, references: n of each.

    Returns:
        Both, with UNK for each word that the vocabulary lacks.
    """
    # "<unk>" is several words to scorers and to some of our tokenizers.
    unknown = translation_metrics.UNKNOWN
    plain = [text.replace(UNKNOWN, unknown) for text in hypotheses]
    return (
        restricted(target, plain, unknown),
        restricted(target, references, unknown),
    )


TYPE = TranslationPrediction()
