import pytest

from mtl_tf.text import treebank


@pytest.mark.parametrize(
    ("raw", "tokens"),
    [
        ("I didn't, really.", "I did n't , really ."),
        ("It's (so) good!", "It 's ( so ) good !"),
        ('They’ve "won\'t"', "They 've \" wo n't \""),
        ("the dogs' bones", "the dogs ' bones"),
        ("a 'quoted' word", "a ' quoted ' word"),
        ("9.5 of 1,000...ok", "9.5 of 1,000 ... ok"),
        ("It costs 9.5. In the U.S. too.", "It costs 9.5 . In the U.S. too ."),
        ("yes--no and/or x", "yes -- no and / or x"),
        ("well-drawn", "well-drawn"),
        ('He said "no."', 'He said " no . "'),
        ("", ""),
    ],
)
def test_spaces(raw, tokens):
    assert treebank.space(raw).split() == tokens.split()


@pytest.mark.parametrize(
    "text", ["he 's not afraid , i did n't . ( so )", "a film -- really ."]
)
def test_what_is_spaced_stays(text):
    assert treebank.space(text).split() == text.split()


def test_raw_and_tokenised_texts():
    assert treebank.is_raw(["A good book, really.", "Fine."])
    assert not treebank.is_raw(["a good book , really .", "it cost 9.5 ."])
    assert not treebank.is_raw([])
