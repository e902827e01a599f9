"""The spellings that the Penn Treebank's notation needs, and the plain ones."""

import re

_PLAIN = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "-LAB-": "<",
    "-RAB-": ">",
    "-AMP-": "&",
    "``": '"',
    "''": '"',
}
_WORD = re.compile(r"[^ ]+")


def plain(text: str) -> str:
    """`text` with its words as they were written: `-LRB-` as `(`."""
    return _WORD.sub(lambda match: _PLAIN.get(match[0], match[0]), text)
