import random
import re
import unicodedata

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer

UNTRAINED = ["whitespace", "treebank", "regex", "reversible"]
REVERSIBLE = {"name": "reversible"}
PLAIN = {"name": "reversible", "plain_words": True}
SPLIT = {**REVERSIBLE, "split_unspaced": True}
SPLIT_PLAIN = {**PLAIN, "split_unspaced": True}
KINDS_OF_REVERSIBLE = [REVERSIBLE, PLAIN, SPLIT, SPLIT_PLAIN]
AWKWARD = (
    "a b.,'\"-_\\n\\\\\\s\\_\\oov\\pad▁ \t\n\r\v\f\x00\x01\x1f\x7f\x85\xa0\xff"
    "éÉßİ中文アกn\u0301\u200d\u2028\u2029\u3000\ufeff\uffff\ufffd😀👩🏽"
)


def tokens_of(config, *texts):
    rows = make_tokenizer(config)(tf.constant(texts)).to_list()
    return [[token.decode() for token in row] for row in rows]


def restored(config, texts):
    tokenizer = make_tokenizer(config)
    return tokenizer.detokenize(tokenizer(tf.constant(texts))).numpy().tolist()


def random_texts(count, seed):
    rng = random.Random(seed)
    for _ in range(count):
        yield "".join(rng.choices(AWKWARD, k=rng.randrange(25)))


def test_whitespace_splits_at_ascii_white_space_only():
    assert tokens_of({"name": "whitespace"}, " a\tb \n\r\v\fc\x85d  ", "") == [
        ["a", "b", "c\x85d"],
        [],
    ]


def test_lowercase_knows_letters_beyond_ascii():
    config = {"name": "whitespace", "lowercase": True}
    assert tokens_of(config, "ÉCOLE Straße ДА") == [["école", "straße", "да"]]


def test_regex_takes_words_and_symbols_by_default():
    assert tokens_of({"name": "regex"}, "Don't, l’été_2  go!!") == [
        ["Don't", ",", "l’été_2", "go", "!", "!"]
    ]


def test_regex_takes_characters_of_scripts_without_spaces():
    texts = [
        "abc我喜欢3本书，很好。",
        "コーヒー DVDの店",
        "ฉันรัก a",
        "한국어 문장",
    ]
    assert tokens_of({"name": "regex"}, *texts) == [
        ["abc", *"我喜欢3本书，很好。"],
        [*"コーヒー", "DVD", *"の店"],
        [*"ฉันรัก", "a"],
        ["한국어", "문장"],
    ]
    words, starts, ends = make_tokenizer({"name": "regex"}).locate([texts[0]])
    assert words.to_list()[0][1].decode() == texts[0][3:4]
    assert (starts.to_list()[0][:3], ends[0, 2]) == ([0, 3, 4], 5)


@pytest.mark.extended
def test_regex_takes_other_characters_as_it_did_before_it_knew_scripts():
    letters, spaces = r"\pL\pM\pN_", r"\t\n\v\f\r \x{85}\pZ"
    words = f"[{letters}]+(?:['’][{letters}]+)*"
    before = {"name": "regex", "pattern": f"{words}|[^{letters}{spaces}]"}
    scripts = "CJK|IDEOGRAPH|KANGXI|HANGZHOU|HIRAGANA|HENTAIGANA|KATAKANA"
    scripts += "|CHINESE|VIETNAMESE|THAI|LAO |KHMER|MYANMAR"
    texts = [
        f"a{c}b {c}{c}'{c}"
        for c in map(chr, range(1, 0x30000))
        if unicodedata.category(c) not in ("Cn", "Cs")
        and not re.search(scripts, unicodedata.name(c, ""))
    ]
    assert len(texts) > 40_000
    for text, new, old in zip(
        texts, tokens_of({"name": "regex"}, *texts), tokens_of(before, *texts)
    ):
        assert new == old, text


def test_regex_drops_what_no_match_covers():
    config = {"name": "regex", "pattern": r"(\d)+|x\sy"}
    assert tokens_of(config, "12ab3x\ny", "", "ab") == [
        ["12", "3", "x\\ny"],
        [],
        [],
    ]


