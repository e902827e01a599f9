"""Spaces raw English as the Penn Treebank does: `did n't`, `( so )`.

Corpora are released tokenised, but their unlabelled texts are often raw. A word
must look the same in both, so that one can be used for the other.
"""

import re
from collections.abc import Iterable

import tensorflow as tf

# Applied in order. Full stops are split only at the end of a token, so that
# `9.5` and `u.s.` stay whole. RE2 cannot look ahead or behind, so text that a
# later rule must not touch is temporarily replaced by characters of no text.
_COMMA, _STOP, _QUOTE = "\ufdd0", "\ufdd1", "\ufdd2"
_CLITIC = r"'((?i:s|m|d|ll|re|ve))\b"
_ABBREVIATION = (rf"([.{_STOP}][a-zA-Z])\.", rf"\1{_STOP}")
_RULES = (
    (f"[{_COMMA}{_STOP}{_QUOTE}]", "\ufffd"),
    (r"[‘’]", "'"),
    (r"[“”]", '"'),
    (r"(\.{2,})", r" \1 "),
    (r'([;:@#$%&?!()\[\]{}<>"*=/~|])', r" \1 "),
    (r",(\pN)", rf"{_COMMA}\1"),
    (r",", " , "),
    (_COMMA, ","),
    (r"(--+)", r" \1 "),
    _ABBREVIATION,
    # Twice, because its matches overlap: "u.s.a." has two.
    _ABBREVIATION,
    (r"([^.\s])\.([\s'\")\]]|$)", r"\1 .\2"),
    (_STOP, "."),
    (r"(?i)(n't)\b", r" \1"),
    (_CLITIC, rf" {_QUOTE}\1"),
    (r"([\pL\pN_])'(\s|$)", r"\1 '\2"),
    (r"(^|\s)'([\pL\pN_])", r"\1' \2"),
    (_QUOTE, "'"),
)
_ATTACHED = re.compile(r"\w[.,](?=\s|$)")
_ALONE = re.compile(r"(?<!\S)[.,](?=\s|$)")


def space(texts: tf.Tensor) -> tf.Tensor:
    """Texts with spaces around what the treebank treats as a token.

    Args:
        texts: strings `[n]` of valid UTF-8; also works inside a graph.
    """
    for pattern, spaced in _RULES:
        texts = tf.strings.regex_replace(texts, pattern, spaced)
    return texts


def is_raw(texts: Iterable[str]) -> bool:
    """Whether most full stops and commas of `texts` are attached to words."""
    attached = alone = 0
    for text in texts:
        attached += len(_ATTACHED.findall(text))
        alone += len(_ALONE.findall(text))
    return attached > alone
