import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.evaluation.metrics import answer_metrics, dialogue_state
from mtl_tf.evaluation.metrics.answer_metrics import Example
from mtl_tf.evaluation.metrics.unscored import Unscored


@pytest.mark.parametrize(
    ("text", "goals", "requests"),
    [
        ("food: Eritrean", {"food": "eritrean"}, set()),
        (
            "food: thai, price range: Cheap; phone, address",
            {"food": "thai", "price range": "cheap"},
            {"phone", "address"},
        ),
        ("; phone", {}, {"phone"}),
        ("food: thai;", {"food": "thai"}, set()),
        ("food:thai ;phone", {"food": "thai"}, {"phone"}),
        ("", {}, set()),
        (";", {}, set()),
        (" None ", {}, set()),
        ("time: 12:30", {"time": "12:30"}, set()),
        # The last of two holds; repeated requests are one.
        ("food: thai, food: greek; a, a", {"food": "greek"}, {"a"}),
        # What is no goal changes nothing.
        ("phone, : thai, food: thai", {"food": "thai"}, set()),
        ("food:", {"food": ""}, set()),
        ("food: café “x”", {"food": "café “x”"}, set()),
        ("a: b; c; d", {"a": "b"}, {"c; d"}),
    ],
)
def test_written_changes_are_read(text, goals, requests):
    assert dialogue_state.parse(text) == (goals, requests)


# dialogue, turn, prediction, reference, right goals, requests and change
TURNS = [
    ("one", 0, "food: thai", "food: thai", 1, 1, 1),
    # A wrong goal stays wrong ...
    ("one", 1, "area: north", "area: south", 0, 1, 0),
    ("one", 2, "; phone", ";phone", 0, 1, 1),
    # ... until it is set again.
    ("one", 3, "area: south", "area: south, food: thai", 1, 1, 0),
    ("one", 10, "food: greek; phone", "food: greek", 1, 0, 1),
    # Goals of other dialogues do not count here.
    ("two", 0, "", "", 1, 1, 1),
    ("two", 1, "", "; address", 1, 0, 1),
    # A goal too early is wrong until it is due.
    ("three", 1, "food: thai", "none", 0, 1, 0),
    ("three", 2, "", "food: thai", 1, 1, 0),
]


def example(turn):
    return Example((turn[3],), {"dialogue": turn[0], "turn": turn[1]})


@pytest.mark.parametrize("seed", range(4))
def test_states_add_up_whatever_the_order_of_turns(seed):
    turns = list(TURNS)
    random.Random(seed).shuffle(turns)
    said, given_examples = [t[2] for t in turns], [example(t) for t in turns]
    for place, name in enumerate(("dsem", "request_em", "turn_em")):
        metric = answer_metrics.get(name)
        wanted = np.array([[t[4 + place]] for t in turns], float)
        found = metric.statistics(said, given_examples)
        np.testing.assert_array_equal(found, wanted)
        score = metric(said, given_examples)
        assert score == pytest.approx(100 * wanted.mean())


SLOTS = st.dictionaries(st.sampled_from("abc"), st.sampled_from("xy"))


@given(st.lists(st.tuples(SLOTS, SLOTS), min_size=1, max_size=6), st.randoms())
@settings(max_examples=100, deadline=None)
def test_states_by_the_last_change_of_each_slot(changes, rng):
    def text(goals):
        return ", ".join(f"{slot}: {value}" for slot, value in goals.items())

    def last(side, turn, slot):
        values = [c[side][slot] for c in changes[: turn + 1] if slot in c[side]]
        return values[-1] if values else None

    wanted = [
        all(last(0, turn, slot) == last(1, turn, slot) for slot in "abc")
        for turn in range(len(changes))
    ]
    order = list(range(len(changes)))
    rng.shuffle(order)
    right = dialogue_state.right_turns(
        [text(changes[turn][0]) for turn in order],
        [text(changes[turn][1]) for turn in order],
        [{"dialogue": 7, "turn": turn} for turn in order],
    )
    assert right[:, 0].tolist() == [wanted[turn] for turn in order]


def test_turns_without_a_place_are_refused():
    for scoring in (
        {},
        {"turn": 0},
        {"dialogue": 1, "turn": "x"},
        {"dialogue": 1, "turn": float("inf")},
        {"dialogue": 1, "turn": 1.7},
        {"dialogue": [1], "turn": 0},
    ):
        wrong = "example 0: scoring must have dialogue, .*and turn"
        with pytest.raises(Unscored, match=wrong):
            dialogue_state.right_turns([""], [""], [scoring])
    place = {"dialogue": "d", "turn": 3}
    wrong = "example 1: .*turn 3 of dialogue 'd', as that of example 0"
    with pytest.raises(Unscored, match=wrong):
        dialogue_state.right_turns(["", ""], ["", ""], [place, place])
