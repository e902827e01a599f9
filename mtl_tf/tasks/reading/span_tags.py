"""Tells tags of words from tags of spans, also with some mistakes."""

import re
from collections.abc import Iterable, Mapping

from mtl_tf.text import span_schemes

#: IOBES with other letters: L(ast) for E, U(nit) for S. Read, never written.
BILOU = "bilou"
_IOBES_LETTERS = {"L": "E", "U": "S"}
_BILOU_TAG = re.compile(r"([LU])(?=-.)", re.DOTALL)
_TYPED = re.compile(r"[BIES]-.+", re.DOTALL)


def from_bilou(tag: str) -> str:
    """Converts a BILOU tag to IOBES; other tags are unchanged.

    Example:

    >>> from_bilou("U-PER")
    'S-PER'
    """
    match = _BILOU_TAG.match(tag)
    return _IOBES_LETTERS[match[1]] + tag[1:] if match else tag


def is_bilou(counts: Mapping[str, int]) -> bool:
    """Whether tags are BILOU, up to some mistakes.

    Args:
        counts: how often each tag occurs.
    """
    if not any(map(_BILOU_TAG.match, counts)):
        return False
    if any(tag.startswith(("E-", "S-")) for tag in counts):
        return False
    return is_mostly_spans({from_bilou(t): n for t, n in counts.items()})


def is_mostly_spans(counts: Mapping[str, int]) -> bool:
    """Whether tags are meant to be span tags, even if some are not.

    At least one has the form B-TYPE, and most of the different tags, or of
    their occurrences, are span tags. Tags of words may include O (as in O,
    COMMA, PERIOD) or single letters, but hardly B-TYPE.

    Args:
        counts: how often each tag occurs.
    """
    odd = odd_tags(counts)
    occurrences = sum(counts[tag] for tag in odd)
    typed = any(map(_TYPED.fullmatch, counts))
    return typed and (
        2 * len(odd) <= len(counts) or 2 * occurrences < sum(counts.values())
    )


def odd_tags(tags: Iterable[str]) -> list[str]:
    """The tags that are no span tags, in their order."""
    return [tag for tag in tags if not span_schemes.is_span_tag(tag)]