@pytest.mark.parametrize("pattern", ["(", "[", "a*", "", "(?=a)", 3])
def test_regex_refuses_bad_patterns(pattern):
    with pytest.raises(ConfigError, match="tokenizer.pattern") as error:
        make_tokenizer({"name": "regex", "pattern": pattern})
    assert repr(pattern) in str(error.value)


def test_reversible_tokens_carry_their_spaces():
    assert tokens_of(REVERSIBLE, 'Don\'t go.\nNow "x"  y ') == [
        ["▁Don", "'", "t▁", "▁go", ".▁", "\\n", "▁Now▁"]
        + ['▁"', "x", '"▁', "\\s\\s", "▁y▁", "\\s"]
    ]


def test_a_word_between_spaces_is_one_token_wherever_it_stands():
    (tokens,) = tokens_of(REVERSIBLE, "the the\tthe  the")
    assert [token for token in tokens if "the" in token] == ["▁the▁"] * 4


def test_reversible_writes_special_characters_readably():
    (tokens,) = tokens_of(REVERSIBLE, "▁ \\pad \\\\ \r")
    assert tokens == ["▁\\_▁", "▁\\\\", "pad▁", "▁\\\\", "\\\\▁", "\\s\\r"]


@pytest.mark.parametrize(
    "text",
    ["", " ", "  ", "\n", "\r\n", "\t\t", "a", " a ", "a\n\nb", "a  b   c"]
    + [
        "a\x85b",
        "a \x85 b",
        "😀😀 👩🏽\u200d🚀",
        "\\",
        "\\n",
        "\\\\n",
        "▁",
        "▁▁ ▁",
    ]
    + ["\\_", "\\s \\r", "\ufeffx", "\x00", "a\x00\x01b", "\\▁b", "▁u▁b"],
)
def test_reversible_restores(text):
    for config in KINDS_OF_REVERSIBLE:
        assert restored(config, [text]) == [text.encode()]


@pytest.mark.parametrize("config", KINDS_OF_REVERSIBLE)
def test_reversible_restores_random_texts(config):
    texts = list(random_texts(4000, seed=1))
    for text, again in zip(texts, restored(config, texts)):
        assert again.decode() == text


@pytest.mark.extended
@pytest.mark.parametrize("config", KINDS_OF_REVERSIBLE)
def test_reversible_restores_every_character_between_others(config):
    texts = [
        f"a{c}b {c} {c}{c}" + "x" + c
        for c in map(chr, range(0x11000))
        if not 0xD800 <= ord(c) < 0xE000
    ]
    assert restored(config, texts) == [text.encode() for text in texts]


def test_a_plain_word_is_one_token_beside_anything():
    (tokens,) = tokens_of(PLAIN, "the the\tthe, (the) the!")
    assert tokens == ["the", "the", "\t", "the", ",▁", "▁(", "the"] + [
        ")▁",
        "the",
        "!▁",
    ]
    (tokens,) = tokens_of(PLAIN, "Don't go.\nNow")
    assert tokens == ["Don", "'", "t", "go", ".▁", "\\n", "Now"]
    tokenizer = make_tokenizer(PLAIN)
    alone = tokenizer.alone(tf.constant(["the", "!"])).numpy().tolist()
    assert alone == [b"the", "▁!▁".encode()]


def test_plain_words_that_a_model_puts_together_make_a_text():
    written = [["the", "the", ",▁", "n", "\\n", "n", "(", ")", "▁!▁", "x"], []]
    tokens = tf.ragged.constant(written, tf.string)
    found = make_tokenizer(PLAIN).detokenize(tokens).numpy().tolist()
    assert found == [b"the the, n\nn()! x", b""]


def test_characters_of_scripts_without_spaces_are_the_same_wherever_copied():
    (tokens,) = tokens_of(SPLIT_PLAIN, "我喜欢GPU 云 书.")
    assert tokens == [*"我喜欢", "GPU", "▁云▁", "▁书", ".▁"]
    assert tokens_of(SPLIT_PLAIN, "喜欢") == [["喜", "欢"]]
    tokenizer = make_tokenizer(SPLIT_PLAIN)
    alone = tokenizer.alone(tf.constant(["欢", "the"])).numpy().tolist()
    assert alone == ["欢".encode(), b"the"]
    assert tokens_of(PLAIN, "我喜欢 书") == [["我喜欢", "书"]]


