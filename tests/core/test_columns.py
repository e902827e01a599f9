"""Columns of rows, of JSON also keys inside objects."""

import pandas as pd
import pytest

from mtl_tf.core.columns import (
    column_value,
    has_column,
    index_advice,
    keys_beside,
    renamed,
)

ROW = {
    "text": "a",
    "translation": {"en": "tea", "de": {"du": "Tee"}},
    "a.b": {"c": 1, "d.e": 2},
    "a": {"b": {"c": 3, "f": 4}, "b.g": 5},
    "list": [{"x": 1}],
    "": {"": 6},
}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("text", "a"),
        ("translation.en", "tea"),
        ("translation.de.du", "Tee"),
        ("translation.de", {"du": "Tee"}),
        # Keys that hold dots themselves come first.
        ("a.b", {"c": 1, "d.e": 2}),
        ("a.b.c", 1),
        ("a.b.d.e", 2),
        ("a.b.f", 4),
        ("a.b.g", 5),
        ("", {"": 6}),
    ],
)
def test_a_column_is_a_key_or_one_inside_objects(column, value):
    assert has_column(ROW, column)
    assert column_value(ROW, column) == value


@pytest.mark.parametrize(
    ("column", "advice"),
    [
        ("translation.fr", "the keys in 'translation' are 'en', 'de'"),
        ("translation.de.", "the keys in 'translation.de' are 'du'"),
        ("translation.en.us", "'translation.en' is no object, but 'tea'"),
        ("text.x", "'text' is no object, but 'a'"),
        ("list.0", "'list' is no object, but [{'x': 1}]"),
        (
            "translatoin.en",
            "did you mean 'translation.en' or 'translation.de.du'?",
        ),
        ("txt", "did you mean 'text'?"),
    ],
)
def test_what_there_is_in_place_of_a_column(column, advice):
    assert not has_column(ROW, column)
    assert keys_beside(ROW, column) == advice
    with pytest.raises(KeyError):
        column_value(ROW, column)


def test_all_columns_where_none_is_alike():
    row = {"id": 1, "meta": {"label": "x"}, "more": {}}
    assert keys_beside(row, "text") == "known: id, meta.label, more"
    assert keys_beside({"meta": {}}, "meta.x") == "the keys in 'meta' are none"


def test_a_row_whose_columns_are_renamed():
    columns = {"text": "translation.en", "id": "a.b.c"}
    assert renamed(ROW, columns) == ROW | {"text": "tea", "id": 1}
    assert renamed({"a": 1, "b": 2}, {"b": "a"}) == {"b": 1}


@pytest.mark.parametrize(
    ("index", "columns", "names", "advice"),
    [
        ("text", {"label": ["x"]}, [["text"]], "'text' is the index of the"),
        ("said", {"a": ["x"]}, [["text", "said"]], "'said' is the index of"),
        (None, {"a": ["x"]}, [["text"]], "reset_index(names='text') makes it"),
        ("text", {"text": ["x"]}, [["text"]], ""),
        ("text", {"said": ["x"]}, [["text", "said"]], ""),
        ("a.b", {"a": [{"b": "x"}]}, [["a.b"]], ""),
        ("id", {"a": ["x"]}, [["text"]], ""),
        # Which of the two it is cannot be told.
        (None, {"a": ["x"]}, [["text"], ["text_pair"]], ""),
    ],
)
def test_an_index_that_holds_a_column(index, columns, names, advice):
    frame = pd.DataFrame(columns, index=pd.Index(["i"], name=index))
    found = index_advice(frame, names)
    assert advice in found and bool(advice) == bool(found)


def test_no_index_is_told_of_where_there_is_none():
    counted = pd.DataFrame({"a": ["x"]})
    for given in (counted, ["x"], ("x",), pd.Series(["x"]), None):
        assert index_advice(given, [["text"]]) == ""
