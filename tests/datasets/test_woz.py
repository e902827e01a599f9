import os

import pytest

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.datasets import building
from tests.datasets.question_corpora import (
    examples,
    rows,
    sizes,
    warnings,
    write,
)

# Read before a fixture hides the environment.
REAL = os.environ.get("MTL_TF_MANUAL_DIR", "")
QUESTION = "What is the change in state?"


def turn(words, belief=(), acts=(), **others):
    state = [
        {"act": act, "slots": [[slot, value]]} for act, slot, value in belief
    ]
    return {
        "turn_label": [],
        "belief_state": state,
        "system_acts": list(acts),
        "transcript": words,
        **others,
    }


def goal(slot, value):
    return "inform", slot, value


def asked(value):
    return "request", "slot", value


def dialogue(number, *turns):
    return {"dialogue_idx": number, "dialogue": list(turns)}


THAI, WEST = goal("food", "thai"), goal("area", "west")


def build(tmp_path, *dialogues, name="woz_train_en.json"):
    manual = write(tmp_path / "m", name, list(dialogues))
    return building.prepare("woz", str(tmp_path / "d"), manual)


def test_turns_as_questions(tmp_path):
    builder = build(
        tmp_path,
        dialogue(
            7,
            turn("Thai food,  Please! ", [THAI]),
            turn(
                "In the west; and its phone?",
                [THAI, WEST, asked("phone"), asked("postcode")],
                ["area", ["price range", "cheap"]],
            ),
            turn("Address?", [THAI, WEST, asked("address")]),
            turn("Thanks.", [THAI, WEST]),
            turn("No: Greek.", [goal("food", "greek"), WEST]),
        ),
    )
    assert sizes(builder) == {"train": 5}
    assert rows(builder, "train") == [
        ("7_0", QUESTION, "Thai food, Please!", "food: thai;"),
        (
            "7_1",
            QUESTION,
            "area, price range: cheap -- In the west; and its phone?",
            "area: west; phone, postcode",
        ),
        ("7_2", QUESTION, "Address?", "; address"),
        ("7_3", QUESTION, "Thanks.", "None"),
        ("7_4", QUESTION, "No: Greek.", "food: greek;"),
    ]
    scoring = [row["scoring"] for row in examples(builder, "train")]
    assert scoring[1] == {
        "dialogue": 7,
        "turn": 1,
        "change": {"area": "west"},
        "state": {"food": "thai", "area": "west"},
        "requests": ["phone", "postcode"],
    }
    assert scoring[4]["state"] == {"food": "greek", "area": "west"}
    assert "1 dialogue with 5 turns; the released file has 600 with 2,536" in (
        warnings(builder)
    )


def test_values_are_written_one_way_and_counted(tmp_path):
    center, dear = goal("area", "center"), goal("price range", " expensive")
    builder = build(
        tmp_path,
        dialogue(
            0,
            turn("a", [center, dear]),
            turn("b", [goal("area", "centre"), dear]),
            turn("c", [goal("area", "east side"), dear]),
        ),
        dialogue(
            1,
            turn("d", [THAI, THAI, asked("phone"), asked("phone")]),
            turn(" ", []),
        ),
    )
    answers = [row[3] for row in rows(builder, "train")]
    assert answers == [
        "area: centre, price range: expensive;",
        "None",
        "area: east;",
        "food: thai; phone",
        "None",
    ]
    # What a system says that makes no mistake.
    assert examples(builder, "train")[4]["scoring"]["state"] == {"food": "thai"}
    found = warnings(builder)
    assert "1 time 'center' written as 'centre'" in found
    assert "1 time 'east side' written as 'east'" in found
    assert "3 times spaces around a value, removed" in found
    assert "1 time a goal is written twice, the last taken" in found
    assert "1 time a request is written twice" in found
    assert "1 time the user says nothing, kept" in found
    assert "1 time a goal was there before and is not any more" in found


def test_only_the_splits_whose_files_are_there(tmp_path):
    one = dialogue(0, turn("a", [THAI]))
    builder = build(tmp_path, one, name="woz/woz_validate_en.json")
    assert sizes(builder) == {"validation": 1}
    with pytest.raises(MissingData, match="has none of woz_train_en.json, woz"):
        building.prepare("woz", "", os.path.dirname(__file__))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "woz_train_en.json:1: not JSON"),
        ("{}", r"json: \$: found '{}'; it must be a list"),
        ("[]", "there are no turns"),
        (b'["\xff"]', "byte 2 is not UTF-8"),
        (
            [{"dialogue": []}],
            r"\$\[0\]: the key 'dialogue_idx' is missing.*'dialogue'",
        ),
        (
            [dialogue("1", turn("a"))],
            r"\[0\].dialogue_idx: found '\"1\"'; it must be a whole number",
        ),
        (
            [dialogue(1, turn("a")), dialogue(1, turn("a"))],
            r"\$\[1\].dialogue_idx: 1 is the number of an earlier",
        ),
        (
            [dialogue(1, turn("a"), turn(None))],
            r"\$\[0\].dialogue\[1\].transcript: found 'null'; it must be a te",
        ),
        (
            [dialogue(1, turn("a", [("deny", "food", "thai")]))],
            r"belief_state\[0\].act: found .*must be 'inform' or 'request'",
        ),
        (
            [dialogue(1, turn("a", [("inform", "food", " ")]))],
            r"slots\[0\]: found .*both not empty",
        ),
        (
            [dialogue(1, turn("a", [("inform", "food", "a;b")]))],
            r"slots\[0\]: found .*without ','",
        ),
        (
            [dialogue(1, turn("a", [], [["food", 3]]))],
            r"system_acts\[0\]\[1\]: found '3'; it must be a text",
        ),
        ([3], r"\$\[0\]: found '3'; it must be an object"),
    ],
)
def test_wrong_files_are_named_with_the_place(tmp_path, content, message):
    manual = write(tmp_path / "m", "woz_train_en.json", content)
    with pytest.raises(DataError, match=message):
        building.prepare("woz", str(tmp_path / "d"), manual)


@pytest.mark.skipif(
    not os.path.isdir(os.path.join(REAL, "woz")), reason="not there"
)
def test_the_released_files(tmp_path):
    builder = building.prepare("woz", str(tmp_path), REAL)
    assert sizes(builder) == {"train": 2536, "validation": 830, "test": 1646}
    assert "the released file has" not in warnings(builder)
    assert "not any more" not in warnings(builder)
    states = [row["scoring"]["state"] for row in examples(builder, "test")]
    slots = {slot for state in states for slot in state}
    assert slots == {"food", "area", "price range"}
    areas = {state.get("area", "") for state in states} - {""}
    sides = {"north", "east", "south", "west"}
    assert areas == sides | {"centre", "dontcare"}
