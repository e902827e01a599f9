"""Exports of runs that translate; none of them is trained."""

import json
import os

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

import mtl_tf
from export import (
    c_loader_process,
    check,
    saved_model,
    serving,
    task_types,
    warmup,
    writing,
)
from mtl_tf.text.vocabulary import Vocabulary
from tests.core import strict
from tests.system import random_runs, toy_languages

SIZES = {"train": 40, "validation": 4, "test": 4}
LONG = "w5 w1 w2 nobody's " * 250
TEXTS = ["w1 w2 w3", "", "a  stränger w3\t🎉", LONG, "w4 " * 12]
# More than are translated at once.
MANY = [" ".join(["w3", "x", "w7"][: n % 4]) for n in range(70)]
PAIRS = ["xx-aa", "xx-cc"]
# What an export is told, in place of what the run's config says.
CHANGES = {
    "words": {"beam": 3, "n_best": 2, "length_penalty": 0.6},
    "subwords": {"alignments": True},
}
# Texts end, and some of their words are unknown.
FAVOURED = {Vocabulary.EOS: 5.0, Vocabulary.OOV: 6.0}
TOKENIZERS = {
    "words": {"name": "whitespace", "lowercase": True},
    "subwords": {"name": "sentencepiece", "lowercase": False},
}


@pytest.fixture(
    scope="module",
    params=[
        # docs/translate.md, which CI runs, exports and checks, too.
        pytest.param("words", marks=pytest.mark.slow),
        pytest.param("subwords", marks=pytest.mark.slow),
    ],
)
def exported(request, tmp_path_factory):
    """A run of two pairs, what was changed, and its version directory."""
    folder = tmp_path_factory.mktemp(request.param)
    config = toy_languages.make_config(
        toy_languages.write(str(folder), 1, SIZES)[::2], units=8
    )
    config["text"] |= {
        "tokenizer": TOKENIZERS[request.param],
        "max_size": 40,
        "min_count": 8 if request.param == "words" else 1,
    }
    config["evaluation"]["decoding"] = {"beam": 2, "replace_unknown": True}
    directory, _ = random_runs.write_weights(folder / "run", config, FAVOURED)
    changes = CHANGES[request.param]
    run = mtl_tf.load(directory.path, changes)
    return run, changes, saved_model.export(run, str(folder / "export"))


@pytest.mark.parametrize("count", [1, 2])
def test_a_row_has_only_what_the_search_found(count):
    scores = [-1.0, -2.0, float("-inf")]
    row = task_types.of("translation").row(
        {
            **{"translation": "ein Hut", "score": -1.0},
            "translations": ["ein Hut", "Hut", ""],
            "scores": scores[:count] + scores[-1:] * (3 - count),
        }
    )
    assert row["translations"] == ["ein Hut", "Hut"][:count]
    assert row["scores"] == scores[:count]
    json.dumps(row, allow_nan=False)


def test_a_row_has_the_words_that_are_aligned():
    row = task_types.of("translation").row(
        {
            **{"translation": "ein", "score": -1.0},
            **{"translations": ["ein"], "scores": [-1.0]},
            **{"words": ["ein", "", ""], "source_words": ["a", "b", ""]},
            "alignment": [1, -1, -1],
        }
    )
    aligned = {"words": ["ein"], "source_words": ["a", "b"], "alignment": [1]}
    assert row == {"translation": "ein", "score": -1.0, **aligned}


@pytest.mark.extended
def test_signatures_give_alignments_where_they_are_asked_for(tmp_path):
    config = toy_languages.make_config(
        toy_languages.write(str(tmp_path), 1, SIZES)[:2], units=8
    )
    directory, _ = random_runs.write_weights(tmp_path / "run", config, FAVOURED)
    for options in ({"beam": 1}, {"beam": 1, "alignments": True}):
        run = mtl_tf.load(directory.path, options)
        served = serving.all_served(run, [run.model] * 2)["translation"]
        texts = ["w1 w2 w3", "", "puma w3", "w4 " * 12]
        found = served.for_task(1)(text=tf.constant(texts))
        assert_translated(
            read("xx-bb", lists(found)), run.predict("xx-bb", texts)
        )
        assert ("alignment" in found) == ("alignments" in options)
    assert found["alignment"].shape[1] > 1
    # Rows of two pairs, and of none.
    tasks = ["xx-bb", "", "none", "xx-aa"]
    found = lists(
        served.for_all()(text=tf.constant(texts), task=tf.constant(tasks))
    )
    for number in (0, 3):
        own = {
            name: value[number : number + 1] for name, value in found.items()
        }
        task = tasks[number]
        expected = run.predict(task, [texts[number]])
        assert_translated(read(task, own), expected)
    assert set(found["words"][2]) <= {""} == set(found["source_words"][2])
    assert set(found["alignment"][2]) <= {-1}
    for nothing in ([], ["", " "]):
        found = served.for_task(0)(text=tf.constant(nothing, tf.string))
        for name in ("words", "source_words", "alignment"):
            assert found[name].shape == (len(nothing), 0)


def lists(outputs):
    return {name: writing._plain(value) for name, value in outputs.items()}


