"""Tests of mtl_tf.core.names."""

import pytest

from mtl_tf.core import names
from mtl_tf.core.errors import ConfigError

SCHEMES = {"lstm": 1, "meta_lstm": 2, "hyper_lstm": 3}


def test_look_up_returns_the_value():
    assert names.look_up("meta_lstm", SCHEMES, "scheme") == 2


def test_look_up_offers_the_nearest_name():
    with pytest.raises(ConfigError) as caught:
        names.look_up("meta_lstn", SCHEMES, "scheme")
    message = str(caught.value)
    assert "unknown scheme 'meta_lstn'" in message
    assert "did you mean 'meta_lstm'" in message


def test_look_up_lists_all_names_when_none_is_near():
    with pytest.raises(ConfigError) as caught:
        names.look_up("zzzzzz", SCHEMES, "scheme")
    assert "known: hyper_lstm, lstm, meta_lstm" in str(caught.value)


def test_a_name_is_offered_once():
    said = names.hint("squadd", ["squad", "xquad", "squad"])
    assert said == "did you mean 'squad' or 'xquad'?"
    assert names.hint("zzz", ["a", "b", "a"]) == "known: a, b"


@pytest.mark.parametrize("name", [None, 3, ["lstm"], {"name": "lstm"}])
def test_look_up_refuses_what_is_no_name(name):
    with pytest.raises(ConfigError, match="unknown scheme"):
        names.look_up(name, SCHEMES, "scheme")


def test_hint_says_so_when_nothing_is_known():
    assert names.hint("books", []) == "known: none"


def test_hint_cuts_a_long_list():
    message = names.hint("zzz", [f"task{i:03d}" for i in range(50)])
    assert "task039, ..." in message
    assert "task040" not in message


def test_hint_offers_at_most_three_names():
    message = names.hint("task", [f"task{i}" for i in range(9)])
    assert message.count("'") == 6
