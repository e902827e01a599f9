"""Translation runs from files to scores: one source, several targets."""

import dataclasses
import json

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from mtl_tf.core.errors import ConfigError
from mtl_tf.models.translation import multi_target
from mtl_tf.models.translation.multi_target import build_translation_model
from mtl_tf.prediction import search_batches
from mtl_tf.prediction.task_types.translation import paper_texts
from mtl_tf.runs import training_run
from mtl_tf.runs.data import run_data
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary
from tests.runs.helpers import assert_same_weights
from tests.system.toy_languages import LETTERS, TARGETS, make_config, write

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    sizes = {"train": 64, "validation": 8, "test": 8}
    return write(str(tmp_path_factory.mktemp("toy")), 1, sizes)


@pytest.fixture(scope="module")
def run(tmp_path_factory, entries):
    """The directory and the results of a short run of two pairs."""
    directory = str(tmp_path_factory.mktemp("run") / "a")
    config = make_config(entries[:2], steps=8)
    config["evaluation"]["paper_scoring"] = True
    decoding = {"beam": 2, "n_best": 2, "replace_unknown": True}
    config["evaluation"]["decoding"] = decoding
    return directory, training_run.train(config, directory)


def test_a_run_scores_and_answers_every_pair(run):
    directory, results = run
    assert set(results["tasks"]) == {"xx-aa", "xx-bb"}
    for scores in results["tasks"].values():
        assert scores["primary"] == "bleu" and 0 <= scores["bleu"] <= 100
        assert "nrefs:1" in scores["signatures"]["bleu"]
        # The vocabulary has every word.
        assert scores["paper_bleu"] == scores["bleu_lc"]
    loaded = mtl_tf.load(directory)
    again = loaded.evaluate("test", ["xx-bb"])["tasks"]
    assert again["xx-bb"] == results["tasks"]["xx-bb"]
    said = loaded.predict("xx-bb", ["w1 w2", "", "never seen"])
    for one in said:
        assert set(one) == {
            "task",
            "translation",
            "score",
            "translations",
            "scores",
        }
        assert one["translation"] == one["translations"][0]
        assert 0 >= one["score"] == one["scores"][0]
    # Nothing is the only translation of nothing.
    assert [len(one["translations"]) for one in said] == [2, 1, 2]
    assert all(np.diff(one["scores"]) <= 0 for one in (said[0], said[2]))


@pytest.mark.parametrize("name", ["whitespace", "reversible"])
def test_an_unknown_word_of_the_paper_is_one_word(name):
    tokenizer = make_tokenizer({"name": name, "lowercase": True})
    counts = Vocabulary.count([tokenizer(tf.constant(["a dog runs"]))])
    vocabulary = Vocabulary.from_counts(counts, specials=BOUNDS)
    target = TextEncoder(tokenizer, vocabulary)
    written = ["a <unk> runs <unk>", "", "a puma runs"]
    said, wanted = paper_texts(target, written, ["A cat runs fast"] * 3)
    assert said == ["a UNK runs UNK", "", "a UNK runs"]
    assert wanted == ["a UNK runs UNK"] * 3


def test_another_search_than_the_configs(run):
    directory, _ = run
    greedy = {"beam": 1, "n_best": 1, "replace_unknown": False}
    loaded = mtl_tf.load(directory, greedy)
    assert dataclasses.asdict(loaded.predictor.decoder.decoding) == {
        **greedy,
        "length_penalty": 0.0,
        "max_length": 0,
        "alignments": False,
    }
    (said,) = loaded.predict("xx-bb", ["w1 w2"])
    assert set(said) == {"task", "translation", "score"}


def test_translations_that_the_search_did_not_find_are_left_out(run):
    # Of a token each there are only as many as the vocabulary has words.
    options = {"beam": 90, "n_best": 90, "max_length": 1}
    for one in mtl_tf.load(run[0], options).predict("xx-bb", ["w1 w2", ""]):
        assert 0 < len(one["translations"]) < 90
        assert len(one["scores"]) == len(one["translations"])
        json.dumps(one, allow_nan=False)
    assert one["translations"] == [""] and one["scores"] == [0.0]


def test_of_translations_that_are_written_alike_the_best_one_stays(run):
    loaded = mtl_tf.load(run[0])
    decoder = loaded.predictor.decoder
    (wanted,) = loaded.predict("xx-aa", ["w1 w2"])
    assert len(wanted["scores"]) == 2

    def alike(ids, words):
        return tf.fill(tf.shape(ids)[:2], "alike")

    decoder._decoders = decoder._traced = [alike] * 2
    (found,) = loaded.predict("xx-aa", ["w1 w2"])
    assert found["translations"] == ["alike"]
    assert found["scores"] == wanted["scores"][:1] == [found["score"]]
    ids = loaded.encoder.source.vocabulary.lookup(tf.constant([["w1", "w2"]]))
    found = decoder.search(0, tf.cast(ids, tf.int32), tf.fill([1, 2], "w"))
    assert found["translations"].numpy().tolist() == [[b"alike", b""]]
    assert found["scores"].numpy()[0, 1] == -np.inf


