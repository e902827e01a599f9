"""Files as SQuAD is released: one object of JSON with articles in `data`.

    {"data": [{"paragraphs": [{"context": ..., "qas": [
        {"question": ..., "answers": [{"text": ...}]}]}]}]}

A question without answers is one that has none (SQuAD 2.0).
"""

import re
from collections.abc import Iterator
from typing import Any

from mtl_tf.datasets.json_values import read_json
from mtl_tf.datasets.sources import opened, read_file

_HEAD = 1024  # bytes
_START = re.compile(
    rb'(?:\xef\xbb\xbf)?\s*\{\s*(?:"version"\s*:\s*"?[^",]*"?\s*,\s*)?'
    rb'"data"\s*:\s*\['
)


def is_squad(path: str) -> bool:
    """Whether a file begins as those of SQuAD do.

    Raises:
        DataError: it is missing, unreadable or badly packed.
    """
    with opened(path) as file:
        return _START.match(file.read(_HEAD)) is not None


def questions(path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions of a file, as lines of JSON have them, and their places.

    Raises:
        DataError: something in the file is not as in SQuAD; the message names
            the place.
    """
    root = read_json(path, read_file(path))
    for article in root.get("data", list).items(dict):
        for paragraph in article.get("paragraphs", list).items(dict):
            context = paragraph.get("context", str).value
            for asked in paragraph.get("qas", list).items(dict):
                texts = [
                    answer.get("text", str).value
                    for answer in asked.get("answers", list).items(dict)
                ]
                yield (
                    asked.location,
                    {
                        "context": context,
                        "question": asked.get("question", str).value,
                        "answers": {"text": texts},
                    },
                )
