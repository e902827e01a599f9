"""Files as SQuAD is released: one object of JSON with articles in `data`.

    {"data": [{"paragraphs": [{"context": ..., "qas": [
        {"id": ..., "question": ..., "answers": [{"text": ...}]}]}]}]}

A question without answers is one that has none (SQuAD 2.0).
"""

import re
from collections.abc import Iterator
from typing import Any

from mtl_tf.datasets.json_values import JsonValue, read_plain_json
from mtl_tf.datasets.sources import head_of

_START = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"version"\s*:\s*"?[^",]*"?\s*,\s*)?'
    rb'"data"\s*:\s*\[\s*(?:[{\]]|\Z)'
)


def is_squad(path: str) -> bool:
    """Whether a file begins as those of SQuAD do.

    Raises:
        DataError: it is missing, unreadable or badly packed.
    """
    return is_start(head_of(path))


def is_start(content: bytes) -> bool:
    """Whether bytes are those that a file of SQuAD begins with."""
    return _START.match(content) is not None


def questions(
    path: str, content: bytes, answered: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions of a file, as lines of JSON have them, and their places.

    Args:
        path: the file, for messages.
        content: its bytes, not packed.
        answered: whether `answers` must be there; else they may be missing.

    Yields:
        The place, and `id`, if there is one, `question`, `context` and
        `answers`.

    Raises:
        DataError: something in the file is not as in SQuAD; the message names
            the place.
    """
    root = read_plain_json(path, content)
    for article in root.get("data", list).items(dict):
        for paragraph in article.get("paragraphs", list).items(dict):
            context = paragraph.get("context", str).value
            for asked in paragraph.get("qas", list).items(dict):
                record = _named(asked) | {
                    "question": asked.get("question", str).value,
                    "context": context,
                }
                if answered or "answers" in asked.value:
                    record["answers"] = {"text": _answers(asked)}
                yield asked.location, record


def _named(asked: JsonValue) -> dict[str, Any]:
    return {name: asked.value[name] for name in ("id",) if name in asked.value}


def _answers(asked: JsonValue) -> list[str]:
    answers = asked.get("answers", list).items(dict)
    return [answer.get("text", str).value for answer in answers]
