"""Character n-grams of question answering: texts, runs, files, exports."""

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import c_loader_process, saved_model
from export import task_types as served_types
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.runs import initializing, systems, training_run
from tests.system import questions, random_runs

NAME = "question_answering"
SIZES = {"train": 24, "validation": 3, "test": 3}
QUESTION = {"question": "behind w3", "context": "w1 key Zoë w2 zoëx"}


def config_of(folder, **ngrams):
    tasks = questions.entries(folder, SIZES, ("behind", "mentions"))
    config = questions.config(tasks, units=8, feed_forward=6)
    config["text"]["ngrams"] |= {"dimension": 6, **ngrams}
    config["evaluation"]["splits"] = ("test",)
    config["training"] |= {"steps": 2, "evaluate_every": 2}
    return config


def vector_file(folder, *names):
    numbers = " ".join(["0.5"] * 5)
    rows = [f"{name} {n} {numbers}" for n, name in enumerate(names)]
    text = "\n".join([*rows, ""])
    return random_runs.written(folder, "ngrams.txt", text)


@pytest.fixture(scope="module")
def hashed(tmp_path_factory):
    """A run of random weights."""
    folder = tmp_path_factory.mktemp("ngrams")
    config = config_of(folder, buckets=500)
    directory, _ = random_runs.write_weights(folder / "run", config)
    return mtl_tf.load(directory.path)


def test_own_words_have_a_row_of_ngrams_each(hashed):
    encoder = hashed.encoder.task("behind")
    given = {n: tf.constant([t, ""]) for n, t in QUESTION.items()}
    found = encoder(given)
    assert set(found) <= set(encoder.axes)
    first, second = found["own_words"].to_list()
    assert len(second) == 0
    expected = hashed.encoder.ngrams(tf.constant(["zoë", "zoëx"])).numpy()
    np.testing.assert_array_equal(first, expected)
    _, own = encoder.with_own_words(given)
    own = own.to_tensor()
    rows = hashed.encoder.own_ngrams(own).numpy()
    np.testing.assert_array_equal(rows[0], expected)
    assert not rows[1].any()


@pytest.mark.extended
def test_an_unknown_word_is_read_by_its_characters(hashed):
    contexts = ["w1 key zoë w2", "w1 key bob w2", "w1 key zoë w2"]
    one, other, same = hashed.predict(
        "behind", [{**QUESTION, "context": text} for text in contexts]
    )
    assert one["confidence"] == pytest.approx(same["confidence"], 1e-4)
    assert one["confidence"] != pytest.approx(other["confidence"], 1e-2)


@pytest.mark.extended
def test_training_reads_and_changes_them(tmp_path):
    config = config_of(tmp_path, buckets=500)
    config["pipeline"] |= {"tokens_per_batch": 200}
    config["pipeline"]["token_weights"] = {"answer": 5, "own_words": 0}
    directory = str(tmp_path / "run")
    training_run.train(config, directory)
    run = mtl_tf.load(directory)
    untrained, _ = random_runs.write_weights(tmp_path / "other", config)
    before = mtl_tf.load(untrained.path).model.ngram_embedding
    np.testing.assert_array_equal(
        run.model.ngram_embedding.word_ngrams, before.word_ngrams
    )
    assert np.any(
        run.model.ngram_embedding.vectors.numpy() != before.vectors.numpy()
    )


@pytest.mark.slow
def test_vectors_of_a_file(tmp_path):
    path = vector_file(tmp_path, "2gram-#BEGIN#w", "2gram-w1", "3gram-zoë")
    config = config_of(tmp_path, vectors=path)
    config["training"]["freeze"] = ("embedding",)
    directory = str(tmp_path / "run")
    training_run.train(config, directory)
    run = mtl_tf.load(directory)
    vectors = run.model.ngram_embedding.vectors.numpy()
    np.testing.assert_array_equal(vectors[:, 0], [0, 0, 1, 2])
    np.testing.assert_array_equal(vectors[1:, 1:], np.full([3, 5], 0.5))
    text = run.encoder
    assert text.ngrams.names[1:] == ["2gram-#BEGIN#w", "2gram-w1", "3gram-zoë"]
    zoe = text.own_ngrams(tf.constant([["zoë", ""]])).numpy()
    assert zoe[0, 0, 0] == 3 and not zoe[0, 0, 1:].any()
    # What the run was made with is no longer needed.
    vector_file(tmp_path, "2gram-w1")
    assert mtl_tf.load(directory).predict("behind", [QUESTION])
    with pytest.raises(DataError, match="other n-grams than when the run"):
        systems.of_type(NAME).set_pretrained(run.model, config, text)


def test_either_learnt_or_of_a_file(tmp_path):
    config = config_of(tmp_path, buckets=500, vectors="file.txt")
    with pytest.raises(ConfigError, match="either learnt .* 500.*file.txt"):
        training_run.train(config, str(tmp_path / "run"))
    config = config_of(tmp_path, vectors=str(tmp_path / "nowhere.txt"))
    with pytest.raises(DataError, match="nowhere.txt"):
        training_run.train(config, str(tmp_path / "run"))


@pytest.mark.extended
@pytest.mark.parametrize("buckets", [500, 400])
def test_another_run_takes_vectors_of_equal_ngrams(hashed, tmp_path, buckets):
    config = config_of(tmp_path, buckets=buckets)
    config["tasks"] = config["tasks"][:1]
    directory, _ = random_runs.write_weights(tmp_path / "run", config)
    run = mtl_tf.load(directory.path)
    table = run.model.ngram_embedding.word_ngrams.numpy()
    report = initializing.initialize(
        run.model,
        initializing.read_source(hashed.directory.path),
        ["behind"],
        systems.of_type(NAME).words_of(run.encoder),
    )
    layer, theirs = (r.model.ngram_embedding for r in (run, hashed))
    np.testing.assert_array_equal(layer.word_ngrams, table)
    left = [one["path"] for one in report["not_taken"]]
    assert "ngram_embedding/word_ngrams" in left
    if buckets == 500:
        np.testing.assert_array_equal(layer.vectors, theirs.vectors)
    else:
        assert "ngram_embedding/vectors" in left


@pytest.mark.slow
@pytest.mark.parametrize("known", [False, True])
def test_an_export_reads_them_too(hashed, tmp_path, known):
    run = hashed
    if known:
        path = vector_file(tmp_path, "2gram-w1", "3gram-zoë", "2gram-zo")
        directory = str(tmp_path / "run")
        training_run.train(config_of(tmp_path, vectors=path), directory)
        run = mtl_tf.load(directory)
    version = saved_model.export(run, str(tmp_path / "export"))
    contexts = ["w1 key zoë w2", "w1 key bob w2", ""]
    examples = [{**QUESTION, "context": text} for text in contexts]
    inputs = {n: [one[n] for one in examples] for n in QUESTION}
    requests = [{"signature": "behind", "inputs": inputs}]
    (answer,) = c_loader_process.run_in_c_loader(version, requests)["answers"]
    for row, wanted in enumerate(run.predict("behind", examples)):
        own = {name: part[row] for name, part in answer["outputs"].items()}
        said = served_types.of(NAME).row(own)
        assert said["answer"] == wanted["answer"]
        np.testing.assert_allclose(
            said["confidence"], wanted["confidence"], rtol=1e-4
        )


def test_a_missing_file_of_ngrams_leaves_no_run(tmp_path):
    config = config_of(tmp_path, vectors=str(tmp_path / "gone.txt"))
    with pytest.raises(DataError, match="gone.txt: No such file"):
        training_run.train(config, str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
