import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.evaluation.metrics import (
    answer_metrics,
    logical_forms,
    query_results,
)
from mtl_tf.evaluation.metrics.answer_metrics import Example
from mtl_tf.evaluation.metrics.unscored import Unscored

HEADER = ["Player", "Points", "Team"]
ROWS = [
    ["Anna", 10, "Red"],
    ["Bert", "7.0", "blue"],
    ["Cleo", 7, "Red"],
    ["Dana", None, "Blue"],
]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("select player from table", ["anna", "bert", "cleo", "dana"]),
        ("select player from table where points = 7", ["bert", "cleo"]),
        ("select player from table where team = RED", ["anna", "cleo"]),
        ("select player from table where points < 9 and team = blue", ["bert"]),
        ("select player from table where points > 99", []),
        ("select count player from table where points > 99", [0]),
        ("select max points from table where points > 99", [None]),
        ("select count points from table", [3]),
        ("select avg points from table", [8]),
        ("select sum points from table", [24]),
        ("select min points from table", [7]),
        ("select max player from table", ["dana"]),
    ],
)
def test_queries_by_hand(query, found):
    form = logical_forms.parse(query, HEADER)
    assert query_results.execute(form, ROWS) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        # A value of a column of numbers is one, as in the official scorer.
        ("select town from table where crowd > 24,637", ["a", "d"]),
        ("select town from table where crowd = 1,000", ["b"]),
        ("select town from table where crowd = 1000 men", ["b"]),
        ("select town from table where crowd < about -7.5", []),
        ("select town from table where crowd < 7.5 or so", ["c"]),
        ("select count town from table where crowd > 1,2,3", [3]),
        ("select town from table where crowd > many", None),
        # A cell that is a text stays one, above all numbers.
        ("select town from table where crowd > 99999", ["d"]),
        # In a column of texts, digits are no number.
        ("select town from table where code = 007", ["a"]),
        ("select town from table where code = 7", ["b", "d"]),
        ("select town from table where code > 10", ["b", "d"]),
        ("select max code from table", ["7"]),
        ("select max crowd from table where crowd < 1e9", [24638]),
    ],
)
def test_types_of_columns(query, found):
    header, types = ["Town", "Crowd", "Code"], ["text", "real", "text"]
    rows = [
        ["A", 24638.0, "007"],
        ["B", "1000", 7],
        ["C", 5, "10"],
        ["D", "n/a", "7"],
    ]
    form = logical_forms.parse(query, header)
    assert query_results.execute(form, rows, types) == found
    scoring = {"header": header, "sel": 0, "agg": 0}
    scoring |= {"conds": [[1, 1, "24,637"]], "rows": rows, "types": types}
    reference = "select town from table where crowd > 24,637"
    for text, right in (
        ("select town from table where crowd > 24637", True),
        ("select town from table where crowd > 99999999", False),
        ("select town from table where crowd > many", False),
    ):
        assert query_results.same(text, reference, scoring) == right


@pytest.mark.parametrize("types", ["real", ["real"], [*["text"] * 2, "date"]])
def test_wrong_types_are_refused(types):
    scoring = {"header": HEADER, "sel": 0, "agg": 0, "conds": []}
    with pytest.raises(ValueError, match="types of a table's 3 columns must"):
        query_results.check({**scoring, "rows": ROWS, "types": types})


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("select player from table where points = 10", True),
        # Another query with the same result.
        ("select player from table where points > 9", True),
        ("select max points from table", False),
        ("select player from table", False),
        ("select player from", False),
        ("select player from table where player = \udc80", False),
        ("select player from table where points = 1e999", False),
    ],
)
def test_execution_accuracy(text, right):
    scoring = {"header": HEADER, "sel": 0, "agg": 0, "conds": [[1, 0, 10]]}
    reference = "select player from table where points = 10"
    example = Example((reference,), {**scoring, "rows": ROWS})
    assert answer_metrics.execution([text], [example]) == 100 * right
    for rows in ({}, {"rows": 3}, {"rows": ["ab"]}):
        with pytest.raises(Unscored, match="example 0: .*must have rows"):
            lacking = Example((reference,), {**scoring, **rows})
            answer_metrics.execution([text], [lacking])


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5),
    st.integers(0, 1),
    st.integers(0, 5),
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)),
        max_size=2,
    ),
)
@settings(max_examples=100, deadline=None)
def test_results_by_going_through_the_rows(rows, sel, agg, conds):
    kept = [
        row[sel]
        for row in rows
        if all(
            (row[c] > v) - (row[c] < v) == (0, 1, -1)[o] for c, o, v in conds
        )
    ]
    whole = {
        0: kept,
        1: [max(kept, default=None)],
        2: [min(kept, default=None)],
        3: [len(kept)],
        4: [sum(kept) if kept else None],
        5: [pytest.approx(sum(kept) / len(kept)) if kept else None],
    }
    scoring = {"header": ["a", "b"], "sel": sel, "agg": agg, "conds": conds}
    form = logical_forms.gold(scoring)
    assert query_results.execute(form, rows) == whole[agg]
