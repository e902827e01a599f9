"""Starting from another run's weights."""

import os
import shutil
import types

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import RunError
from mtl_tf.core.weight_marks import mark
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.translation.multi_target import build_translation_model
from mtl_tf.runs import initializing, training_run
from mtl_tf.runs.systems import sharing
from mtl_tf.runs.systems.multi_target import SYSTEM as TRANSLATION
from mtl_tf.text.encoding.characters import CharacterEncoder
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.translation import TranslationText
from mtl_tf.text.tokenizers.tokenizers import WhitespaceTokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary, first_tokens
from mtl_tf.training.optimizers import freezing
from tests.runs.helpers import weights
from tests.system import corpus


def started(entries, directory, source, **training):
    """The model of a run after `steps` steps from `source`."""
    chosen = corpus.config(entries, initialize_from=source, **training)
    training_run.train(chosen, str(directory))
    return mtl_tf.load(str(directory)).model


def values(model):
    return {freezing.path_of(v): v.numpy() for v in model.variables}


def named(*words):
    """Words as they stand in a model that does not translate."""
    return {"embedding/": words}


FREEZE_ALL = ["embedding", "private"]


def test_an_encoder_is_no_run(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pretraining.json").write_text('{"perplexity": {}}')
    with pytest.raises(RunError, match="name it as model.encoder.preset"):
        initializing.read_source(str(tmp_path))


def test_the_state_of_a_pretraining_is_no_run(tmp_path):
    (tmp_path / "best").mkdir()
    (tmp_path / "pretraining.json").write_text('{"texts": "0a1b"}')
    with pytest.raises(RunError, match="a pre-training that has not ended"):
        initializing.read_source(str(tmp_path))


@pytest.mark.extended
def test_slices_are_taken_by_the_names_of_the_tasks(
    tmp_path, toy_run, toy_files
):
    before = values(mtl_tf.load(toy_run).model)
    model = started(
        toy_files[::-1], tmp_path / "a", toy_run, steps=1, freeze=FREEZE_ALL
    )
    after = values(model)
    for path in ("scheme/forward/generator", "classification/dense/kernel"):
        np.testing.assert_array_equal(after[path], before[path][::-1])
    assert np.array_equal(
        after["embedding/vectors"], before["embedding/vectors"]
    )
    moved = {k for k in after if k.startswith("scheme/forward/meta_")}
    for path in moved:
        assert not np.array_equal(after[path], before[path])


def test_counts_are_taken_where_there_are_any():
    tasks = [{"name": "t", "type": "classification", "labels": ["a", "b"]}]
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    options["wide"] = {"buckets": 3, "idf": True}
    source, target = (build_model(options, 5, tasks) for _ in range(2))
    source.wide.set_document_counts(np.array([1, 0, 4]), 9)
    target.wide.set_document_counts(np.array([2, 3, 0]), 9)
    theirs, ours = (m.wide.weights_of_ngrams.numpy() for m in (source, target))
    words = named("pad", "oov", "good", "bad", "new")
    there = initializing.Source("x", values(source), ["t"], words, 9)
    report = initializing.initialize(target, there, ["t"], words)
    assert {"path": "wide/idf", "what": "all"} in report["taken"]
    np.testing.assert_array_equal(
        target.wide.weights_of_ngrams, [theirs[0], ours[1], theirs[2]]
    )
    # N-grams are hashes of words' ids, which are other ones here.
    others = named("pad", "oov", "bad", "good", "new")
    report = initializing.initialize(target, there, ["t"], others)
    left = {entry["path"] for entry in report["not_taken"]}
    assert "wide/idf" in left


def test_words_are_matched_by_name_not_by_place():
    tasks = [{"name": "t", "type": "classification", "labels": ["a", "b"]}]
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    source = build_model(options, 4, tasks, seed=1)
    target = build_model(options, 5, tasks, seed=2)
    there = initializing.Source(
        "x", values(source), ["t"], named("pad", "oov", "good", "bad"), 9
    )
    drawn = target.embedding.vectors.numpy()
    here = named("pad", "oov", "bad", "new", "good")
    report = initializing.initialize(target, there, ["t"], here)
    got = target.embedding.vectors.numpy()
    known = source.embedding.vectors.numpy()
    np.testing.assert_array_equal(got[[0, 1, 2, 4]], known[[0, 1, 3, 2]])
    np.testing.assert_array_equal(got[3], drawn[3])
    assert report["step"] == 9
    assert {"path": "embedding/vectors", "what": "4 of 5 words"} in report[
        "taken"
    ]


@pytest.mark.parametrize("here", ["abcd", "abxy", "axyz"])
def test_a_vocabulary_that_lacks_most_words_is_told(here, caplog):
    tasks = [{"name": "t", "type": "classification", "labels": ["a", "b"]}]
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    model = build_model(options, 4, tasks, seed=1)
    there = initializing.Source(
        "runs/a", values(model), ["t"], named(*"abcd"), 9
    )
    initializing.initialize(model, there, ["t"], named(*here))
    told = [text for text in caplog.messages if "vocabulary_tasks" in text]
    assert len(told) == (here == "axyz")
    assert all("lacks 3 of the 4 words" in text for text in told)


def test_translation_takes_encoder_and_decoders_by_word():
    def text(**languages):
        made = {
            name: TextEncoder(
                WhitespaceTokenizer(),
                Vocabulary([*first_tokens(BOUNDS), *words]),
            )
            for name, words in languages.items()
        }
        return TranslationText(made.pop("source"), made)

    there = text(source=["a", "b"], de=["x", "y"], fr=["u"])
    here = text(source=["b", "c", "a"], cs=["k"], de=["y"])
    models = [
        build_translation_model(
            {"units": 4, "embedding_dim": 3},
            len(of.source.vocabulary),
            of.target_sizes,
            [f"en-{language}" for language in of.targets],
            seed=seed,
        )
        for seed, of in enumerate((there, here))
    ]
    known, drawn = map(values, models)
    source = initializing.Source(
        "x", known, ["en-de", "en-fr"], TRANSLATION.words_of(there), 3
    )
    report = initializing.initialize(
        models[1],
        source,
        ["en-cs", "en-de"],
        TRANSLATION.words_of(here),
    )
    got = values(models[1])
    # Special tokens first, then the words.
    start = len(there.targets["de"].vocabulary) - 2
    for name in ("embedding/vectors", "output/kernel", "output/bias"):
        path = f"decoder_de/decoder_de_{name}"
        np.testing.assert_array_equal(got[path][start], known[path][start + 1])
        np.testing.assert_array_equal(got[path][:start], known[path][:start])
        path = path.replace("de_", "cs_").replace("decoder_de", "decoder_cs")
        np.testing.assert_array_equal(got[path], drawn[path])
    vectors = "encoder/encoder_embedding/vectors"
    size = len(there.source.vocabulary) - 2
    np.testing.assert_array_equal(
        got[vectors][[size, size + 2]], known[vectors][[size + 1, size]]
    )
    np.testing.assert_array_equal(got[vectors][size + 1], drawn[vectors][-2])
    same = [path for path in got if path.startswith("encoder/encoder_forward")]
    assert same and all(np.array_equal(got[p], known[p]) for p in same)
    assert {e["path"] for e in report["not_taken"]} == {
        path for path in got if path.startswith("decoder_cs")
    }


def test_parts_of_a_model_that_translates():
    model = build_translation_model(
        {"units": 4}, 9, {"de": 8, "fr": 8}, ["en-de", "en-fr"]
    )
    paths = {
        part: {freezing.path_of(v) for v in freezing.frozen(model, [part])}
        for part in freezing.PARTS
    }
    assert "encoder/encoder_embedding/vectors" in paths["embedding"]
    assert "decoder_fr/decoder_fr_embedding/vectors" in paths["embedding"]
    assert len(paths["embedding"]) == 3
    assert paths["heads"] == paths["private"]
    assert all(path.startswith("decoder_") for path in paths["heads"])
    assert paths["shared"] == paths["scheme"] - paths["embedding"]


def test_rows_of_l_e_are_taken_by_name_though_they_are_shared():
    scheme = {"name": "l_e", "layers": 1, "units": 4, "heads": 2}
    options = {"scheme": scheme, "embedding_dim": 2}
    models = []
    for names in ("abc", "bxa"):
        tasks = [
            {"name": name, "type": "classification", "labels": ["0", "1"]}
            for name in names
        ]
        models.append(build_model(options, 4, tasks, seed=len(models)))
    source, target = models
    drawn = values(target)["scheme/cls"]
    there = initializing.Source("x", values(source), "abc", named(*"pqrs"), 9)
    report = initializing.initialize(target, there, "bxa", named(*"pqrs"))
    known, got = there.weights["scheme/cls"], values(target)["scheme/cls"]
    np.testing.assert_array_equal(got[[0, 2]], known[[1, 0]])
    np.testing.assert_array_equal(got[1], drawn[1])
    expected = {"path": "scheme/cls", "what": "2 of 3 tasks"}
    assert expected in report["taken"]


@pytest.mark.parametrize("sharing", ["private", "shared"])
def test_heads_are_taken_where_labels_are_the_same(sharing):
    options = {
        "scheme": {"name": "lstm", "units": 3},
        "embedding_dim": 2,
        "head": {"hidden_units": 0, "sharing": sharing},
    }
    labels = [
        {"mails": ["ham", "spam"], "books": ["bad", "good"]},
        {"mails": ["spam", "ham"], "books": ["bad", "good"]},
    ]
    source, target = (
        build_model(
            options,
            4,
            [
                {"name": name, "type": "classification", "labels": own}
                for name, own in of.items()
            ],
            seed=seed,
        )
        for seed, of in enumerate(labels)
    )
    words = named(*"abcd")
    there = initializing.Source(
        "x", values(source), list(labels[0]), words, 9, labels[0]
    )
    drawn = values(target)
    report = initializing.initialize(
        target, there, list(labels[1]), words, labels[1]
    )
    got = values(target)
    taken = {e["path"]: e["what"] for e in report["taken"]}
    left = {e["path"]: e["why"] for e in report["not_taken"]}
    (path,) = [p for p in got if p.endswith("dense/kernel")]
    if sharing == "private":
        known = there.weights[path]
        assert taken[path] == "2 of 2 tasks"
        np.testing.assert_array_equal(got[path][0], known[0][:, ::-1])
        np.testing.assert_array_equal(got[path][1], known[1])
    else:
        assert left[path] == "mails: the labels differ"
        np.testing.assert_array_equal(got[path], drawn[path])
    assert taken["scheme/forward/recurrent"] == "all"


def test_a_task_with_one_more_label_keeps_what_is_of_the_others():
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    of = [{"mails": ["ham", "spam"]}, {"more": ["a"], "mails": ["eggs", "ham"]}]
    crf = {"tagging": {"decoder": "crf"}}
    source, target = (
        build_model(
            options | crf,
            4,
            [
                {"name": name, "type": "tagging", "labels": own, "scheme": ""}
                for name, own in labels.items()
            ],
            seed=seed,
        )
        for seed, labels in enumerate(of)
    )
    words = named(*"abcd")
    there = initializing.Source("x", values(source), ["mails"], words, 9, of[0])
    drawn = values(target)
    report = initializing.initialize(target, there, list(of[1]), words, of[1])
    taken = {e["path"]: e["what"] for e in report["taken"]}
    got, known = values(target), there.weights
    (path,) = [p for p in got if p.endswith("transitions")]
    assert taken[path] == "1 of 2 tasks, of mails 1 of 2 labels"
    assert got[path][1][1, 1] == known[path][0][0, 0]
    for place in ((0, 0), (0, 1), (1, 0)):
        assert got[path][1][place] == drawn[path][1][place]
    np.testing.assert_array_equal(got[path][0], drawn[path][0])


def test_characters_are_matched_by_name():
    def text(characters):
        words = Vocabulary([*first_tokens(), "w"])
        vocabulary = Vocabulary([*first_tokens(), *characters])
        return TextEncoder(
            WhitespaceTokenizer(),
            words,
            characters=CharacterEncoder(vocabulary, 4),
        )

    tasks = [{"name": "t", "type": "classification", "labels": ["0", "1"]}]
    options = {
        "scheme": {"name": "lstm", "units": 3},
        "embedding_dim": 2,
        "characters": {"name": "cnn", "dimension": 2, "filters": 3, "size": 5},
    }
    source, target = (
        build_model(options, 3, tasks, seed=seed) for seed in range(2)
    )
    there = initializing.Source(
        "x", values(source), ["t"], sharing.SYSTEM.words_of(text("abx")), 9
    )
    drawn = values(target)["characters/vectors"]
    # The last two are beyond the rows.
    report = initializing.initialize(
        target, there, ["t"], sharing.SYSTEM.words_of(text("bzyx"))
    )
    got, known = values(target), there.weights
    vectors = "characters/vectors"
    np.testing.assert_array_equal(got[vectors][2], known[vectors][3])
    np.testing.assert_array_equal(got[vectors][3:], drawn[3:])
    assert {"path": vectors, "what": "3 of 5 words"} in report["taken"]
    for path in got:
        if path.startswith("characters/bank"):
            np.testing.assert_array_equal(got[path], known[path])


def test_weights_of_other_shapes_stay_and_it_is_told():
    tasks = [{"name": "t", "type": "classification", "labels": ["a", "b"]}]
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    wider = {"scheme": {"name": "lstm", "units": 4}, "embedding_dim": 2}
    source = build_model(options, 4, tasks, seed=1)
    target = build_model(wider, 4, tasks, seed=2)
    before = values(target)
    there = initializing.Source("x", values(source), ["t"], named(*"abcd"), 9)
    report = initializing.initialize(target, there, ["t"], named(*"abcd"))
    reasons = {e["path"]: e["why"] for e in report["not_taken"]}
    assert "scheme/forward/recurrent" in reasons
    assert "there (3, 12)" in reasons["scheme/forward/recurrent"]
    assert "a slice has the shape" in reasons["classification/dense/kernel"]
    for path in reasons:
        np.testing.assert_array_equal(before[path], values(target)[path])


class Stack:
    """A weight that `initializing` takes for a stack of tasks."""

    trainable = True
    path = "model/embedding/private_vectors"

    def __init__(self, value):
        self.value = value
        self.shape = value.shape
        mark(self, is_private=True)

    def numpy(self):
        return self.value.copy()

    def assign(self, value):
        self.value = value


def test_a_long_table_of_the_tasks_tables_is_taken_by_task():
    there = np.arange(12.0).reshape(6, 2)
    weights = {"embedding/private_vectors": there}
    source = initializing.Source("x", weights, ["a", "b"], named(*"uvw"), 1)
    stack = Stack(np.zeros([9, 2]))
    model = types.SimpleNamespace(variables=[stack])
    tasks = ["c", "b", "a"]
    report = initializing.initialize(model, source, tasks, named(*"uvw"))
    assert [one["what"] for one in report["taken"]] == ["2 of 3 tasks"]
    expected = np.concatenate([np.zeros([3, 2]), there[3:], there[:3]])
    np.testing.assert_array_equal(stack.value, expected)
    report = initializing.initialize(model, source, tasks, named(*"wuv"))
    reasons = [one["why"] for one in report["not_taken"]]
    assert reasons == ["the vocabularies differ"]


@pytest.mark.slow
def test_a_run_that_continues_does_not_start_again(
    tmp_path, toy_run, toy_files
):
    short = corpus.config(toy_files, initialize_from=toy_run, epochs=1)
    long = corpus.config(toy_files, initialize_from=toy_run, epochs=2)
    training_run.train(short, str(tmp_path / "a"))
    training_run.train(long, str(tmp_path / "a"))
    training_run.train(long, str(tmp_path / "b"))
    one, two = weights(tmp_path / "a"), weights(tmp_path / "b")
    for key, value in one.items():
        np.testing.assert_array_equal(value, two[key], err_msg=key)


@pytest.mark.extended
def test_a_directory_without_weights(tmp_path, toy_files, toy_run):
    with pytest.raises(
        RunError, match="initialize_from: .*absent does not exist"
    ):
        started(toy_files, tmp_path / "a", str(tmp_path / "absent"))
    os.makedirs(tmp_path / "empty")
    shutil.copy(os.path.join(toy_run, "config.json"), tmp_path / "empty")
    with pytest.raises(RunError, match="has no trained weights"):
        started(toy_files, tmp_path / "b", str(tmp_path / "empty"))


@pytest.mark.parametrize("words", [["a", "b"], ["a", "c"]])
def test_ngrams_of_word_ids_are_taken_where_the_words_are_the_same(words):
    config = {
        "embedding_dim": 3,
        "scheme": {"name": "lstm", "units": 3},
        "wide": {"buckets": 5, "dimension": 2},
    }
    tasks = [{"name": "t", "type": "classification", "labels": ["x", "y"]}]
    model, other = (build_model(config, 4, tasks, seed=seed) for seed in (1, 2))
    for weight in other.wide.weights:
        weight.assign(weight + 1.0)
    source = initializing.Source(
        "there", values(other), ["t"], named(*first_tokens(), "a", "b"), 1
    )
    here = named(*first_tokens(), *words)
    report = initializing.initialize(model, source, ["t"], here)
    left = {one["path"]: one["why"] for one in report["not_taken"]}
    same = words == ["a", "b"]
    for weight in model.wide.weights:
        assert np.all(np.array(weight) == (1.0 if same else 0.0))
        assert ("differ" in left.get(freezing.path_of(weight), "")) != same
