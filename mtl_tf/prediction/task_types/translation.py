"""Translation: a text in the target language."""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.special_ids import OOV
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.parallel_lines import one_line, read_aligned
from mtl_tf.datasets.sources import check_text
from mtl_tf.evaluation.metrics import translation_metrics
from mtl_tf.evaluation.task_types.translation import RESTRICTED
from mtl_tf.layers.beam_search import penalty_divisor
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
    as_tensors,
)
from mtl_tf.prediction.translating import several
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.reading.file_records import json_objects
from mtl_tf.tasks.reading.layouts import FORMATS
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoding.decoding import UNKNOWN, restricted
from mtl_tf.text.encoding.encoder import TextEncoder


def as_text(prediction: Mapping[str, Any]) -> str:
    """The best translation as a line."""
    return one_line(prediction["translation"]) + "\n"


class GivenTranslations(GivenTexts):
    """Scores given translations: their `score`, as in the search, and more."""

    features = MappingProxyType({"text": "source", "translation": "target"})

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: Sequence[Mapping[str, str]],
    ) -> list[Prediction]:
        """See `GivenTexts.predict`."""
        decoder = run.predictor.decoder
        pair = decoder.model.pairs.index(task["name"])
        tensors = as_tensors(examples)
        encoded = run.encoder.pair(task["name"])(
            {name: tensors[field] for field, name in self.features.items()}
        )
        sources, targets = (
            [np.array(ids) for ids in encoded[name].to_list()]
            for name in ("tokens", "target")
        )
        values = decoder.log_likelihoods(pair, sources, targets)
        lengths = np.array([len(ids) for ids in targets], np.int32)
        penalty = decoder.decoding.length_penalty
        divisors = penalty_divisor(lengths, penalty).numpy().tolist()
        tokens = run.encoder.target(task["name"]).vocabulary.tokens
        predictions = []
        for ids, each, divisor in zip(targets, values, divisors):
            more = likelihood(_words(tokens, ids[:-1]), each)
            score = {"score": more["log_likelihood"] / divisor}
            predictions.append({"task": task["name"], **score, **more})
        return predictions