def test_alignments_name_the_words_that_were_attended_to(run):
    loaded = mtl_tf.load(run[0], {"alignments": True})
    texts = ["w1 w2", "w3 puma w5 w6 w7", ""]
    *said, nothing = loaded.predict("xx-bb", texts)
    assert nothing["words"] == nothing["alignment"] == []
    for text, one in zip(texts, said):
        assert one["source_words"] == text.split()
        assert len(one["words"]) == len(one["alignment"])
        encoder = loaded.encoder
        ids = encoder.source.vocabulary.lookup(tf.constant([text.split()]))
        found = loaded.model.translate(
            tf.cast(ids, tf.int32), key=1, beam=2, attention=True
        )
        length = len(one["words"])
        attention = found["attention"].numpy()[0, 0, :length]
        assert one["alignment"] == attention.argmax(-1).tolist()
        # Unknown words are replaced by those that they are aligned with.
        shown = [
            one["source_words"][place] if word == "<unk>" else word
            for word, place in zip(one["words"], one["alignment"])
        ]
        assert one["translation"] == " ".join(shown)


@pytest.mark.extended
def test_long_texts_are_translated_in_small_batches(run, monkeypatch, caplog):
    texts = ["w1 w2 " * n for n in (9, 1, 0, 40, 3, 9)]
    whole = mtl_tf.load(run[0], {"max_length": 5}).predict("xx-bb", texts)
    assert max(len(one["translation"].split()) for one in whole) <= 5
    sizes = []
    translate = multi_target.MultiTargetModel.translate

    def noted(self, tokens, **options):
        assert options["max_length"] == 5
        sizes.append(tuple(tokens.shape))
        return translate(self, tokens, **options)

    monkeypatch.setattr(multi_target.MultiTargetModel, "translate", noted)
    monkeypatch.setattr(search_batches, "CELLS_AT_ONCE", 40)
    monkeypatch.setattr(search_batches, "_LONG", 80)
    with caplog.at_level("INFO", logger="absl"):
        parts = mtl_tf.load(run[0], {"max_length": 5}).predict("xx-bb", texts)
    assert "xx-bb: decoding: 1 of 6 texts have 80 tokens or more" in caplog.text
    assert all(rows * width <= 40 or rows == 1 for rows, width in sizes)
    assert len(sizes) > 2 and sum(rows for rows, _ in sizes) == len(texts)
    for one, part in zip(whole, parts):
        assert one["translation"] == part["translation"]
        np.testing.assert_allclose(one["scores"], part["scores"], atol=1e-4)


@pytest.mark.parametrize("penalty", [0.0, 0.6])
def test_a_translation_that_was_found_has_the_score_of_the_search(run, penalty):
    loaded = mtl_tf.load(run[0], {"length_penalty": penalty})
    texts = ["w1 w2", "w3 w4 w5 w6 w7", "w1", "", "never w2"]
    limit = {text: 2 * len(text.split()) + 10 for text in texts}
    pairs, scores = [], []
    for text, one in zip(texts, loaded.predict("xx-bb", texts)):
        for said, score in zip(one["translations"], one["scores"]):
            # What is cut has no end, and "" is there once.
            if len(said.split()) < limit[text] and np.isfinite(score):
                pairs.append({"text": text, "translation": said})
                scores.append(score)
    assert len(pairs) > 4
    found = loaded.score("xx-bb", pairs)
    np.testing.assert_allclose(
        [one["score"] for one in found], scores, atol=1e-4
    )
    for pair, one in zip(pairs, found):
        words = pair["translation"].split()
        assert one["words"] == [*words, "</s>"]
        assert len(one["log_likelihoods"]) == len(one["words"])
        total = sum(one["log_likelihoods"])
        assert one["log_likelihood"] == pytest.approx(total)
        each = total / len(one["words"])
        assert one["perplexity"] == pytest.approx(np.exp(-each))
        divisor = ((5 + len(one["words"])) / 6) ** penalty
        assert one["score"] == pytest.approx(total / divisor)
        # Alone, and under the names of files to train on.
        as_trained = {"source": pair["text"], "target": pair["translation"]}
        (alone,) = loaded.score("xx-bb", [as_trained])
        assert alone["score"] == pytest.approx(one["score"], abs=1e-4)


