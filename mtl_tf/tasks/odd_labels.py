"""Labels that may be wrong: rare ones, ones in two spellings, missing ones."""

import difflib
import unicodedata
from collections.abc import Mapping, Sequence

# In a small file any label may be rare.
_ROWS, _FEW = 100, 2
_SHOWN = 3
# As other programs write that there is none; "none" and "NA" are labels, too.
_MISSING = frozenset(("nan", "NaN", "null", "NULL", "None", "<NA>", "NaT"))


def doubts(labels: Sequence[str]) -> list[str]:
    """Sentences about labels that are one in two spellings, or none.

    Args:
        labels: of a task that lists none itself.
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
    return sentences


def _plain(label: str) -> str:
    """What is left of a label without capitals, spaces and the like."""
    try:
        # 1 and 1.0, which pandas makes of it.
        return repr(float(label))
    except ValueError:
        folded = unicodedata.normalize("NFKC", label).casefold()
        return " ".join(folded.replace("_", " ").replace("-", " ").split())


def rare(
    counts: Mapping[str, int], places: Mapping[str, str], rows: int
) -> list[str]:
    """A sentence about the labels that few rows have, if there are any.

    Args:
        counts: how many rows have each label, in the order of the rows.
        places: where each stands first, in words.
        rows: how many there are.
    """
    few = [label for label, count in counts.items() if count <= _FEW]
    frequent = [label for label in counts if counts[label] > _FEW]
    if rows < _ROWS or not few or not frequent:
        return []
    # What looks like a misspelling stands first.
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
    """The one of `others` that `label` may be meant to be, or ""."""
    if not any(letter.isalpha() for letter in label):
        return ""  # 11 is not a misspelt 1
    by_spelling = {other.lower(): other for other in others}
    near = difflib.get_close_matches(label.lower(), by_spelling, n=1)
    return by_spelling[near[0]] if near else ""
