"""States of goal-oriented dialogues, from what each turn changes in them.

An answer of WOZ is the change in state of one turn of the user:

    slot: value, slot: value; request, request

Goals stand before the semicolon and requests behind it; either may be
missing, and the semicolon where there are no requests.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mtl_tf.evaluation.unscored import Unscored


class Change(NamedTuple):
    """What a turn changes.

    Attributes:
        goals: values by slot that the user has set.
        requests: what the user asks for, in this turn alone.
    """

    goals: dict[str, str]
    requests: frozenset[str]


def parse(text: str) -> Change:
    """Reads an answer. Case, spacing and order do not count.

    Of a slot that is set twice the last value holds. A piece without a slot
    and a colon is no goal and changes nothing, and so do "" and "none".

    Args:
        text: any text; nothing raises.
    """
    text = " ".join(text.lower().split())
    if text == "none":
        text = ""
    before, _, behind = text.partition(";")
    goals = {}
    for piece in before.split(","):
        slot, colon, value = piece.partition(":")
        if colon and slot.strip():
            goals[slot.strip()] = value.strip()
    requests = {piece.strip() for piece in behind.split(",")} - {""}
    return Change(goals, frozenset(requests))


def right_turns(
    predictions: Sequence[str],
    references: Sequence[str],
    scoring: Sequence[Mapping[str, Any]],
) -> np.ndarray:
    """Of which turns the state is right.

    The states are those that a dialogue's turns add up to, of predictions
    and of references alike, so a wrong goal stays wrong until it is set
    again. Turns may come in any order.

    Args:
        predictions: the predicted answers of n turns.
        references: the right ones.
        scoring: of each turn "dialogue", which it belongs to, and "turn", its
            number in that.

    Returns:
        bool [n, 3]: whether all goals so far are right, whether the requests
        of the turn are, and whether the goals that the turn sets are.

    Raises:
        Unscored: a turn has no dialogue or number, or those of another.
    """
    is_right = np.zeros((len(predictions), 3), bool)
    for turns in dialogues(scoring).values():
        state: tuple[dict[str, str], dict[str, str]] = ({}, {})
        for _, row in sorted(turns.items()):
            predicted = parse(predictions[row])
            expected = parse(references[row])
            state[0].update(predicted.goals)
            state[1].update(expected.goals)
            is_right[row] = (
                state[0] == state[1],
                predicted.requests == expected.requests,
                predicted.goals == expected.goals,
            )
    return is_right


def dialogues(
    scoring: Sequence[Mapping[str, Any]],
) -> dict[Hashable, dict[int, int]]:
    """The turns of each dialogue.

    Args:
        scoring: of each turn; see `right_turns`.

    Returns:
        Turn -> place in the input, of each dialogue.

    Raises:
        Unscored: as of `right_turns`.
    """
    rows: dict[Hashable, dict[int, int]] = defaultdict(dict)
    for row, fields in enumerate(scoring):
        try:
            dialogue, turn = fields["dialogue"], int(fields["turn"])
            hash(dialogue)
        except (KeyError, TypeError, ValueError, OverflowError):
            raise Unscored(
                row,
                "scoring must have dialogue, a text or a number, and turn, a "
                f"whole number, found {fields!r:.100}",
            )
        if turn in rows[dialogue]:
            raise Unscored(
                row,
                f"scoring says turn {turn} of dialogue {dialogue!r:.40}, as "
                f"that of example {rows[dialogue][turn]} does",
            )
        rows[dialogue][turn] = row
    return rows