def test_reversible_with_lowercase_restores_the_lowercased_text():
    config = {**REVERSIBLE, "lowercase": True}
    assert restored(config, ["  Ä b\nC"]) == ["  ä b\nc".encode()]


@pytest.mark.parametrize("name", UNTRAINED)
def test_lowercase_does_not_cut_a_text_at_nul(name):
    config = {"name": name, "lowercase": True}
    assert tokens_of(config, "A \x00 B")[0][-1].strip("▁") == "b"


@pytest.mark.parametrize("name", UNTRAINED)
def test_simple_texts_are_restored_by_all(name):
    assert restored({"name": name}, ["a good book", ""]) == [
        b"a good book",
        b"",
    ]


@pytest.mark.parametrize("name", UNTRAINED)
def test_written_tokens_are_lines_and_host_and_graph_agree(name):
    tokenizer = make_tokenizer({"name": name})
    texts = list(random_texts(300, seed=2))
    for token in tokenizer(tf.constant(texts)).flat_values.numpy():
        token = token.decode()
        assert token and not set(token) & set("\n\r ")
        core = token.strip("▁")
        assert escaping.write(escaping.read(core)) == core


@pytest.mark.parametrize("name", UNTRAINED)
@pytest.mark.parametrize("lowercase", [False, True])
def test_undecodable_bytes_become_u_fffd_in_a_graph(name, lowercase):
    tokenizer = make_tokenizer({"name": name, "lowercase": lowercase})
    run = tf.function(
        tokenizer, input_signature=[tf.TensorSpec([None], "string")]
    )
    texts = [b"a \xff\xfe b", b"\xc3", b"\xed\xa0\x80 c", bytes(range(256))]
    for row in run(tf.constant(texts)).to_list():
        joined = b"".join(row).decode()
        assert "\ufffd" in joined


@pytest.mark.parametrize("name", UNTRAINED)
def test_empty_batch(name):
    tokenizer = make_tokenizer({"name": name})
    tokens = tokenizer(tf.constant([], tf.string))
    assert tokens.shape[0] == 0
    assert tokenizer.detokenize(tokens).shape == [0]


@pytest.mark.parametrize("name", UNTRAINED)
def test_a_text_of_100000_tokens(name):
    (row,) = tokens_of({"name": name}, "word " * 99_999 + "word")
    assert len(row) == 100_000


@pytest.mark.parametrize(
    "config",
    [
        {"name": "whitespace", "lowercase": True},
        {"name": "regex", "lowercase": False, "pattern": r"\w+"},
        {"name": "reversible", "lowercase": False},
        {"name": "reversible", "lowercase": True, "plain_words": True},
        {"name": "reversible", "lowercase": True, "split_unspaced": True},
    ],
)
def test_config_round_trip(config):
    assert make_tokenizer(config).get_config() == config


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"name": "revesible"}, "did you mean 'reversible'"),
        ({}, "unknown tokenizer None"),
        ({"name": "regex", "patern": "a"}, "did you mean 'pattern'"),
        ({"name": "whitespace", "pattern": "a"}, "no option 'pattern'"),
        ({"name": "whitespace", "lowercase": 1}, "True or False, got 1"),
    ],
)
def test_wrong_configs(config, message):
    with pytest.raises(ConfigError, match=message):
        make_tokenizer(config)


@pytest.mark.parametrize(
    ("token", "text", "word"),
    [
        ("▁the▁", " the ", "the"),
        ("\\\\n", "\\n", "\\n"),
        ("\\n", "\n", "\n"),
        ("▁\\_", " ▁", "▁"),
        ("\\pad", "\\pad", "\\pad"),
    ],
)
def test_read_and_surface(token, text, word):
    assert escaping.read(token) == text
    assert escaping.surface(token) == word
