"""The data of a run: its tasks, its encoder and its encoded splits."""

import dataclasses
import functools
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation.clean import SeenTexts
from mtl_tf.pipelines import buckets, encoding, pairs
from mtl_tf.pipelines.encoded_split import with_all_answers
from mtl_tf.pipelines.encoding import EncodedSplit
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.runs.run_directory import RunDirectory
from mtl_tf.tasks import checking, registry
from mtl_tf.tasks.fractions import cut
from mtl_tf.tasks.task import TAGGING, TRANSLATION, Task, text_of
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.translation import TranslationText


@dataclasses.dataclass(frozen=True)
class RunData:
    """What a run trains and validates on.

    Attributes:
        tasks: the tasks, in the order of their numbers.
        encoder: texts to ids; of a translation run those of all languages.
        boundaries: padded lengths of the buckets; of pairs two for each.
        train: the encoded training split of each task, all with the same
            columns; see `mtl_tf.pipelines.encoded_split.with_all_answers`.
        validation: the encoded validation split of each task, likewise.
        references: of translation tasks those of the validation split.
    """

    tasks: list[Task]
    encoder: TextEncoder | TranslationText
    boundaries: list
    train: list[EncodedSplit]
    validation: list[EncodedSplit]
    references: list[list[str] | None]


def load(
    config: Mapping[str, Any],
    run: RunDirectory,
    data_dir: str | None,
    manual_dir: str | None,
) -> RunData:
    """Reads the tasks of a config and encodes them for a run.

    The first time the vocabulary, the labels and a digest of the data are
    written into the run directory; later they are read and compared.

    Raises:
        MtlError: wrong tasks or data, or data that changed since the run
            began.
    """
    where = (data_dir, manual_dir, config["cross_validation"])
    tasks = registry.resolve(config["tasks"], *where)
    translates = _translates(tasks)
    if translates:
        _check_unused(config)
    tasks = cut(tasks, config["pipeline"]["fractions"])
    encoder = _encoder(config, run.file("vocabulary"), tasks, where)
    train = _encode(tasks, "train", encoder)
    validation = _encode(tasks, "validation", encoder)
    left_out = {}
    if translates:
        train, left_out = _filtered(train, config["text"])
    boundaries = buckets.make_boundaries(
        config["pipeline"]["buckets"],
        # Longer texts of pairs are only scored: their buckets come by then.
        np.concatenate(
            [s.lengths for s in train + validation * (not translates)]
        ),
        config["text"]["max_length"],
        config["pipeline"]["bucket_multiple"],
    )
    run.check_or_write(
        "labels.json", {"tasks": [t.to_json() for t in tasks]}, "the labels"
    )
    digests = {
        task.name: {
            "train": {**_digest(a), **left_out.get(task.name, {})},
            "validation": _digest(b),
        }
        for task, a, b in zip(tasks, train, validation)
    }
    run.check_or_write(
        "data.json", {"boundaries": boundaries, "tasks": digests}, "the data"
    )
    return RunData(
        tasks,
        encoder,
        boundaries,
        with_all_answers(train),
        with_all_answers(validation),
        [gold(task, "validation") if translates else None for task in tasks],
    )


def _translates(tasks: Sequence[Task]) -> bool:
    """Whether tasks are to be translated; all are, or none."""
    kinds = {task.kind for task in tasks}
    if TRANSLATION in kinds and len(kinds) > 1:
        others = " and ".join(sorted(kinds - {TRANSLATION}))
        raise ConfigError(
            "translation tasks have a model of their own: they cannot be "
            f"trained together with {others}"
        )
    return TRANSLATION in kinds


def _check_unused(config: Mapping[str, Any]) -> None:
    """Refuses options that a translation model would pass over."""
    text, training = config["text"], config["training"]
    for name, used in (
        ("text.vectors", bool(text["vectors"])),
        ("text.characters", text["characters"]["max_word_length"] > 0),
        ("text.casing", text["casing"]),
        (
            "training.mixed_precision",
            training["mixed_precision"] != "float32",
        ),
    ):
        if used:
            raise ConfigError(f"translation tasks have no use for {name}")


