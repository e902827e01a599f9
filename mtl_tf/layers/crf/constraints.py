"""Which tags may follow each other, from the names of BIO and IOBES labels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError

# Scheme -> the prefixes that its labels have.
SCHEMES = {"iob1": "IB", "bio": "BI", "iobes": "BIES"}

# These names are from Tjong Kim Sang and Veenstra (1999).
_OTHER_NAMES = {"iob2": "bio", "bioes": "iobes"}


class Constraints(NamedTuple):
    """The allowed label sequences.

    Attributes:
        transitions: bool `[C, C]`: whether the label of the column may follow
            the label of the row.
        start: bool `[C]`: whether a sentence may begin with a label.
        end: bool `[C]`: whether a sentence may end with a label.
    """

    transitions: np.ndarray
    start: np.ndarray
    end: np.ndarray


def allowed_transitions(labels: Sequence[str], scheme: str) -> Constraints:
    """The transitions that a scheme of span labels allows.

    Args:
        labels: label names: "O", or a prefix, "-" and a type, such as "B-NP". A
            prefix alone is a span without a type.
        scheme: "bio" (also called IOB2: every span begins with B), "iob1" (B
            only between two spans of the same type) or "iobes" (also BIOES: E
            ends a span, S is a span of one token).

    Raises:
        ConfigError: an unknown scheme, or a label that it does not have.
    """
    scheme = _OTHER_NAMES.get(scheme, scheme)
    checks.one_of("scheme of span labels", scheme, list(SCHEMES))
    parsed = [_parse(label, scheme) for label in labels]
    follows = {"iob1": _iob1, "bio": _bio, "iobes": _iobes}[scheme]
    outside = ("O", "")
    return Constraints(
        np.array([[follows(a, b) for b in parsed] for a in parsed]),
        np.array([follows(outside, b) for b in parsed]),
        np.array([follows(a, outside) for a in parsed]),
    )


def span_scheme(labels: Sequence[str]) -> str | None:
    """The scheme whose prefixes these labels have; None if they have none.

    IOB1 has the same labels as BIO, so it is never returned. Every such scheme
    has the labels "O" and "B".
    """
    prefixes = {label.partition("-")[0] for label in labels}
    if not {"O", "B"} <= prefixes:
        return None
    prefixes.remove("O")
    for scheme in ("bio", "iobes"):
        if prefixes <= set(SCHEMES[scheme]):
            return scheme
    return None


def _parse(label: str, scheme: str) -> tuple[str, str]:
    if label == "O":
        return "O", ""
    prefix, _, kind = label.partition("-")
    if prefix not in SCHEMES[scheme]:
        known = ", ".join(f"{p}-" for p in SCHEMES[scheme])
        raise ConfigError(
            f"{label!r} is no label of the scheme {scheme}: it must be 'O' or "
            f"begin with {known}"
        )
    return prefix, kind


def _iob1(before: tuple[str, str], after: tuple[str, str]) -> bool:
    return after[0] != "B" or before[1:] == after[1:] and before[0] != "O"


def _bio(before: tuple[str, str], after: tuple[str, str]) -> bool:
    return after[0] != "I" or before[1:] == after[1:] and before[0] != "O"


def _iobes(before: tuple[str, str], after: tuple[str, str]) -> bool:
    if before[0] in "BI":
        return after[0] in "IE" and before[1] == after[1]
    return after[0] in "OBS"
