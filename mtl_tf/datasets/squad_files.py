"""Files in SQuAD's form: a JSON object with articles in `data`.

    {"data": [{"paragraphs": [{"context": ..., "qas": [
        {"id": ..., "question": ..., "answers": [{"text": ...}]}]}]}]}

A question with an empty list of answers is unanswerable (SQuAD 2.0).
"""

import re
from collections.abc import Iterator
from typing import Any

from mtl_tf.datasets.json_values import JsonValue, read_plain_json
from mtl_tf.datasets.sources import head_of

# Texts and numbers may stand before the articles, such as a version; a line of
# JSON that is a question may have any other field.
_START = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*\{\s*"
    rb'(?:"(?!(?:question|context|answers?)")[^"\\]*"\s*:\s*'
    rb'(?:"(?:[^"\\]|\\.)*"|[^\s",{}\[\]]+)\s*,\s*)*'
    rb'"data"\s*:\s*\[\s*(?:[{\]]|\Z)'
)


def is_squad(path: str) -> bool:
    """Whether a file begins like those of SQuAD.

    Raises:
        DataError: it is missing, unreadable or badly compressed.
    """
    return is_start(head_of(path))


def is_start(content: bytes) -> bool:
    """Whether bytes begin like a file of SQuAD."""
    return _START.match(content) is not None


def questions(
    path: str, content: bytes, answered: bool = True
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions of a file in the form of JSON lines, with locations.

    Args:
        path: the file, for messages.
        content: its uncompressed bytes.
        answered: whether `answers` is required.

    Yields:
        The location, and a dict of `id`, if there is one, `question`, `context`
        and `answers`.

    Raises:
        DataError: the file is not in SQuAD's form; the message says where.
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