def _encoder(
    config: Mapping[str, Any], path: str, tasks: Sequence[Task], where: tuple
) -> TextEncoder | TranslationText:
    """The run's encoder, which is built the first time."""
    if not os.path.isdir(path):
        translates = _translates(tasks)
        entries = config["text"]["vocabulary_tasks"]
        group = registry.resolve(entries, *where) if entries else tasks
        logging.info("Building the vocabulary of %d tasks.", len(group))
        build = pairs.build_text if translates else encoding.build_encoder
        with files.new_directory(path) as directory:
            build(group, config["text"]).save(directory)
    return load_encoder(path, config, [task.to_json() for task in tasks])


def load_encoder(
    path: str, config: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]]
) -> TextEncoder | TranslationText:
    """Reads the encoder of a run.

    Args:
        path: the run's `vocabulary`.
        config: the run's.
        tasks: name and kind of each of its tasks.

    Raises:
        MtlError: a file is missing or damaged.
    """
    if tasks[0]["kind"] == TRANSLATION:
        return TranslationText.load(path, [task["name"] for task in tasks])
    return TextEncoder.of_run(path, config["text"])


def _encode(
    tasks: Iterable[Task], split: str, encoder: TextEncoder | TranslationText
) -> list[EncodedSplit]:
    return [encode_split(task, split, encoder) for task in tasks]


def encode_split(
    task: Task, split: str, encoder: TextEncoder | TranslationText
) -> EncodedSplit:
    """Encodes a split of a task by the encoder of its run.

    Raises:
        MtlError: as of `Task.dataset`.
    """
    if isinstance(encoder, TranslationText):
        encoder = encoder.pair(task.name)
    encoded = encoding.encode(task.dataset(split), encoder, name=task.name)
    if "label" in encoded.columns:
        labels = encoded.columns["label"].values
        checking.check_labelled(task.name, split, labels)
    return encoded


def _filtered(
    splits: Iterable[EncodedSplit], text_config: Mapping[str, Any]
) -> tuple[list[EncodedSplit], dict[str, dict[str, Any]]]:
    """The pairs that are trained on, and why others are not, by task."""
    pair_filter = pairs.PairFilter.of_config(text_config)
    kept, left_out = [], {}
    for split in splits:
        rest, counts = pair_filter.apply(split)
        kept.append(rest)
        if counts:
            left_out[split.name] = {"left_out": counts}
            logging.info(
                "task %s: %d of its %d training pairs are left out (%s)",
                split.name,
                len(split) - len(rest),
                len(split),
                ", ".join(f"{reason} {n}" for reason, n in counts.items()),
            )
    return kept, left_out


def _digest(split: EncodedSplit) -> dict[str, Any]:
    digest = hashlib.blake2b(digest_size=16)
    for name, column in sorted(split.columns.items()):
        digest.update(name.encode())
        digest.update(column.values.tobytes())
        if column.offsets is not None:
            digest.update(column.offsets.tobytes())
    return {"examples": len(split), "digest": digest.hexdigest()}


def texts(task: Task, split: str) -> list[bytes]:
    """All texts of a split, as bytes; given tokens are joined by spaces."""
    batches = fixed(task.dataset(split).map(text_of).batch(1024))
    return [t for batch in batches for t in batch.numpy()]


def sentences(
    task: Task, split: str
) -> tuple[list[list[str]], list[list[int]]]:
    """The tokens and the tags of all sentences of a tagging task's split.

    They are whole, however many tokens a model reads of a sentence: what it
    did not read has to count in its score.

    Raises:
        MtlError: as of `Task.dataset`.
    """
    tokens: list[list[str]] = []
    tags: list[list[int]] = []
    for batch in fixed(task.dataset(split).ragged_batch(1024)):
        tokens += [
            [token.decode("utf-8", "replace") for token in sentence]
            for sentence in batch["tokens"].to_list()
        ]
        tags += batch["tags"].to_list()
    return tokens, tags


