"""The texts of tasks from which word vectors may be learnt.

Only training and unlabelled texts are used. Unlabelled texts that equal a
validation or test text, up to spaces, punctuation and case, are left out.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
from absl import logging

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.unlabelled import unlabelled_texts
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.tasks.batching import batched
from mtl_tf.tasks.features import WORDS, inputs
from mtl_tf.tasks.task import Task
from mtl_tf.text.tokenizers import escaping, treebank
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer
from mtl_tf.text.tokenizers.tokenizers import (
    WhitespaceTokenizer,
    make_tokenizer,
)
from mtl_tf.text.vectors.learning import TokenStore

SPACINGS = ("auto", "treebank", "none")
UNLABELLED = "unlabelled"
_TEXTS_AT_ONCE = 1024
# Vector files use spaces and line breaks as separators.
_SPACE = re.compile(r"[ \t\n\v\f\r]")


def collect(
    tasks: Iterable[Task],
    text_config: Mapping[str, Any],
    unlabelled_spacing: str = "auto",
    more: Sequence[str] = (),
) -> TokenStore:
    """Reads and tokenizes the texts of tasks.

    Args:
        tasks: the tasks whose training splits are read, and the `unlabelled`
            splits of their sources if there are any.
        text_config: its tokenizer is used, so that words are those of a run. No
            text is cut.
        unlabelled_spacing: how unlabelled texts are changed first: "treebank"
            gives them Penn Treebank spacing, "none" does nothing, "auto" spaces
            those of a task whose training texts are tokenized and whose
            unlabelled ones are not.
        more: further texts.

    Returns:
        The words of every text, without the spaces in tokens.
    """
    tokenizer = make_tokenizer(dict(text_config["tokenizer"].items()))
    # Given tokens are not split further.
    whitespace = WhitespaceTokenizer(tokenizer.lowercase)
    store = TokenStore()
    for task, texts in texts_of(tasks, unlabelled_spacing):
        are_words = all(
            feature.element == WORDS for feature in inputs(task.features)
        )
        for words in _words(whitespace if are_words else tokenizer, texts):
            store.add(words)
    for words in _words(tokenizer, more):
        store.add(words)
    if not store.tokens:
        raise ConfigError("the tasks have no text to learn from")
    return store


def texts_of(
    tasks: Iterable[Task], unlabelled_spacing: str = "auto"
) -> Iterator[tuple[Task, list[str]]]:
    """The texts that may be learnt from, task by task; see the module.

    Args:
        tasks, unlabelled_spacing: see `collect`.
    """
    checks.one_of("unlabelled_spacing", unlabelled_spacing, SPACINGS)
    tasks = list(tasks)
    held_back = _held_back(tasks)
    for number, task in enumerate(tasks, 1):
        training = _texts(task, "train")
        unlabelled, dropped = _unlabelled(task, held_back)
        spaced = _wants_spaces(unlabelled_spacing, training, unlabelled)
        if spaced:
            texts = tf.constant(unlabelled, tf.string)
            unlabelled = [t.decode() for t in treebank.space(texts).numpy()]
        logging.info(
            "[%d/%d] %s: %s training and %s unlabelled texts%s; %s unlabelled "
            "ones that stand in validation or test splits left out",
            number,
            len(tasks),
            task.name,
            f"{len(training):,}",
            f"{len(unlabelled):,}",
            " (spaced as in the treebank)" * spaced,
            f"{dropped:,}",
        )
        yield task, training + unlabelled


def _texts(task: Task, split: str) -> list[str]:
    batches = fixed(batched(task.dataset(split)))
    return [
        text.decode("utf-8", "replace")
        for batch in batches
        for text in task.text_of(batch).numpy()
    ]


def _unlabelled(task: Task, held_back: set[int]) -> tuple[list[str], int]:
    """The unlabelled texts to use, and the number of those held back."""
    if UNLABELLED not in task.source.split_names:
        return [], 0
    texts = _texts(task, UNLABELLED)
    usable = [text for text in texts if _digest(text) not in held_back]
    return usable, len(texts) - len(usable)


def _held_back(tasks: Iterable[Task]) -> set[int]:
    return {
        _digest(text)
        for task in tasks
        for split in ("validation", "test")
        if split in task.splits
        for text in _texts(task, split)
    }


def _digest(text: str) -> int:
    return hash(unlabelled_texts.key(text))


def _wants_spaces(
    spacing: str, training: list[str], unlabelled: list[str]
) -> bool:
    if spacing != "auto":
        return spacing == "treebank" and bool(unlabelled)
    return unlabelled_texts.only_these_are_raw(unlabelled, training)


def _words(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        batch = tf.constant(texts[start : start + _TEXTS_AT_ONCE])
        for tokens in tokenizer(batch).to_list():
            words = (escaping.surface(token.decode()) for token in tokens)
            yield [word for word in words if word and not _SPACE.search(word)]