def assert_translated(answers, expected):
    assert len(answers) == len(expected)
    for answer, wanted in zip(answers, expected):
        assert answer.keys() == wanted.keys()
        for name, value in wanted.items():
            if "score" in name:
                np.testing.assert_allclose(
                    answer[name], value, atol=1e-5, rtol=1e-6
                )
            else:
                assert answer[name] == value


def read(task, outputs):
    rows = zip(*outputs.values())
    return [
        {
            "task": task,
            **task_types.of("translation").row(dict(zip(outputs, row))),
        }
        for row in rows
    ]


def test_the_c_loader_answers_as_predict_does(exported):
    run, changes, version = exported
    tasks = ["xx-cc", "xx-aa", "xx-zz", "xx-aa", ""]
    requests = [
        {"signature": "xx-cc", "inputs": {"text": TEXTS}},
        {"signature": "xx-aa", "inputs": {"text": MANY}},
        {"signature": "xx-aa", "inputs": {"text": TEXTS[2:3]}},
        {"signature": "xx-aa", "inputs": {"text": []}},
        {"signature": "xx-aa", "inputs": {"text": ["", " "]}},
        {"signature": "serving_default", "inputs": {"text": TEXTS}},
    ]
    requests[-1]["inputs"]["task"] = tasks
    result = c_loader_process.run_in_c_loader(version, requests)
    assert result["imported"] == []
    assert set(result["signatures"]) == {*PAIRS, "serving_default"}
    outputs = [answer["outputs"] for answer in result["answers"]]
    for request, found in zip(requests[:-1], outputs):
        task, texts = request["signature"], request["inputs"]["text"]
        n_best = changes.get("n_best", 1)
        if texts:
            assert np.shape(found["translations"]) == (len(texts), n_best)
            assert np.shape(found["scores"]) == (len(texts), n_best)
        expected = run.predict(task, texts) if texts else []
        assert_translated(read(task, found), expected)
    for row, (task, text) in enumerate(zip(tasks, TEXTS)):
        own = {name: [part[row]] for name, part in outputs[-1].items()}
        if task in PAIRS:
            expected = run.predict(task, [text])
            assert_translated(read(task, own), expected)
        else:
            assert own["translation"] == [""] and own["score"] == [0]
            assert set(own["translations"][0]) == {""}
            assert set(own["scores"][0]) == {0}
    if not changes:
        assert_translated(
            read("xx-aa", outputs[2]), run.predict("xx-aa", TEXTS[2:3])
        )


def test_unknown_words_are_replaced_by_those_of_the_source(exported):
    run, _, _ = exported
    # The best one alone may have no words: a search without a penalty likes
    # short translations.
    several = {"beam": 4, "n_best": 4}
    replaced, shown = (
        mtl_tf.load(
            run.directory.path, {**several, "replace_unknown": replace}
        ).predict("xx-aa", MANY[:4])
        for replace in (True, False)
    )
    unknowns = 0
    for text, row, other in zip(MANY, replaced, shown):
        pairs = zip(row["translations"], other["translations"], strict=True)
        for translation, unknown in pairs:
            assert "<unk>" not in translation
            unknowns += unknown.count("<unk>")
            for part in translation.split():
                # Subwords of the source are in it, as its words are.
                assert part in text or part in unknown.split()
    assert unknowns


@pytest.mark.slow
def test_check_passes(exported):
    rows = check.check(exported[2])
    names = {*PAIRS, "serving_default"}
    assert {row["signature"] for row in rows if row["ok"]} == names


def test_what_travels_along(exported):
    run, changes, version = exported
    with open(os.path.join(version, "saved_model.pb"), "rb") as file:
        content = file.read()
    assert b"PyFunc" not in content
    assert os.path.dirname(run.directory.path).encode() not in content
    graph = saved_model_pb2.SavedModel.FromString(content)
    functions = graph.meta_graphs[0].graph_def.library.function
    assert not any(f.attr["_XlaMustCompile"].b for f in functions)
    with open(os.path.join(version, "assets.extra", "decoding.json")) as file:
        found = json.load(file)
    assert found == {
        "beam": 2,
        "length_penalty": 0.0,
        "replace_unknown": True,
        "n_best": 1,
        "max_length": 0,
        "alignments": False,
        **changes,
    }


def test_recorded_answers_are_json_that_every_reader_takes(tmp_path):
    scores = [[-1.0, -np.inf]]
    outputs = {"scores": scores}
    call = {"signature": "a", "inputs": {"text": ["b"]}, "outputs": outputs}
    warmup.write(str(tmp_path), [call])
    with open(tmp_path / "assets.extra" / "warmup_answers.json") as file:
        (found,) = strict.loads(file.read())
    assert found["outputs"]["scores"] == [[-1.0, None]]
    assert check.compare(found["outputs"]["scores"], scores) == 0
    assert check.compare([[None]], [[-1.0]]) == np.inf
    assert check.compare([None], [""]) == np.inf


def test_what_was_not_found_has_no_difference():
    assert check.compare([-np.inf, -1.0], [-np.inf, -1.0]) == 0
    assert check.compare(-np.inf, -1.0) == np.inf
    assert check.compare(np.nan, 0.0) == np.inf
