"""Warns about suspicious labels: rare, misspelt, missing or broken ones."""

import difflib
import unicodedata
from collections.abc import Mapping, Sequence

# In a small file any label may be rare, so that says nothing.
_ROWS, _FEW = 100, 2
_SHOWN = 3
# What other programs write for no label; "none" and "NA" may be real labels.
_MISSING = frozenset(("nan", "NaN", "null", "NULL", "None", "<NA>", "NaT"))


def doubts(labels: Sequence[str]) -> list[str]:
    """Warnings about labels in two spellings, of two lines, or for "none".

    Args:
        labels: the labels found in the data of a task that lists none.
    """
    sentences = []
    spellings: dict[str, list[str]] = {}
    for label in labels:
        spellings.setdefault(_plain(label), []).append(label)
    several = [same for same in spellings.values() if len(same) > 1]
    if several:
        listed = "; ".join(
            ", ".join(map(repr, same)) for same in several[:_SHOWN]
        )
        more = f"; and {len(several) - _SHOWN} more"
        sentences.append(
            "labels that may be the same label, but are different classes: "
            f"{listed}{more if len(several) > _SHOWN else ''}. If they are the "
            "same, write them in one way"
        )
    missing = [label for label in labels if label in _MISSING]
    if missing:
        sentences.append(
            f"{' and '.join(map(repr, missing))}: learnt as a label, but may "
            "mean that there is no label. If so, leave such cells empty"
        )
    broken = [label for label in labels if len(label.splitlines()) > 1]
    if broken:
        sentences.append(
            f"labels with a line break: {', '.join(map(repr, broken[:_SHOWN]))}"
            f"{' and more' if len(broken) > _SHOWN else ''}. If they are no "
            "labels, the quotes in the file may be wrong"
        )
    return sentences


def _plain(label: str) -> str:
    """A label without capitals, spaces and the like."""
    try:
        # pandas turns 1 into 1.0; both are the same label.
        return repr(float(label))
    except ValueError:
        folded = unicodedata.normalize("NFKC", label).casefold()
        return " ".join(folded.replace("_", " ").replace("-", " ").split())


def rare(
    counts: Mapping[str, int], places: Mapping[str, str], rows: int
) -> list[str]:
    """A warning about labels that few rows have, if there are any.

    Args:
        counts: the number of rows of each label, in order of occurrence.
        places: where each label occurs first, in words.
        rows: the number of rows.
    """
    few = [label for label, count in counts.items() if count <= _FEW]
    frequent = [label for label in counts if counts[label] > _FEW]
    if rows < _ROWS or not few or not frequent:
        return []
    # Likely misspellings come first.
    near = {label: _nearest(label, frequent) for label in few}
    few.sort(key=lambda label: not near[label])
    listed = [
        f"{label!r} ({places[label]}"
        + (f"; did you mean {near[label]!r}?)" if near[label] else ")")
        for label in few[:_SHOWN]
    ]
    more = f" and {len(few) - _SHOWN} more" if len(few) > _SHOWN else ""
    return [
        f"at most {_FEW} of {rows} rows have the label "
        f"{', '.join(listed)}{more}: each becomes a class. If some are wrong, "
        "list the right labels as `labels` in the task's entry"
    ]


def _nearest(label: str, others: list[str]) -> str:
    """The label of `others` that `label` may be a misspelling of, or ""."""
    if not any(letter.isalpha() for letter in label):
        return ""  # 11 is not a misspelt 1
    by_spelling = {other.lower(): other for other in others}
    near = difflib.get_close_matches(label.lower(), by_spelling, n=1)
    return by_spelling[near[0]] if near else ""