def test_words_that_the_vocabulary_lacks_are_scored_as_unknown(run):
    loaded = mtl_tf.load(run[0])
    one, two = loaded.score("xx-aa", [("w1", "w1 puma"), ["w1", "w1 <unk>"]])
    assert one == two and one["words"] == ["w1", "<unk>", "</s>"]
    assert loaded.score("xx-aa", []) == []
    for wrong in ("w1", ["w1"], {"text": "w1"}, {"text": "a", "target": 3}):
        with pytest.raises(TypeError, match="needs text and translation as"):
            loaded.score("xx-aa", [wrong])


def test_only_texts_that_could_be_written_are_scored(toy_run):
    loaded = mtl_tf.load(toy_run)
    name = loaded.tasks[0]["name"]
    with pytest.raises(ConfigError, match="models write no texts"):
        loaded.score(name, [])


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"beams": 3}, "did you mean 'beam'"),
        ({"beam": 1}, r"n_best must be at most beam \(1\)"),
        ({"length_penalty": -1.0}, "length_penalty"),
    ],
)
def test_a_wrong_search_is_named(run, changes, message):
    with pytest.raises(ConfigError, match=message):
        mtl_tf.load(run[0], changes)


def test_only_translations_are_searched(toy_run):
    with pytest.raises(ConfigError, match="beam: only runs that write texts"):
        mtl_tf.load(toy_run, {"beam": 3})


@pytest.mark.slow
def test_joint_steps_train_every_pair(entries, tmp_path):
    config = make_config(entries[:2], steps=1)
    config["pipeline"]["mixing"] = {"name": "joint"}
    directory = str(tmp_path / "joint")
    training_run.train(config, directory)
    model = mtl_tf.load(directory).model
    names = [task["name"] for task in mtl_tf.load(directory).tasks]
    sizes = [decoder.embedding.vocabulary_size for decoder in model.decoders]
    drawn = build_translation_model(
        config["model"]["translation"],
        model.encoder.embedding.vocabulary_size,
        dict(zip(("aa", "bb"), sizes)),
        names,
        seed=config["seed"],
    )
    for parts in zip(model.decoders, drawn.decoders):
        after, before = (part.recurrent.numpy() for part in parts)
        assert np.abs(after - before).max() > 1e-4

    config["training"]["gradient_surgery"] = "pcgrad"
    results = training_run.train(config, str(tmp_path / "surgery"))
    assert set(results["tasks"]) == set(names)


@pytest.mark.slow
def test_how_steps_are_cut_into_calls_changes_nothing(run, entries, tmp_path):
    directory, results = run
    other = make_config(entries[:2], steps=8, steps_per_call=2)
    other["evaluation"] = mtl_tf.load(directory).config["evaluation"]
    again = training_run.train(other, str(tmp_path / "b"))
    assert_same_weights(directory, tmp_path / "b")
    assert again["tasks"] == results["tasks"]


@pytest.mark.extended
def test_a_model_a_pair_cuts_its_own_data(entries, tmp_path, monkeypatch):
    used = {}

    def train(config, run, session, tasks):
        loaded = run_data.load(config, run, *session.directories, tasks=tasks)
        [task] = loaded.tasks
        used[task.name] = len(loaded.train[0])
        scores = {"type": "translation", "primary": "bleu", "bleu": 1.0}
        names = ("parameters", "parameters_without_embedding")
        names += ("validation_mean", "wall_time")
        return {
            "split": "test",
            "tasks": {task.name: scores},
            "other_splits": {},
            "run": dict.fromkeys(names, 1),
        }

    monkeypatch.setattr(training_run, "_train_jointly", train)
    config = make_config(entries[:2])
    config["train_separately"] = True
    config["pipeline"]["fractions"] = {"xx-bb": 0.25}
    # Nothing is written of scores that say so little.
    monkeypatch.setattr(training_run.tables, "markdown", lambda *_: "")
    results = training_run.train(config, str(tmp_path / "run"))
    assert set(results["tasks"]) == {"xx-aa", "xx-bb"}
    assert used == {"xx-aa": 64, "xx-bb": 16}


@pytest.mark.slow
def test_copying_reversing_and_mapping_are_learnt(tmp_path):
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed {seed}")
    sizes = {"train": 4000, "validation": 100, "test": 200}
    config = make_config(
        write(str(tmp_path), seed, sizes), 64, epochs=12, jit=True
    )
    config["seed"] = seed % 2**31
    config["training"]["optimizer"]["learning_rate"] = 0.005
    training_run.train(config, str(tmp_path / "run"))
    loaded = mtl_tf.load(str(tmp_path / "run"))
    rng = np.random.default_rng(seed + 1)
    sources = [
        list(rng.choice(LETTERS, rng.integers(1, 6))) for _ in range(300)
    ]
    for name, change in TARGETS.items():
        said = loaded.predict(f"xx-{name}", [" ".join(s) for s in sources])
        right = [
            one["translation"] == " ".join(change(source))
            for one, source in zip(said, sources)
        ]
        print(name, np.mean(right))
        assert np.mean(right) > 0.98
