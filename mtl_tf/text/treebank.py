"""Raw English written as the Penn Treebank spaces it: `did n't`, `( so )`.

Corpora are released tokenised, their unlabelled texts often raw. A word
has to look the same in both for the one to say something of the other.
"""

import re
from collections.abc import Iterable

# Applied in order. Full stops are split at the end of a token only, so that
# `9.5` and `u.s.` stay whole.
_RULES = tuple(
    (re.compile(pattern, re.IGNORECASE), spaced)
    for pattern, spaced in (
        (r"[‘’]", "'"),
        (r"[“”]", '"'),
        (r"(\.{2,})", r" \1 "),
        (r'([;:@#$%&?!()\[\]{}<>"*=/~|])', r" \1 "),
        (r"(,)(?!\d)", r" \1 "),
        (r"(--+)", r" \1 "),
        (r"(?<!\.[a-z])(?<![.\s])(\.)(?=[\s'\")\]]|$)", r" \1"),
        (r"(n't)\b", r" \1"),
        (r"('(?:s|m|d|ll|re|ve))\b", r" \1"),
        (r"(?<=\w)(')(?=\s|$)", r" \1"),
        (r"(?:(?<=\s)|^)(')(?=\w)(?!(?:s|m|d|ll|re|ve)\b)", r"\1 "),
    )
)
_ATTACHED = re.compile(r"\w[.,](?=\s|$)")
_ALONE = re.compile(r"(?<!\S)[.,](?=\s|$)")


def space(text: str) -> str:
    """`text` with spaces around what the treebank takes for a token."""
    for pattern, spaced in _RULES:
        text = pattern.sub(spaced, text)
    return text


def is_raw(texts: Iterable[str]) -> bool:
    """Whether most full stops and commas of `texts` are tied to words."""
    attached = alone = 0
    for text in texts:
        attached += len(_ATTACHED.findall(text))
        alone += len(_ALONE.findall(text))
    return attached > alone
