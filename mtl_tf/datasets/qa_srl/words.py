"""The spellings of the Penn Treebank's notation, and the plain ones."""

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
    """`text` with words in their original spelling: `-LRB-` as `(`."""
    return _WORD.sub(lambda match: _PLAIN.get(match[0], match[0]), text)
