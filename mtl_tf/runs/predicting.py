"""What a trained run says of texts: the form of its answers, by kind of task.

A function of `ANSWERS` takes a task (its name and labels), the run's encoder,
texts, and a function that runs the model on an encoded split; of translation
the run's translator.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from mtl_tf.pipelines.encoding import EncodedSplit
from mtl_tf.runs import run_data
from mtl_tf.runs.translating import Translator
from mtl_tf.tasks.task import TAGGING, TRANSLATION
from mtl_tf.text.base_tokenizer import Tokenizer
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.text.translation import TranslationText

Answers = list[dict[str, Any]]
Forward = Callable[[EncodedSplit], Mapping[str, Any]]

_TEXTS_AT_ONCE = 1024


class Sentence(NamedTuple):
    """The tokens of a text.

    Attributes:
        tokens: as they stand in the text, or as they were given.
        offsets: [start, end] of each token, in characters from the start of
            its text; None where the tokens were given.
    """

    tokens: list[str]
    offsets: list[list[int]] | None


def classify(
    task: Mapping[str, Any],
    encoder: TextEncoder,
    texts: Sequence[str],
    forward: Forward,
) -> Answers:
    """Labels texts.

    Returns:
        Per text `task`, `label` and `scores`, probabilities by label.

    Raises:
        TypeError: a text is not a string.
    """
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(
                f"the task {task['name']} labels whole texts: each must be a "
                f"string, got {text!r:.60}"
            )
    outputs = forward(run_data.encode_texts(encoder, texts))
    labels = task["labels"]
    return [
        {
            "task": task["name"],
            "label": labels[int(number)],
            "scores": {k: float(s) for k, s in zip(labels, scores)},
        }
        for number, scores in zip(outputs["prediction"], outputs["scores"])
    ]


def tag(
    task: Mapping[str, Any],
    encoder: TextEncoder,
    texts: Sequence[str | Sequence[str]],
    forward: Forward,
) -> Answers:
    """Tags the tokens of texts.

    Strings are split by the encoder's tokenizer; lists of tokens are taken as
    they are.

    Returns:
        Per text `task`, `tokens`, their `tags`, `offsets` [start, end] of each
        (not where the tokens were given), and `confidence`, the probability
        of each tag. Tokens behind the encoder's `max_length` are left out.

    Raises:
        TypeError: a text is neither a string nor a list of strings.
    """
    found = sentences(encoder, texts)
    tokens = [sentence.tokens for sentence in found]
    outputs = forward(run_data.encode_tokens(encoder, tokens))
    answers = []
    for sentence, numbers, confidence in zip(
        found, outputs["prediction"], outputs["confidence"]
    ):
        answer = {
            "task": task["name"],
            "tokens": sentence.tokens,
            "tags": [task["labels"][number] for number in numbers],
        }
        if sentence.offsets is not None:
            answer["offsets"] = sentence.offsets
        answers.append({**answer, "confidence": confidence.tolist()})
    return answers


def translate(
    task: Mapping[str, Any],
    encoder: TranslationText,
    texts: Sequence[str],
    forward: Translator,
) -> Answers:
    """Translates texts.

    Returns:
        Per text `task`, `translation`, the best one, its `score`, a
        log-likelihood, and where there are several `translations` and
        `scores`, the best first.

    Raises:
        TypeError: a text is not a string.
    """
    for text in texts:
        if not isinstance(text, str):
            raise TypeError(f"a source must be a string, got {text!r:.60}")
    words = encoder.source.tokenizer(
        tf.constant([t.encode("utf-8", "replace") for t in texts])
    )
    ids = encoder.source.vocabulary.lookup(words).to_list()
    pair = forward.model.pairs.index(task["name"])
    found, scores = forward.translate(pair, ids, words)
    answers = []
    for said, values in zip(found, scores.tolist()):
        answer = {"task": task["name"], "translation": said[0]}
        answer["score"] = values[0]
        if len(said) > 1:
            answer |= {"translations": said, "scores": values}
        answers.append(answer)
    return answers


ANSWERS: Mapping[str, Callable[..., Answers]] = {
    "classification": classify,
    TAGGING: tag,
    TRANSLATION: translate,
}


def sentences(
    encoder: TextEncoder, texts: Iterable[str | Sequence[str]]
) -> list[Sentence]:
    """The tokens that a model reads of texts, or of lists of tokens.

    Raises:
        TypeError: a text is neither a string nor a list of strings.
        ConfigError: the tokens of the encoder's tokenizer are not words.
    """
    texts = list(texts)
    stop = encoder.max_length or None
    strings = [text for text in texts if isinstance(text, str)]
    split = iter(_split(encoder.tokenizer, strings, stop))
    return [
        next(split)
        if isinstance(text, str)
        else Sentence(_given(text)[:stop], None)
        for text in texts
    ]


def _split(
    tokenizer: Tokenizer, texts: Sequence[str], stop: int | None
) -> list[Sentence]:
    found = []
    for first in range(0, len(texts), _TEXTS_AT_ONCE):
        encoded = [
            text.encode("utf-8", errors="replace")
            for text in texts[first : first + _TEXTS_AT_ONCE]
        ]
        located = tokenizer.locate(tf.constant(encoded, tf.string))
        for words, *places in zip(*(part.to_list() for part in located)):
            offsets = [list(pair) for pair in zip(*places)]
            tokens = [word.decode() for word in words[:stop]]
            found.append(Sentence(tokens, offsets[:stop]))
    return found


def _given(tokens: Sequence[str]) -> list[str]:
    is_list = isinstance(tokens, Sequence) and not isinstance(tokens, bytes)
    if is_list and all(isinstance(token, str) for token in tokens):
        return list(tokens)
    raise TypeError(
        "a text to be tagged must be a string or a list of strings, its "
        f"tokens, got {tokens!r:.60}"
    )
