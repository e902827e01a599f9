"""States of goal-oriented dialogues, from the changes of each turn.

An answer of WOZ is the change of the state in one turn of the user:

    slot: value, slot: value; request, request

Goals are before the semicolon and requests after it. Either may be missing, and
so may the semicolon if there are no requests.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from mtl_tf.evaluation.metrics.unscored import Unscored


class Change(NamedTuple):
    """The changes of one turn.

    Attributes:
        goals: slot to the value that the user has set.
        requests: what the user asks for, in this turn only.
    """

    goals: dict[str, str]
    requests: frozenset[str]


def parse(text: str) -> Change:
    """Parses an answer. Case, spacing and order do not matter.

    For a slot that is set twice, the last value counts. A part without a slot
    and a colon is no goal and changes nothing, and so are "" and "none".

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
    """Compares the predicted state of each turn with the right one.

    The state is the sum of a dialogue's turns, both for predictions and for
    references. So a wrong goal stays wrong until it is set again. Turns may
    come in any order.

    Args:
        predictions: the predicted answers of n turns.
        references: the right answers.
        scoring: for each turn "dialogue", its dialogue, and "turn", its number
            there.

    Returns:
        bool [n, 3]: whether all goals so far are right, whether the turn's
        requests are, and whether the goals that the turn sets are.

    Raises:
        Unscored: a turn lacks its dialogue or number, or repeats another's.
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
        scoring: for each turn; see `right_turns`.

    Returns:
        For each dialogue, turn number to index in the input.

    Raises:
        Unscored: as for `right_turns`.
    """
    rows: dict[Hashable, dict[int, int]] = defaultdict(dict)
    for row, fields in enumerate(scoring):
        try:
            dialogue, turn = fields["dialogue"], int(fields["turn"])
            if isinstance(fields["turn"], float) and turn != fields["turn"]:
                raise ValueError(fields["turn"])
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
