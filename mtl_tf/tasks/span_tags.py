"""What the tags of a corpus are: of words, of spans, or of spans with slips."""

import re
from collections.abc import Iterable, Mapping

from mtl_tf.text import span_schemes

#: IOBES with other letters: L(ast) for E, U(nit) for S. It is read, not made.
BILOU = "bilou"
_IOBES_LETTERS = {"L": "E", "U": "S"}
_BILOU_TAG = re.compile(r"([LU])(?=-.)", re.DOTALL)
_TYPED = re.compile(r"[BIES]-.+", re.DOTALL)


def from_bilou(tag: str) -> str:
    """A tag of BILOU as IOBES has it; others as they are.

    Example:

    >>> from_bilou("U-PER")
    'S-PER'
    """
    match = _BILOU_TAG.match(tag)
    return _IOBES_LETTERS[match[1]] + tag[1:] if match else tag


def is_bilou(counts: Mapping[str, int]) -> bool:
    """Whether tags are those of BILOU, some slips aside.

    Args:
        counts: how often each tag occurs.
    """
    if not any(map(_BILOU_TAG.match, counts)):
        return False
    if any(tag.startswith(("E-", "S-")) for tag in counts):
        return False
    return is_mostly_spans({from_bilou(t): n for t, n in counts.items()})


def is_mostly_spans(counts: Mapping[str, int]) -> bool:
    """Whether tags are meant as those of spans, though some are not.

    At least one has the form B-TYPE, and most are tags of spans: most of the
    different ones, or most of their occurrences. Tags of words may hold O, as
    in O, COMMA, PERIOD, or single letters, but hardly B-TYPE.

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
    """The tags that are not of spans, in their order."""
    return [tag for tag in tags if not span_schemes.is_span_tag(tag)]
