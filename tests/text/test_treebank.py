import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.text.tokenizers import treebank
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer


def space(text):
    [found] = treebank.space(tf.constant([text])).numpy()
    return found.decode()


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
        ("u.s.a. a.b. no.", "u.s.a. a.b. no ."),
        ("a. b. c.", "a . b . c ."),
        ("1,2,3,x", "1,2,3 , x"),
        ('He said "no."', 'He said " no . "'),
        ("", ""),
    ],
)
def test_spaces(raw, tokens):
    assert space(raw).split() == tokens.split()


@pytest.mark.parametrize(
    "text", ["he 's not afraid , i did n't . ( so )", "a film -- really ."]
)
def test_what_is_spaced_stays(text):
    assert space(text).split() == text.split()


def test_the_tokenizer_gives_raw_texts_the_tokens_of_a_treebank():
    tokenizer = make_tokenizer({"name": "treebank", "lowercase": True})
    texts = ["I didn't (Really) GO.", "i did n't ( really ) go ."]
    one, other = tokenizer(tf.constant(texts)).to_list()
    assert one == other and b"".join(one) == b"ididn't(really)go."
    with pytest.raises(ConfigError, match="need the whitespace or the regex"):
        tokenizer.check_words()


def test_raw_and_tokenised_texts():
    assert treebank.is_raw(["A good book, really.", "Fine."])
    assert not treebank.is_raw(["a good book , really .", "it cost 9.5 ."])
    assert not treebank.is_raw([])
