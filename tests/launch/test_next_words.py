"""A recurrent scheme that learns from texts, and runs that start there."""

import dataclasses
import json
import os

import numpy as np
import pytest

import mtl_tf
from launch import pretrain
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.pretraining import language_modelling, text_training
from mtl_tf.runs import training_run
from mtl_tf.text.vectors.learning import TokenStore
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from mtl_tf.training.optimizers import freezing
from tests.launch import helpers
from tests.system import corpus
from tests.training.killing import run_killed

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

SCHEME = {
    "name": "lstm",
    "units": 16,
    "sharing": "shared",
    "bidirectional": True,
}
SMALL = {
    "length": 12,
    "batch_size": 8,
    "steps": 60,
    "evaluate_every": 30,
    "held_out": 0.1,
    "learning_rate": 0.05,
}


def lines(count=80):
    """Each word says which one follows and which one precedes."""
    words = ["yes", "no", "d", "e", "f", "g", "h", "tree"]
    starts = np.random.default_rng(4).integers(0, 8, count)
    return [" ".join(words[(s + n) % 8] for n in range(11)) for s in starts]


def store(texts):
    made = TokenStore()
    for text in texts:
        made.add(text.split())
    return made


def config_of(entries, scheme=SCHEME, **training):
    chosen = corpus.config(entries, steps=1, **training)
    chosen["model"] |= {"scheme": scheme, "embedding_dim": 8}
    return chosen


def options_of(config, **changes):
    return language_modelling.of_config(config, {**SMALL, **changes})


@pytest.fixture(scope="module")
def learnt(small_files, tmp_path_factory):
    """The folder of a training that nothing interrupts, and what it found."""
    output = str(tmp_path_factory.mktemp("learnt") / "words")
    options = options_of(config_of(small_files))
    found = language_modelling.pretrain(store(lines()), options, output)
    return output, found


def vectors_of(folder):
    """By word, from the text format of word2vec."""
    with open(os.path.join(folder, "vectors.txt")) as file:
        header, *rows = file.read().splitlines()
    found = {row.split()[0]: row.split()[1:] for row in rows}
    assert header == f"{len(found)} 8"
    return {w: np.array(numbers, np.float32) for w, numbers in found.items()}


def test_words_are_told_from_those_beside_them(learnt):
    output, found = learnt
    # Before, every word is as likely as any other; in the end only what
    # stands beside a text's begin and end is uncertain.
    assert found["before"] == pytest.approx(11, rel=0.15)
    assert found["after"] < 2.0
    assert vectors_of(output).keys() == set(" ".join(lines()).split())
    with open(os.path.join(output, "pretraining.json")) as file:
        about = json.load(file)
    assert about["perplexity"] == found and about["scheme"] == SCHEME
    assert not os.path.exists(f"{output}.training")


def test_a_run_starts_from_vectors_and_layer(learnt, small_files, tmp_path):
    output, _ = learnt
    config = config_of(
        small_files,
        initialize_from=output,
        freeze=["embedding", "shared"],
    )
    config["text"]["vectors"] = os.path.join(output, "vectors.txt")
    config["model"]["scheme"] = SCHEME | {"pooling": "max"}
    training_run.train(config, str(tmp_path / "run"))
    run = mtl_tf.load(str(tmp_path / "run"))
    got = {freezing.path_of(v): v.numpy() for v in run.model.variables}
    best, weights = BestWeights.read(os.path.join(output, "best"))
    assert set(weights) == {
        f"scheme/{direction}/{name}"
        for direction in ("forward", "backward")
        for name in ("kernel", "recurrent", "bias")
    }
    assert best["score"] < 0
    for path, value in weights.items():
        np.testing.assert_array_equal(got[path], value)
    row = run.encoder.vocabulary.tokens.index("yes")
    np.testing.assert_allclose(
        got["embedding/vectors"][row], vectors_of(output)["yes"], rtol=1e-5
    )


def test_it_starts_from_the_vectors_of_the_config(
    learnt, small_files, tmp_path
):
    config = config_of(small_files)
    config["text"]["vectors"] = os.path.join(learnt[0], "vectors.txt")
    options = options_of(config, steps=1, learning_rate=1e-9)
    output = str(tmp_path / "words")
    language_modelling.pretrain(store(lines()), options, output)
    given = vectors_of(learnt[0])
    for word, vector in vectors_of(output).items():
        np.testing.assert_allclose(vector, given[word], atol=1e-5)


def test_what_makes_a_summary_is_left_to_the_tasks(small_files, tmp_path):
    scheme = SCHEME | {"pooling": "attention", "bidirectional": False}
    options = options_of(config_of(small_files, scheme), steps=1)
    output = str(tmp_path / "words")
    language_modelling.pretrain(store(lines()), options, output)
    _, weights = BestWeights.read(os.path.join(output, "best"))
    assert {path.split("/")[1] for path in weights} == {"forward"}


def test_layers_of_single_tasks_all_start_from_it(
    learnt, small_files, tmp_path
):
    scheme = SCHEME | {"sharing": "private"}
    config = config_of(
        small_files, scheme, initialize_from=learnt[0], freeze=["scheme"]
    )
    training_run.train(config, str(tmp_path / "run"))
    _, weights = BestWeights.read(os.path.join(learnt[0], "best"))
    for variable in mtl_tf.load(str(tmp_path / "run")).model.variables:
        value = weights.get(freezing.path_of(variable))
        if value is not None:
            assert variable.shape == (2, *value.shape)
            np.testing.assert_array_equal(variable, [value, value])