def gold(task: Task, split: str) -> list[list[int]] | list[str] | None:
    """The answers that a split is scored against, where they are not encoded.

    Returns:
        Of a tagging task the tags of its whole sentences, of a translation
        task the references; None for other kinds.
    """
    if task.kind == TAGGING:
        return sentences(task, split)[1]
    return translations(task, split)[1] if task.kind == TRANSLATION else None


def translations(task: Task, split: str) -> tuple[list[str], list[str]]:
    """The sources and the references of a split, as real text.

    Raises:
        MtlError: as of `Task.dataset`.
    """
    sides: dict[str, list[str]] = {"source": [], "target": []}
    for batch in fixed(task.dataset(split).batch(1024)):
        for side, texts_ in sides.items():
            texts_ += [
                t.decode("utf-8", "replace") for t in batch[side].numpy()
            ]
    return sides["source"], sides["target"]


class CleanParts:
    """Which test texts nobody has trained or selected on.

    Args:
        group: config entries of the tasks whose training and validation
            texts count as seen; a task of a known group stands for all of
            the group whose corpora are there: nobody trains on the others.
        data_dir: see `mtl_tf.tasks.registry.resolve`.
        manual_dir: the same.
        cross_validation: the same.
    """

    def __init__(
        self,
        group: Sequence[Any],
        data_dir: str | None,
        manual_dir: str | None,
        cross_validation: Mapping[str, int] | None = None,
    ):
        self.group = list(group)
        self.where = (data_dir, manual_dir, cross_validation)

    @functools.cached_property
    def seen(self) -> SeenTexts:
        """The training and validation texts of the whole group.

        Raises:
            MtlError: as of `Task.dataset`; of a task that no entry names it
                is only logged.
        """
        logging.info("Reading the texts that no clean test example repeats.")
        found: list[list[bytes]] = []
        for name, (task, is_named) in self._members().items():
            try:
                found += [texts(task, part) for part in ("train", "validation")]
            except DataError as error:
                # Its files may be there in part, or be damaged: all the same
                # to a run that is not about it.
                if is_named:
                    raise
                logging.warning(
                    "%s cannot be read: the clean part of the tests is judged "
                    "without its texts. %s",
                    name,
                    error,
                )
        return SeenTexts(*found)

    def _members(self) -> dict[str, tuple[Task, bool]]:
        """The tasks of the groups, and whether an entry names them itself."""
        named = registry.single_entries(self.group)
        members = {}
        for entry in self.group:
            whole = registry.group_of(entry, *self.where)
            own = not isinstance(entry, str)
            for task in whole.tasks:
                # Two groups may have a task of one name, such as en-fr.
                key = f"{whole.name}/{task.name}"
                members[key] = task, own or key in named
        return members

    def about(self, task: Task, split: str) -> dict[str, Any]:
        """What `evaluator.TaskPredictions` has to know of a split.

        Args:
            task: the task.
            split: the split that is scored.

        Returns:
            `clean` and `validation_in_training`; nothing for a split that
            training or selection has seen.
        """
        if split in ("train", "validation"):
            return {}
        training = SeenTexts(texts(task, "train"))
        return {
            "clean": self.seen.clean(texts(task, split)),
            "validation_in_training": training.count(texts(task, "validation")),
        }


def encode_texts(encoder: TextEncoder, strings: Sequence[str]) -> EncodedSplit:
    """Encodes strings without labels."""
    encoded = [s.encode("utf-8", errors="replace") for s in strings]
    data = {"text": tf.constant(encoded, tf.string, shape=[len(encoded)])}
    return encoding.encode(tf.data.Dataset.from_tensor_slices(data), encoder)


def encode_tokens(
    encoder: TextEncoder, sentences: Sequence[Sequence[str]]
) -> EncodedSplit:
    """Encodes sentences of given tokens without tags."""
    flat = [
        token.encode("utf-8", errors="replace")
        for sentence in sentences
        for token in sentence
    ]
    tokens = tf.RaggedTensor.from_row_lengths(
        tf.constant(flat, tf.string, shape=[len(flat)]),
        np.array([len(sentence) for sentence in sentences], np.int64),
    )
    data = tf.data.Dataset.from_tensor_slices({"tokens": tokens})
    return encoding.encode(data, encoder)
