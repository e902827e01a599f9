"""Spans as tags: IOB1, IOB2 and IOBES, read as conlleval reads them.

======  =====================================================================
iob1    `I-X` inside of a span; `B-X` only where a span follows another one
        of its type at once (the first release of CoNLL-2003)
iob2    `B-X` opens every span, `I-X` goes on (CoNLL-2000, and most others)
iobes   as iob2, but the last token is `E-X`, and a single one `S-X`
======  =====================================================================

`O` is outside in all schemes. Tags are read by the rules of the shared tasks'
scorer (Tjong Kim Sang & Buchholz 2000, conlleval). It gives any sequence of
tags its spans, even a wrong one: an `I-X` that nothing opened opens a span. One
reader therefore serves all schemes, and a model's output can be written in
another scheme without changing its conlleval score.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mtl_tf.core import checks

SCHEMES = ("iob1", "iob2", "iobes")
OUTSIDE = "O"
_TAG = re.compile(r"(?:O|([BIES])(?:-(.*))?)", re.DOTALL)


class Span(NamedTuple):
    """The tokens start, start + 1, ..., stop - 1 form one span of a type."""

    type: str
    start: int
    stop: int


def is_span_tag(tag: str) -> bool:
    """Whether `tag` is `O`, or one of B, I, E and S, with or without -type."""
    return _TAG.fullmatch(tag) is not None


def are_span_tags(tags: Iterable[str]) -> bool:
    """Whether labels are those of spans, not of single words (such as POS)."""
    tags = set(tags)
    return bool(tags - {OUTSIDE}) and all(map(is_span_tag, tags))


def spans(tags: Sequence[str]) -> list[Span]:
    """The spans of a sentence, in order, as conlleval finds them.

    Args:
        tags: tags of any scheme, right or wrong.

    Raises:
        ValueError: a tag is not a span tag.
    """
    entities: list[Span] = []
    start, previous = 0, ("", "")
    for position, tag in enumerate([*tags, OUTSIDE]):
        current = _parts(tag)
        if previous[0] and _opens(previous, current):
            entities.append(Span(previous[1], start, position))
        if _opens(previous, current):
            start = position
        previous = current
    return entities


def _parts(tag: str) -> tuple[str, str]:
    """The letter, "" for outside, and the type."""
    match = _TAG.fullmatch(tag)
    if match is None:
        raise ValueError(
            f"{tag!r} is no tag of a span: it must be O, or B-, I-, E- or S- "
            "and a type"
        )
    return match[1] or "", match[2] or ""


def _opens(previous: tuple[str, str], current: tuple[str, str]) -> bool:
    """Whether a tag does not continue the span of the previous tag."""
    return (
        previous[0] not in ("B", "I")
        or current[0] not in ("I", "E")
        or previous[1] != current[1]
    )


def write(entities: Iterable[Span], length: int, scheme: str) -> list[str]:
    """The tags of spans.

    Args:
        entities: spans that do not overlap, in order.
        length: tokens of the sentence.
        scheme: one of `SCHEMES`.

    Raises:
        ConfigError: an unknown scheme.
    """
    checks.one_of("scheme", scheme, SCHEMES)
    tags = [OUTSIDE] * length
    before = Span("", -1, -1)
    for span in entities:
        letters = ["I"] * (span.stop - span.start)
        touches = before.stop == span.start and before.type == span.type
        if scheme != "iob1" or touches:
            letters[0] = "B"
        if scheme == "iobes":
            letters[-1] = "E" if len(letters) > 1 else "S"
        tags[span.start : span.stop] = [_tag(x, span.type) for x in letters]
        before = span
    return tags


def _tag(letter: str, type_: str) -> str:
    return f"{letter}-{type_}" if type_ else letter


def convert(tags: Sequence[str], scheme: str) -> list[str]:
    """Writes the same spans in another scheme.

    Args:
        tags: tags of any scheme, right or wrong. Wrong tags are read as
            conlleval reads them and become right.
        scheme: one of `SCHEMES`.

    Example:

    >>> convert(["I-PER", "I-PER", "O", "I-LOC"], "iobes")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    return write(spans(tags), len(tags), scheme)


def detect(sentences: Iterable[Sequence[str]]) -> str:
    """The scheme that sentences are written in.

    Args:
        sentences: the tags of each sentence.

    Returns:
        "iobes" if an E or S occurs. Otherwise "iob1" or "iob2", by how most
        spans begin that do not directly follow a span of their type; "iob2" if
        undecided.
    """
    opened = {"B": 0, "I": 0}
    for tags in sentences:
        previous = ("", "")
        for current in map(_parts, tags):
            if current[0] in ("E", "S"):
                return "iobes"
            if current[0] and (not previous[0] or previous[1] != current[1]):
                opened[current[0]] += 1
            previous = current
    return "iob1" if opened["I"] > opened["B"] else "iob2"


def types_of(tags: Iterable[str]) -> list[str]:
    """The span types in the tags, sorted."""
    return sorted({_parts(tag)[1] for tag in set(tags) - {OUTSIDE}})


def tag_set(types: Iterable[str], scheme: str) -> tuple[str, ...]:
    """All tags of a scheme: `O`, then type by type.

    Example:

    >>> tag_set(["NP"], "iobes")
    ('O', 'B-NP', 'I-NP', 'E-NP', 'S-NP')
    """
    checks.one_of("scheme", scheme, SCHEMES)
    letters = "BIES" if scheme == "iobes" else "BI"
    return (OUTSIDE, *(_tag(x, type_) for type_ in types for x in letters))
