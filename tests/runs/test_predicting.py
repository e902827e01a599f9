"""What a run that tags says of texts and of whole splits."""

import json
import pathlib

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError
from tests import traces
from tests.system import tagging

TEXT = " The\tEU rejects  lamb"
TOKENS = ["The", "EU", "rejects", "lamb"]


@pytest.fixture(scope="module")
def run(tagging_run):
    return mtl_tf.load(tagging_run)


@pytest.mark.extended
def test_a_text_is_split_and_tagged(run):
    (answer,) = run.predict("chunks", [TEXT])
    assert list(answer) == ["task", "tokens", "tags", "offsets", "confidence"]
    assert answer["tokens"] == TOKENS
    assert [TEXT[a:b] for a, b in answer["offsets"]] == TOKENS
    labels = run.tasks[run.task_index("chunks")]["labels"]
    assert len(answer["tags"]) == 4 and set(answer["tags"]) <= set(labels)
    assert all(0 < c <= 1 for c in answer["confidence"])
    (words,) = run.predict("words", [TEXT])
    assert set(words["tags"]) <= {"DT", "NNP", "VBZ", "JJ", "NN"}
    assert json.loads(json.dumps(answer)) == answer


@pytest.mark.extended
def test_given_tokens_are_not_split(run):
    texts = [TEXT, TOKENS, ["The EU", "é"], [], tuple(TOKENS)]
    raw, given, odd, empty, again = run.predict("chunks", texts)
    assert "offsets" not in given
    assert (given["tokens"], given["tags"]) == (raw["tokens"], raw["tags"])
    np.testing.assert_allclose(given["confidence"], raw["confidence"], 1e-5)
    assert odd["tokens"] == ["The EU", "é"] and len(odd["tags"]) == 2
    assert empty["tokens"] == empty["tags"] == empty["confidence"] == []
    assert again["tags"] == given["tags"] and "offsets" not in again


@pytest.mark.extended
def test_words_keep_their_case_and_their_places_in_any_text(run):
    odd = ["", " \n", "é 🎉x\x00 \u3000y", "\ufeffa \udcff", "EU " * 5000]
    for text, answer in zip(odd, run.predict("words", odd)):
        assert len(answer["tokens"]) == len(answer["tags"])
        places = [text[a:b] for a, b in answer["offsets"]]
        assert places == [t.replace("?", "\udcff") for t in answer["tokens"]]
    assert answer["tokens"] == ["EU"] * tagging.MAX_LENGTH
    small, large = run.predict("words", ["eu", "EU"])
    # The ids are the same; casing and characters are not.
    assert small["confidence"] != large["confidence"]


@pytest.mark.extended
def test_tagging_again_traces_nothing(tagging_run):
    run = mtl_tf.load(tagging_run)
    for text in ("EU", TEXT, TOKENS):
        run.predict("chunks", [text])
    with traces.counted() as later:
        for text in ("EU rejects", " ".join(TOKENS * 2), TOKENS[:2]):
            run.predict("chunks", [text])
    assert not later


@pytest.mark.extended
def test_no_company_changes_an_answer(run):
    texts = ["EU sleeps", "", TEXT, "x y z"]
    together = run.predict("chunks", texts, batch_size=3)
    for text, answer in zip(texts, together):
        (alone,) = run.predict("chunks", [text])
        assert alone["tags"] == answer["tags"]
        np.testing.assert_allclose(
            alone["confidence"], answer["confidence"], atol=1e-6
        )


def test_wrong_texts(run):
    assert run.predict("chunks", []) == []
    assert run.predict("mood", ["EU sleeps"])[0]["label"] in ("good", "bad")
    for task, text, message in (
        ("mood", ["EU"], "the task mood reads whole texts"),
        ("mood", {"txt": "EU"}, "reads text: there is no 'text' among"),
        ("chunks", 3, "must be a string or a list of strings"),
        ("chunks", ["EU", 3], "must be a string or a list of strings"),
        ("chunks", ["EU", ""], r"token 1 \(counted from 0\) .* is empty"),
    ):
        with pytest.raises(TypeError, match=message):
            run.predict(task, [text])
    with pytest.raises(ConfigError, match="did you mean 'chunks'"):
        run.predict("chunk", ["EU"])


@pytest.mark.extended
def test_evaluation_writes_predictions(run, tmp_path):
    folder = tmp_path / "new" / "predicted"
    results = run.evaluate("test", predictions_dir=str(folder))
    assert results["tasks"]["chunks"]["tokens"] == tagging.MAX_LENGTH + 4
    chunks = read_columns(folder / "chunks.conll")
    gold = [row.split()[::2] for row in tagging.TEST.splitlines()]
    assert [row[:2] for row in chunks] == gold + [[]]
    said = run.predict("chunks", [["EU", "sleeps"]])[0]["tags"]
    as_iob2 = [{"S": "B", "E": "I"}.get(t[0], t[0]) + t[1:] for t in said]
    assert [row[2] for row in chunks[:2]] == as_iob2
    # The model does not read the end of the second sentence.
    assert [row[2] for row in chunks[-3:-1]] == ["O", "O"]
    assert read_columns(folder / "words.conll")[0][:2] == ["EU", "NNP"]
    path = folder / "mood.jsonl"
    first, second = map(json.loads, path.read_text().splitlines())
    (expected,) = run.predict("mood", ["EU sleeps"])
    assert (first["text"], first["label"]) == ("EU sleeps", "good")
    assert first["prediction"] == expected["label"]
    assert second["scores"].keys() == {"good", "bad"}
    np.testing.assert_allclose(
        first["scores"]["bad"], expected["scores"]["bad"], atol=1e-6
    )


def read_columns(path: pathlib.Path):
    return [line.split() for line in path.read_text().splitlines()]