def test_other_sizes_are_not_taken(learnt, small_files, tmp_path, caplog):
    for number, sharing in enumerate(("shared", "private")):
        scheme = SCHEME | {"units": 8, "sharing": sharing}
        config = config_of(small_files, scheme, initialize_from=learnt[0])
        directory = str(tmp_path / str(number))
        training_run.train(config, directory)
        with open(os.path.join(directory, "initialized.json")) as file:
            report = json.load(file)
        assert not report["taken"]
        why = {entry["path"]: entry["why"] for entry in report["not_taken"]}
        assert "there (16, 64)" in why["scheme/forward/recurrent"]
        assert f"no weight of {learnt[0]} fits this model" in caplog.text
        caplog.clear()


KILLED = """
from mtl_tf.pretraining import language_modelling, text_training
from mtl_tf.text.vectors.learning import TokenStore
from mtl_tf.training import loop
store = TokenStore()
for text in json.loads(arguments[2]):
    store.add(text.split())
plain = loop.LoopOptions
text_training.LoopOptions = lambda **values: plain(
    **{**values, "checkpoint_seconds": 1e-6, "steps_per_call": 1})
options = language_modelling.LanguageModelling(**json.loads(arguments[1]))
language_modelling.pretrain(store, options, arguments[0])
"""


@pytest.mark.slow
def test_kill_9_ends_with_the_same_weights(learnt, small_files, tmp_path):
    output = str(tmp_path / "words")
    options = options_of(config_of(small_files))
    asked = (dataclasses.asdict(options), lines())
    run_killed(KILLED, 40, output, *map(json.dumps, asked))
    assert not os.path.exists(output)
    other = dataclasses.replace(options, dropout=0.5)
    with pytest.raises(RunError, match="another dropout: 0.2 there, 0.5"):
        language_modelling.pretrain(store(lines()), other, output)
    found = language_modelling.pretrain(store(lines()), options, output)
    assert found == learnt[1]
    one, other = (
        BestWeights.read(os.path.join(folder, "best"))[1]
        for folder in (output, learnt[0])
    )
    for path in one:
        np.testing.assert_array_equal(one[path], other[path])
    assert str(vectors_of(output)) == str(vectors_of(learnt[0]))


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"scheme": {"name": "meta_lstm"}}, "a recurrent layer that all tasks"),
        ({"scheme": {**SCHEME, "sharing": "private"}}, "'sharing': 'private'"),
        ({"scheme": {"name": "nbow", "sharing": "shared"}}, "'nbow'"),
        ({"casing_dim": 3}, "model.casing_dim must be 0, got 3"),
        ({"characters": {"name": "cnn"}}, "characters.name must be 'none'"),
    ],
)
def test_models_without_one_layer_of_words_are_refused(
    small_files, changes, message
):
    config = config_of(small_files)
    config["model"] |= changes
    with pytest.raises(ConfigError, match=message):
        options_of(config)


def test_rare_words_alone_teach_nothing(small_files, tmp_path):
    options = options_of(config_of(small_files))
    with pytest.raises(mtl_tf.core.errors.DataError, match="no word occurs 2"):
        language_modelling.pretrain(
            store(["a b", "c d"]), options, str(tmp_path / "new")
        )
    assert not os.listdir(tmp_path)


def run(capsys, *arguments):
    return helpers.run(capsys, pretrain.PROGRAM, *arguments)


def test_the_program_trains_the_scheme_of_a_config(capsys, tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(lines(30)) + "\n")
    output = str(tmp_path / "words")
    status, out, err = run(
        capsys,
        "--objective=next_words",
        "--config=quickstart",
        "--config.tasks=('sample_reviews/books',)",
        f"--config.model.scheme={SCHEME}",
        f"--texts={path}",
        f"--output={output}",
        "--length=16",
        "--batch_size=4",
        "--steps=2",
        "--min_count=1",
        "--samples=50",
        "--dropout=0",
    )
    assert not status, err
    assert out.startswith("held-out perplexity ") and " after 2 steps" in out
    with open(os.path.join(output, text_training.SETTINGS_FILE)) as file:
        about = json.load(file)
    assert about["learning_rate"] == 2e-3 and about["scheme"] == SCHEME
    assert (about["min_count"], about["samples"], about["dropout"]) == (
        1,
        50,
        0,
    )
    # Words of the file and of the tasks.
    with open(os.path.join(output, "vectors.txt")) as file:
        words = {row.split()[0] for row in file}
    assert {"tree", "book"} <= words


LSTM = ["--config=quickstart", f"--config.model.scheme={SCHEME}"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--texts=a"], "--objective=next_words needs --config"),
        (["--config=quickstart", "--preset=b"], "--preset does nothing"),
        (["--config=quickstart", "--layers=2"], "--layers does nothing"),
        (["--config=quickstart"], "config.model.scheme must be a recurrent"),
        ([*LSTM, "--samples=0"], "--samples must be a positive integer"),
        ([*LSTM, "--dropout=1"], "--dropout must be at least 0 and below 1"),
    ],
)
def test_mistakes_are_named(capsys, tmp_path, arguments, message):
    given = ["--objective=next_words", f"--output={tmp_path / 'out'}"]
    status, _, err = run(capsys, *given, *arguments)
    assert status == 1
    assert message in " ".join(err.split())
    assert not list(tmp_path.glob("out*"))
