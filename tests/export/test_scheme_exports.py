"""Every sharing scheme answers the same when it is served."""

import pytest

import mtl_tf
from export import check, saved_model
from mtl_tf.models import registry
from tests.export.export_testing import TEXTS, ask_each, assert_scores
from tests.system import corpus, random_runs

SIZES = {"train": 40, "validation": 10, "test": 10}
MEMORY = {"units": 6, "memory_slots": 5, "memory_width": 4}
BLOCKS = {"layers": 2, "units": 12, "heads": 3, "feed_forward": 16}
# Some texts are longer than there are positions.
TRANSFORMER = {"max_positions": 4, **BLOCKS}
# What stands beside the scheme in `model`.
HEADS = {
    "s_p": {"head": {"hidden_units": 8, "sharing": "private"}},
    "l_i": {"head": {"hidden_units": 0, "sharing": "shared"}},
    "mt_cnn": {"embedding_private_dim": 6},
    "nbow": {"embedding_private_dim": 4},
}
# Options of small models; another scheme has its defaults.
SCHEMES = {
    "lstm": {"units": 6, "bidirectional": True},
    "meta_lstm": {"units": 6, "meta_units": 4, "meta_vector": 3},
    "hyper_lstm": {"units": 6, "hyper_units": 4, "hyper_vector": 3},
    "psp": {"units": 6},
    "ssp": {"units": 6, "private_input": "both", "bidirectional": True},
    "asp": {"units": 6},
    "me_lstm": {"align": "mlp", **MEMORY},
    "arc_i": MEMORY,
    "arc_ii": MEMORY,
    "mt_cnn": {"filters": 8, "widths": [2, 3]},
    "direct": {"pooling": "attention"},
    "mt_dnn": {"units": 8},
    "nbow": {"bag": "mean"},
    "s_p": {"positions": "sinusoidal", **TRANSFORMER},
    "s_c": {"norm": "post", **TRANSFORMER},
    "l_i": TRANSFORMER,
    "l_e": TRANSFORMER,
}
# The others take minutes.
QUICK = ("asp", "mt_cnn", "l_e")
CASES = [
    pytest.param(name, marks=() if name in QUICK else pytest.mark.slow)
    for name in registry.SCHEMES
]


def test_options_are_of_schemes_that_exist():
    assert set(SCHEMES) <= set(registry.SCHEMES)


@pytest.mark.extended
@pytest.mark.parametrize("name", CASES)
def test_a_served_model_answers_as_predict_does(name, tmp_path):
    config = corpus.config(corpus.write(tmp_path, 1, SIZES))
    config["text"]["max_length"] = 0
    config["model"] |= {"scheme": {"name": name, **SCHEMES.get(name, {})}}
    config["model"] |= HEADS.get(name, {})
    directory, _ = random_runs.write_weights(tmp_path / "run", config)
    run = mtl_tf.load(directory.path)
    version = saved_model.export(run, str(tmp_path / "export"))
    calls = [("plain", TEXTS), ("mirror", TEXTS)]
    for call, answers in zip(calls, ask_each(version, calls)):
        assert_scores(answers, run.predict(*call))
    rows = check.check(version)
    assert len(rows) == 3 and all(row["ok"] for row in rows)


@pytest.mark.slow
def test_a_text_of_100_000_tokens_is_read_to_its_end(tmp_path):
    config = corpus.config(corpus.write(tmp_path, 1, SIZES))
    config["text"]["max_length"] = 0
    config["model"]["scheme"] = {"name": "lstm", "units": 8}
    directory, _ = random_runs.write_weights(tmp_path / "run", config)
    run = mtl_tf.load(directory.path)
    version = saved_model.export(run, str(tmp_path / "export"))
    long = "the " * 99_999
    texts = [f"{long}yes", "no tree", f"{long}no", ""]
    answers = check.ask(version, "plain", texts)
    # So many steps add up what rounding differs in.
    assert_scores(answers[:2], run.predict("plain", texts[:2]), 1e-4)
    first, _, last, _ = (answer["scores"]["0"] for answer in answers)
    assert abs(first - last) > 1e-2
