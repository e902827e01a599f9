import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.unlabelled import vector_corpus
from mtl_tf.tasks.task import Task
from tests.pipelines.texts import Texts, task

TOKENIZER = {"tokenizer": {"name": "whitespace", "lowercase": True}}


def collected(*tasks, spacing="auto", config=TOKENIZER):
    store = vector_corpus.collect(tasks, config, spacing)
    return [" ".join(words) for words in store]


def test_training_and_unlabelled_texts_but_no_tested_ones():
    assert collected(task()) == [
        "it 's good .",
        "so , so .",
        "it 's raw , too .",
    ]


def test_a_text_that_another_task_tests_is_left_out():
    other = task("dvd", test=["It's RAW -- too!"])
    assert "it 's raw , too ." not in collected(task(), other)


def test_what_is_left_out_is_said_to_be_unlabelled(caplog):
    """Training texts that another split repeats are learnt from."""
    caplog.set_level("INFO", logger="absl")
    texts = {"train": ["a b"], "unlabelled": ["a b", "c"], "test": ["a b"]}
    assert collected(task(**texts)) == ["a b", "c"]
    assert "1 training and 1 unlabelled texts; 1 unlabelled ones" in caplog.text


def test_spacing():
    assert collected(task(), spacing="none")[-1] == "it's raw, too."
    tokenised = task(unlabelled=["it's , so ."])
    assert collected(tokenised)[-1] == "it's , so ."
    assert collected(tokenised, spacing="treebank")[-1] == "it 's , so ."
    raw = task(train=["It's good, so."])
    assert collected(raw)[-1] == "it's raw, too."


def test_tasks_without_some_splits():
    source = Texts(train=["a b"])
    bare = Task(
        "mails", "classification", source, ("a", "b"), splits={"train": "train"}
    )
    assert collected(bare) == ["a b"]
    assert source.read == ["train"]


def test_words_without_their_carried_spaces():
    config = {"tokenizer": {"name": "reversible", "lowercase": False}}
    texts = collected(
        task(train=["Don't  go\\now"], unlabelled=["x"]), config=config
    )
    # The double space would be a word that no file can hold.
    assert texts[0].split() == ["Don", "'", "t", "go", "\\", "now"]


def test_bytes_that_are_not_utf8():
    assert (
        collected(task(train=[b"caf\xe9 ."], unlabelled=["x"]))[0]
        == "caf\ufffd ."
    )


def test_nothing_to_learn_from():
    with pytest.raises(ConfigError, match="no text to learn from"):
        collected(task(train=[""], unlabelled=[" "]))
    with pytest.raises(ConfigError, match="did you mean 'treebank'"):
        collected(task(), spacing="treebanks")