class TranslationPrediction(PredictionType):
    """`translation`, the best one found, and `score`, its log-likelihood.

    With `n_best` above 1 also `translations` and their `scores`: the different
    ones that the search found, the best first. With `alignments` also `words`
    of the best translation, `source_words`, and `alignment`: for each word the
    index of the source word that it attends to most.
    """

    outputs = {"loss": False}
    targets_are_encoded = False
    field_names = MappingProxyType({"source": "text"})
    forms = {"jsonl": as_json, "text": as_text}
    given_texts = GivenTranslations()

    def fields_of(self, task: TaskDict, value: Any) -> dict[str, Any]:
        """Parses a source text, also in a mapping of `text`."""
        if isinstance(value, Mapping):
            value = value.get("text")
        if not isinstance(value, str):
            raise TypeError(f"a source must be a string, got {value!r:.60}")
        return {"text": value}

    def columns_in(
        self, row: Mapping[str, Any], columns: Mapping[str, str]
    ) -> dict[str, str]:
        """See `PredictionType.columns_in`.

        A column `source` that no entry names may be something else, such as the
        origin of the `text` next to it.
        """
        present = super().columns_in(row, columns)
        if "text" in row and present.get("text") == "source":
            del present["text"]
        return present

    def predict(
        self,
        run: PredictingRun,
        task: TaskDict,
        examples: list[dict],
        batch_size: int,
    ) -> list[Prediction]:
        """See `PredictionType.predict`; the search makes its own batches."""
        decoder, source = run.predictor.decoder, run.encoder.source
        texts = [
            example["text"].encode("utf-8", "replace") for example in examples
        ]
        words = source.tokenizer(tf.constant(texts))
        ids = source.vocabulary.lookup(words).to_list()
        pair = decoder.model.pairs.index(task["name"])
        translated = decoder.translate(pair, ids, words)
        predictions = []
        for best, values in zip(translated.texts, translated.scores.tolist()):
            prediction = {"task": task["name"], "translation": best[0]}
            prediction["score"] = values[0]
            if decoder.decoding.n_best > 1:
                prediction |= several(best, values)
            predictions.append(prediction)
        if decoder.decoding.alignments:
            tokens = run.encoder.target(task["name"]).vocabulary.tokens
            for prediction, read, ids, places in zip(
                predictions,
                words.to_list(),
                translated.words,
                translated.aligned,
            ):
                prediction["words"] = _words(tokens, ids)
                prediction["source_words"] = [w.decode() for w in read]
                prediction["alignment"] = places
        return predictions

    def targets(self, task: Task, split: str) -> list[str]:
        """The reference texts of a split."""
        batches = fixed(batched(task.dataset(split)))
        return [
            text.decode("utf-8", "replace")
            for batch in batches
            for text in batch["target"].numpy()
        ]

    def encoded_targets(self, task: TaskDict, split: EncodedSplit) -> Any:
        """Nothing: predictions are scored against `targets`."""
        return []

    def decode(
        self, decoder: Any, task: int, split: EncodedSplit, texts: Sequence
    ) -> dict[str, Any]:
        """ "prediction": the best translation of each source of a split."""
        return {"prediction": decoder.translate_split(task, split, texts)}

    def variants(
        self,
        run: PredictingRun,
        task: str,
        predictions: Sequence,
        labels: Sequence,
    ) -> dict[str, tuple[Sequence, Sequence]]:
        """The `paper_texts`, if the run's config asks for `paper_scoring`."""
        if not run.config["evaluation"]["paper_scoring"]:
            return {}
        target = run.encoder.target(task)
        return {RESTRICTED: paper_texts(target, predictions, labels)}

    def read_file(
        self, path: str, task: TaskDict, entry: Mapping[str, Any]
    ) -> tuple[list[dict[str, Any]], Any]:
        """Reads SOURCE,REFERENCE, two line-aligned files, or a table of both.

        Raises:
            ConfigError: the path is neither.
        """
        paths, table = path.split(","), os.path.expanduser(path)
        form = format_as_trained(path, entry, FORMATS)
        if form and (len(paths) == 1 or os.path.isfile(table)):
            return _read_table(table, form, task, entry)
        if len(paths) != 2 or not all(paths):
            raise ConfigError(
                f"--files={task['name']}={path} must be {task['name']}=SOURCE,"
                "REFERENCE: two files, line n of one the translation of line n "
                "of the other, or a table of both"
            )
        aligned = read_aligned(*map(LineFile, paths))
        for warning in aligned.warnings:
            logging.warning("%s", warning)
        sources, references = map(list, zip(*aligned.pairs))
        return [{"text": text} for text in sources], references

    def scored(
        self, task: TaskDict, predictions: Sequence[Prediction], targets: Any
    ) -> dict[str, Any]:
        """See `PredictionType.scored`."""
        return {
            "labels": targets,
            "predictions": [
                prediction["translation"] for prediction in predictions
            ],
        }


def _words(tokens: Sequence[str], ids: Sequence[int]) -> list[str]:
    """The tokens of vocabulary ids."""
    return [UNKNOWN if n == OOV else tokens[n] for n in ids]


def _read_table(
    path: str, form: str, task: TaskDict, entry: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], list[str]]:
    """The sources and the references of a table."""
    columns = dict(entry.get("columns") or {})
    if form == "jsonl" and os.path.isfile(path):
        # A file of predictions may call them text and label, as other types do.
        check_text(path)
        _, first = next(json_objects(path), (None, {}))
        for side, name in (("source", "text"), ("target", "label")):
            is_named = isinstance(columns.get(side), str)
            if not is_named and side not in first and name in first:
                columns[side] = name
    entry = {**entry, "format": form, "columns": columns}
    resolved = resolve_file(path, task, entry)
    rows = list(resolved.dataset("test").as_numpy_iterator())
    sources, references = (
        [row[side].decode("utf-8", "replace") for row in rows]
        for side in ("source", "target")
    )
    return [{"text": text} for text in sources], references


def paper_texts(
    target: TextEncoder, hypotheses: Sequence[str], references: Sequence[str]
) -> tuple[list[str], list[str]]:
    """The texts that Dong et al. (2015) score: words of the vocabulary only.

    Args:
        target: the encoder of the target texts.
        hypotheses, references: n texts each.

    Returns:
        Both, with UNK for each word that the vocabulary lacks.
    """
    # Scorers and some tokenizers split "<unk>" into several words.
    unknown = translation_metrics.UNKNOWN
    plain = [text.replace(UNKNOWN, unknown) for text in hypotheses]
    return (
        restricted(target, plain, unknown),
        restricted(target, references, unknown),
    )


TYPE = TranslationPrediction()
