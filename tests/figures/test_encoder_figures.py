"""Figures of runs that read a pretrained encoder's pieces, or characters."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import drawing, neighbours, traces
from mtl_tf.figures.drawing import Named
from tests.system import corpus, random_runs
from tests.text import small_presets

SIZES = {"train": 20, "validation": 6, "test": 6}
TEXT = "the book was not good"


def write(folder, change):
    """A run with random weights, of a config that `change` has changed."""
    (folder / "files").mkdir()
    config = corpus.quick(corpus.write(folder / "files", 1, SIZES))
    config["evaluation"]["yardsticks"] = False
    change(config)
    return random_runs.write_weights(folder / "run", config)[0].path


@pytest.fixture(scope="module")
def encoder_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("encoder")
    preset = small_presets.bert(folder / "bert")

    def change(config):
        config["model"]["encoder"]["preset"] = preset
        config["model"]["scheme"] = {"name": "me_lstm", "units": 4}

    return write(folder, change)


@pytest.fixture(scope="module")
def character_run(tmp_path_factory):
    def change(config):
        config["model"]["characters"] = {
            **{"name": "cnn", "dimension": 3, "filters": 3, "width": 3},
        }
        config["text"]["characters"]["max_word_length"] = 8
        config["model"]["casing_dim"] = 2
        config["text"]["casing"] = True

    return write(tmp_path_factory.mktemp("characters"), change)


@pytest.mark.slow
def test_a_trace_is_of_pieces_and_its_end_is_the_prediction(encoder_run):
    run = mtl_tf.load(encoder_run)
    trace = traces.trace(run, "plain", TEXT, "x")
    assert trace.tokens[0] == "[CLS]" and trace.tokens[-1] == "[SEP]"
    (answer,) = run.predict("plain", [TEXT])
    expected = answer["scores"]["1"] - answer["scores"]["0"]
    assert trace.scores[-1] == pytest.approx(expected, abs=1e-5)
    # A prefix is read as if it were all: with the special piece at its end.
    words = [n for n, piece in enumerate(trace.tokens) if piece == "book"]
    (answer,) = run.predict("plain", ["the book"])
    expected = answer["scores"]["1"] - answer["scores"]["0"]
    assert trace.scores[words[0]] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(trace.scores) > 0
    with pytest.raises(DataError, match="no tokens"):
        traces.trace(run, "plain", " ")


@pytest.mark.slow
def test_neighbours_are_of_the_encoders_pieces(encoder_run):
    run = mtl_tf.load(encoder_run)
    [found] = neighbours.read(run, ["book"], 3)
    table = run.model.embedding.vectors.numpy().astype(np.float64)
    place = run.encoder.pieces.index(found.nearest[0][0])
    one, two = table[run.encoder.pieces.index("book")], table[place]
    cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert found.nearest[0][1] == pytest.approx(cosine)
    names = [name for name, _ in neighbours.read(run, ["book"], 999)[0].nearest]
    assert not {"book", "", "[CLS]", "[SEP]", "[PAD]", "[UNK]"} & set(names)
    with pytest.raises(DataError, match="only the vector of one token"):
        neighbours.read(run, ["the book"])


@pytest.mark.slow
def test_a_figure_of_an_encoders_run(encoder_run):
    runs = [Named("BERT", encoder_run)]
    figure = drawing.token_figure(drawing.FUSION_GATE, runs, "plain", [TEXT])
    assert f"“{TEXT}”" in [text.get_text() for text in figure.texts]
    with pytest.raises(ConfigError, match="BERT has no column for each task"):
        drawing.attention(runs, "plain", [TEXT])


def test_runs_that_read_characters_have_traces(character_run):
    run = mtl_tf.load(character_run)
    trace = traces.trace(run, "plain", TEXT)
    words = TEXT.split()
    prefixes = [" ".join(words[: n + 1]) for n in range(len(words))]
    answers = [a["scores"] for a in run.predict("plain", prefixes)]
    expected = [scores["1"] - scores["0"] for scores in answers]
    np.testing.assert_allclose(trace.scores, expected, atol=1e-5)
