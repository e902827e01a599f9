"""The vocabulary and training examples of a question answering run."""

import collections
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks, digests
from mtl_tf.core.errors import DataError
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.examples.vocabulary_building import (
    Pretrained,
    check_sizes,
    learnt_tokenizer,
    vocabulary_of_pieces,
    vocabulary_of_words,
    warn_of_unknown_word,
)
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.features import inputs
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.questions import ANSWER, CONTEXT
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary

_TEXTS_AT_ONCE = 1024


def build_encoder(
    tasks: Iterable[Any],
    text_config: Mapping[str, Any],
    pretrained: Pretrained | None = None,
) -> TextEncoder:
    """Builds one vocabulary for the tasks' contexts, questions and answers.

    Words are counted in training splits; contexts and questions only up to
    `max_length`.

    Args:
        tasks: `Task` objects.
        text_config: `tokenizer` (its config), `max_length`, `min_count`,
            `max_size` (0: no limit) and `count_contexts_once`.
        pretrained: tells which words have pretrained vectors, also in other
            splits' contexts and questions.

    Returns:
        The encoder, which does not cut texts.

    Raises:
        ConfigError: a wrong field of `text_config`.
    """
    length = checks.not_negative_integer(
        "text.max_length", text_config["max_length"]
    )
    check_sizes(text_config)
    tokenizer = make_tokenizer(dict(text_config["tokenizer"].items()))
    tasks = list(tasks)
    tokenizer = learnt_tokenizer(
        tokenizer,
        (texts for task in tasks for texts in _texts(task, "train", True)),
        text_config["max_size"],
        BOUNDS,
    )
    if tokenizer.pieces:
        return TextEncoder(tokenizer, vocabulary_of_pieces(tokenizer, BOUNDS))
    warn_of_unknown_word(text_config)
    options = (tokenizer, length, text_config["count_contexts_once"])
    counts = _count(tasks, "train", *options)
    splits = {split for task in tasks for split in task.splits} - {"train"}
    others = (_count(tasks, split, *options) for split in splits)
    vocabulary = vocabulary_of_words(
        counts, text_config, BOUNDS, pretrained, others
    )
    return TextEncoder(tokenizer, vocabulary)


def for_training(
    split: EncodedSplit, text_config: Mapping[str, Any]
) -> tuple[EncodedSplit, dict[str, int]]:
    """The examples of an encoded split that are trained on.

    Args:
        split: the encoded split.
        text_config: `max_length` of contexts (contexts that are cut do not
            exceed it) and `answer_max_length`, without the end; 0 for no limit.

    Returns:
        The remaining split, and the number of examples left out by reason.

    Raises:
        DataError: no example is left.
    """
    limits = {
        "long_context": (CONTEXT, text_config["max_length"], 0),
        "long_answer": (ANSWER, text_config["answer_max_length"], 1),
    }
    keep, counts = np.ones(len(split), bool), {}
    for reason, (name, most, ends) in limits.items():
        lengths = split.columns[name].lengths - ends
        long = (lengths > most) & keep if most else np.zeros_like(keep)
        if long.any():
            counts[reason] = int(long.sum())
        keep &= ~long
    if not keep.any():
        raise DataError(
            f"task {split.name}: none of its {len(split)} training examples "
            f"is left by text.max_length ({text_config['max_length']}) and "
            f"text.answer_max_length ({text_config['answer_max_length']}): "
            f"{counts}"
        )
    return (split.select(keep) if counts else split), counts


def _texts(task: Any, split: str, answers: bool) -> Iterable[tf.Tensor]:
    """All texts of a split, string [n] at a time."""
    for _, batch in _batches(task, split, answers):
        yield batch


def _count(
    tasks: Iterable[Any],
    split: str,
    tokenizer: Tokenizer,
    length: int,
    once: bool,
) -> collections.Counter[str]:
    """How often each token occurs; answers count only in training splits.

    With `once`, a context counts once, however many questions are about it. All
    its words would otherwise be known, and no model would learn to copy unknown
    ones.
    """
    counts: collections.Counter[str] = collections.Counter()
    for task in tasks:
        if split not in task.splits:
            continue
        contexts: set[str] = set()
        for name, texts in _batches(task, split, split == "train"):
            if name == CONTEXT and once:
                texts = _new(texts, contexts)
            tokens = tokenizer(texts)
            if name != ANSWER and length:
                tokens = tokens[:, :length]
            counts.update(Vocabulary.count([tokens]))
    return counts


def _new(texts: tf.Tensor, known: set[str]) -> tf.Tensor:
    """The texts, string [n], that are not known; they are known afterwards."""
    new = []
    for text in texts.numpy():
        # Shorter than the contexts of a large corpus.
        if (digest := digests.of_bytes(text)) not in known:
            known.add(digest)
            new.append(text)
    return tf.constant(new, tf.string)


def _batches(
    task: Any, split: str, answers: bool
) -> Iterable[tuple[str, tf.Tensor]]:
    names = [feature.name for feature in inputs(task.features)]
    names += [ANSWER] * answers

    @tf.autograph.experimental.do_not_convert
    def chosen(example: Mapping[str, Any]) -> dict[str, tf.Tensor]:
        return {name: example[name] for name in names}

    dataset = task.dataset(split).map(chosen)
    for batch in fixed(dataset.batch(_TEXTS_AT_ONCE).prefetch(2)):
        yield from batch.items()
