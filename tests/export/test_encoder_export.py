"""Exports of runs on a pretrained encoder: its tokenizer is in the graph."""

import numpy as np
import pytest

import mtl_tf
from export import check, saved_model
from tests.export.export_testing import TEXTS, ask_each, assert_scores
from tests.runs.encoder_runs import ADAPTERS
from tests.system import corpus, random_runs, tagging
from tests.text import small_presets

SIZES = {"train": 20, "validation": 10, "test": 10}
LONG = "zzz yes " * 60


@pytest.fixture(scope="module")
def preset(tmp_path_factory):
    return small_presets.bert(tmp_path_factory.mktemp("bert"))


def on(preset, chosen, **scheme):
    chosen["model"]["encoder"]["preset"] = preset
    chosen["model"]["scheme"] = {"name": "direct", **scheme}
    return chosen


@pytest.mark.extended
@pytest.mark.parametrize("options", [{}, ADAPTERS])
def test_texts_are_answered_as_predict_does(options, preset, tmp_path):
    config = on(preset, corpus.quick(corpus.write(tmp_path, 1, SIZES)))
    config["model"]["encoder"] |= options
    # Longer than the encoder can read at a time.
    config["text"]["max_length"] = 0
    directory, _ = random_runs.write_weights(tmp_path / "run", config)
    run = mtl_tf.load(directory.path)
    texts = [*TEXTS, LONG]
    before = run.predict("plain", texts)
    for weight in run.model.private_variables():
        # Adapters start as nothing.
        weight.assign(np.random.default_rng(1).normal(size=weight.shape))
    assert run.predict("plain", texts) != before
    version = saved_model.export(run, str(tmp_path / "export"))
    calls = [("plain", texts), ("mirror", texts)]
    for call, answers in zip(calls, ask_each(version, calls)):
        assert_scores(answers, run.predict(*call))
    rows = check.check(version)
    assert len(rows) == 3 and all(row["ok"] for row in rows)


@pytest.mark.extended
@pytest.mark.parametrize("decoder", ["softmax", "crf"])
def test_tags_are_those_of_predict(preset, tmp_path, decoder):
    """A CRF is exported in `test_tagging_export`, where it costs less."""
    chunks, _, mood = tagging.entries(tmp_path, mood=True)
    chosen = tagging.config([chunks, mood])
    chosen["model"]["tagging"]["decoder"] = decoder
    chosen["text"] |= {"casing": False, "max_length": 0}
    chosen["text"]["characters"]["max_word_length"] = 0
    chosen["model"] |= {"characters": {"name": "none"}, "casing_dim": 0}
    directory, _ = random_runs.write_weights(
        tmp_path / "run", on(preset, chosen)
    )
    run = mtl_tf.load(directory.path)
    texts = ["EU rejects lamb", "", "\u200d Paris zzzzz! " * 30]
    predicted = run.predict("chunks", texts)
    assert [len(one["tags"]) for one in predicted] == [3, 0, 90]
    # Alone, a text gets the tags that it has beside longer ones.
    (alone,) = run.predict("chunks", texts[:1])
    assert alone["tags"] == predicted[0]["tags"]
    version = saved_model.export(run, str(tmp_path / "export"))
    (answers,) = ask_each(version, [("chunks", texts)], "tagging")
    for answer, one in zip(answers, predicted, strict=True):
        assert answer["tokens"] == one["tokens"]
        assert answer["tags"] == one["tags"]
        assert answer["offsets"] == one["offsets"]
        assert answer["confidence"] == pytest.approx(
            one["confidence"], abs=1e-5
        )
    (answers,) = ask_each(version, [("mood", texts)])
    assert_scores(answers, run.predict("mood", texts))
