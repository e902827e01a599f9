"""Turns of WOZ 2.0 as questions about the change of the dialogue's state.

Context and answer have the form of the code of McCann et al. (2018). The
context is what the system did, ` -- ` and the user's words. The answer is the
goals that changed, `;` and the requests, or `None`.
"""

import collections

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.json_values import JsonValue
from mtl_tf.datasets.lines import count, short
from mtl_tf.datasets.question_answers import QuestionAnswer

QUESTION = "What is the change in state?"
NO_CHANGE = "None"

# Values with another spelling in the corpus's ontology.
_SPELLINGS = {
    ("area", "center"): "centre",
    ("food", "corsican"): "corsica",
    **{
        ("area", f"{side} side"): side
        for side in ("north", "east", "south", "west")
    },
}


class Turns:
    """The turns of one file.

    Args:
        root: the whole file.
        name: the file's name, for warnings.

    Attributes:
        rows: one example per turn, in the order of the file.
        dialogues: the number of dialogues.
        warnings: warnings with counts.

    Raises:
        DataError: the file differs from the released form.
    """

    def __init__(self, root: JsonValue, name: str):
        self._odd: collections.Counter[str] = collections.Counter()
        self.rows: list[QuestionAnswer] = []
        seen: set[int] = set()
        for dialogue in root.check(list).items(dict):
            number = dialogue.get("dialogue_idx", int).value
            if number in seen:
                raise DataError(
                    f"{dialogue.location}.dialogue_idx: {number} is the number "
                    "of an earlier dialogue, too; each needs its own"
                )
            seen.add(number)
            self._read(number, dialogue.get("dialogue", list))
        if not self.rows:
            raise DataError(f"{root.location}: there are no turns")
        self.dialogues = len(seen)
        self.warnings = [
            f"{name}: {count(number, 'time')} {oddity}"
            for oddity, number in sorted(self._odd.items())
        ]

    def _read(self, dialogue: int, turns: JsonValue) -> None:
        accumulated: dict[str, str] = {}
        before: dict[str, str] = {}
        for number, turn in enumerate(turns.items(dict)):
            goals, requests = self._state(turn.get("belief_state", list))
            change = {
                slot: value
                for slot, value in goals.items()
                if before.get(slot) != value
            }
            accumulated.update(change)
            if accumulated.keys() - goals.keys():
                self._odd["a goal was there before and is not any more"] += 1
            before = goals
            self.rows.append(
                QuestionAnswer(
                    QUESTION,
                    self._context(turn),
                    (_write(change, requests),),
                    f"{dialogue}_{number}",
                    {
                        "dialogue": dialogue,
                        "turn": number,
                        "change": change,
                        "state": dict(accumulated),
                        "requests": requests,
                    },
                )
            )

    def _context(self, turn: JsonValue) -> str:
        acts = []
        for act in turn.get("system_acts", list).items():
            words_of_act = act.items() if isinstance(act.value, list) else [act]
            acts.append(
                ": ".join(part.check(str).value for part in words_of_act)
            )
        words = turn.get("transcript", str).value
        if not words.strip():
            self._odd["the user says nothing, kept"] += 1
        parts = [", ".join(acts), words] if acts else [words]
        return " ".join(" -- ".join(parts).split())

    def _state(self, belief: JsonValue) -> tuple[dict[str, str], list[str]]:
        """The goals so far, and the requests of this turn."""
        goals: dict[str, str] = {}
        requests: list[str] = []
        for item in belief.items(dict):
            act = item.get("act", str)
            if act.value not in ("inform", "request"):
                raise act.wrong("'inform' or 'request'")
            for pair in item.get("slots", list).items(list):
                slot, value = self._pair(pair)
                if act.value == "request":
                    if value in requests:
                        self._odd["a request is written twice, once taken"] += 1
                    else:
                        requests.append(value)
                    continue
                if slot in goals:
                    self._odd["a goal is written twice, the last taken"] += 1
                goals[slot] = value
        return goals, requests

    def _pair(self, pair: JsonValue) -> tuple[str, str]:
        texts = [part.value for part in pair.items(str)]
        if len(texts) != 2:
            raise pair.wrong("a slot and its value")
        slot, value = (" ".join(text.split()) for text in texts)
        if not slot or not value:
            raise pair.wrong("a slot and its value, both not empty")
        if any(mark in text for text in (slot, value) for mark in ",:;"):
            raise pair.wrong(
                "without ',', ':' and ';', which part the answer's values"
            )
        if [slot, value] != texts:
            self._odd["spaces around a value, removed"] += 1
        spelled = _SPELLINGS.get((slot, value.lower()), value)
        if spelled != value:
            self._odd[f"{short(value)} written as {short(spelled)}"] += 1
        return slot, spelled


def _write(change: dict[str, str], requests: list[str]) -> str:
    if not change and not requests:
        return NO_CHANGE
    goals = ", ".join(f"{slot}: {value}" for slot, value in change.items())
    return f"{goals}; {', '.join(requests)}".strip()
