"""How the starter reads texts."""

import pytest
import tensorflow as tf

from mtl_tf.configs import starter
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer


@pytest.mark.parametrize("kind", ["texts", "question_answering"])
def test_starters_read_scripts_without_spaces_by_characters(kind):
    config = starter.get_config(kind)
    tokenizer = make_tokenizer(config.text.tokenizer.to_dict())
    assert tokenizer(tf.constant(["我喜欢"])).row_lengths().numpy() == [3]
    assert config.model.wide.join_characters == (kind == "texts")
