"""Tokenizers of the user's own."""

import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer

CODE = """
import tensorflow as tf
from mtl_tf.text.own_tokenizer import OwnTokenizer

class Letters(OwnTokenizer):
    def __init__(self, lowercase=False, join="", **options):
        super().__init__(lowercase)
        self.join = join

    def split(self, texts):
        return tf.strings.unicode_split(texts, "UTF-8")

    def get_config(self):
        return {**super().get_config(), "join": self.join}

class Forgets(Letters):
    def get_config(self):
        return {"name": self.name, "lowercase": self.lowercase}

class Fixed(Letters):
    def __init__(self, join=""):
        super().__init__(join=join)

class Splitless(OwnTokenizer):
    pass

class Dense(OwnTokenizer):
    def split(self, texts):
        return texts

class Eager(OwnTokenizer):
    def split(self, texts):
        return tf.ragged.constant([t.split() for t in texts.numpy()])
"""


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    return f"{tmp_path}/mine.py"


def test_its_tokens_are_written_and_its_config_makes_it_again(path):
    tokenizer = make_tokenizer({"name": "mine.py:Letters", "lowercase": True})
    expected = [[b"a", b"\\s", "ä".encode()], []]
    assert tokenizer(tf.constant(["A Ä", ""])).to_list() == expected
    config = tokenizer.get_config()
    assert config == {"name": f"{path}:Letters", "lowercase": True, "join": ""}
    again = make_tokenizer(config)
    assert again(tf.constant(["A Ä", ""])).to_list() == expected
    with pytest.raises(ConfigError, match="need the whitespace or the regex"):
        again.check_words()


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"name": "mine.py:Letters", "joint": 1}, "no option 'joint'; did you"),
        ({"name": "mine.py:Forgets", "join": "x"}, "must return join, too"),
        ({"name": "mine.py:Fixed"}, "must take lowercase beside its options"),
        ({"name": "mine.py:Splitless"}, r"has no split\(texts\)"),
        ({"name": "mine.py:Dense"}, "must return a ragged tensor of strings"),
        ({"name": "mine.py:Eager"}, "fails in a graph: .*mine.py:3[0-9]: in "),
        ({"name": "mine.py:tf"}, "mine.py:tf is no class"),
    ],
)
def test_wrong_ones(path, config, message):
    with pytest.raises(ConfigError, match=message):
        make_tokenizer(config)
