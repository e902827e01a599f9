"""Labels that so few examples have that they may be misspelt."""

import difflib
from collections.abc import Mapping

# In a small file any label may be rare.
_ROWS, _FEW = 100, 2
_SHOWN = 3


def doubt(
    counts: Mapping[str, int], places: Mapping[str, str], rows: int
) -> str:
    """A sentence about the labels that few rows have; "" if there are none.

    Args:
        counts: how many rows have each label, in the order of the rows.
        places: where each stands first, in words.
        rows: how many there are.
    """
    rare = [label for label, count in counts.items() if count <= _FEW]
    frequent = [label for label in counts if counts[label] > _FEW]
    if rows < _ROWS or not rare or not frequent:
        return ""
    # What looks like a misspelling stands first.
    near = {label: _nearest(label, frequent) for label in rare}
    rare.sort(key=lambda label: not near[label])
    shown = [
        f"{label!r} ({places[label]}"
        + (f"; did you mean {near[label]!r}?)" if near[label] else ")")
        for label in rare[:_SHOWN]
    ]
    more = f" and {len(rare) - _SHOWN} more" if len(rare) > _SHOWN else ""
    return (
        f"at most {_FEW} of {rows} rows have the label "
        f"{', '.join(shown)}{more}: each becomes a class of its own, unless "
        "`labels` in the task's entry lists those that are right"
    )


def _nearest(label: str, others: list[str]) -> str:
    """The one of `others` that `label` may be meant to be, or ""."""
    if not any(letter.isalpha() for letter in label):
        return ""  # 11 is not a misspelt 1
    by_spelling = {other.lower(): other for other in others}
    near = difflib.get_close_matches(label.lower(), by_spelling, n=1)
    return by_spelling[near[0]] if near else ""
