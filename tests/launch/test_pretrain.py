"""An encoder that is trained on texts, and what can then read it."""

import json
import os

import numpy as np
import pytest

from launch import pretrain
from mtl_tf.core.errors import ConfigError, DataError, Diverged, RunError
from mtl_tf.pipelines.unlabelled import vector_corpus
from mtl_tf.pretraining import encoders
from mtl_tf.text.pretrained import presets
from tests.launch import helpers
from tests.text import small_presets
from tests.training.killing import run_killed

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

SMALL = {
    "vocabulary_size": 60,
    "layers": 1,
    "hidden": 16,
    "heads": 2,
    "length": 16,
    "batch_size": 8,
    "steps": 12,
    "evaluate_every": 4,
    "learning_rate": 1e-2,
    "held_out": 0.1,
}


def texts(count=120):
    """Each text says one thing over and over: what is masked can be told."""
    rng = np.random.default_rng(4)
    words = ["good", "book", "film", "bad", "phone", "great"]
    return [" ".join([words[n]] * 6) for n in rng.integers(0, 6, count)]


def weights(preset):
    return presets.load_backbone(preset).get_weights()


def options_of(**changes):
    return encoders.Pretraining(**{**SMALL, **changes})


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The preset of a training that nothing interrupts, and what it found."""
    output = str(tmp_path_factory.mktemp("presets") / "small")
    return output, encoders.pretrain(texts(), options_of(), output)


def test_masked_pieces_are_told_better_than_before(trained):
    output, found = trained
    # Before, every piece is as likely as any other.
    size = presets.load_tokenizer(output).vocabulary_size()
    assert found["before"] == pytest.approx(size, rel=0.05)
    assert found["after"] < 0.7 * found["before"]
    with open(os.path.join(output, "pretraining.json")) as file:
        assert json.load(file)["perplexity"] == found
    assert not os.path.exists(f"{output}.training")


KILLED = """
from mtl_tf.pretraining import encoders, text_training
from mtl_tf.training import loop
plain = loop.LoopOptions
text_training.LoopOptions = lambda **values: plain(
    **{**values, "checkpoint_seconds": 1e-6, "steps_per_call": 1})
encoders.pretrain(
    json.loads(arguments[1]),
    encoders.Pretraining(**json.loads(arguments[2])), arguments[0])
"""


@pytest.mark.slow
def test_kill_9_ends_with_the_same_encoder(trained, tmp_path):
    output = str(tmp_path / "small")
    run_killed(KILLED, 3, output, json.dumps(texts()), json.dumps(SMALL))
    assert not os.path.exists(output)
    with pytest.raises(RunError, match="another seed: 0 there, 1 asked for"):
        encoders.pretrain(texts(), options_of(seed=1), output)
    with pytest.raises(RunError, match="another texts"):
        encoders.pretrain(texts(80), options_of(), output)
    found = encoders.pretrain(texts(), options_of(), output)
    assert found == trained[1]
    for one, other in zip(weights(output), weights(trained[0]), strict=True):
        np.testing.assert_array_equal(one, other)


def run(capsys, *arguments):
    return helpers.run(capsys, pretrain.PROGRAM, *arguments)


@pytest.mark.slow
def test_a_preset_goes_on_to_learn_from_a_file(capsys, tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    path = tmp_path / "texts.txt"
    path.write_text("\n\n".join(texts(40)) + "\n")
    arguments = [
        f"--texts={path}",
        f"--preset={preset}",
        f"--output={tmp_path / 'new'}",
        "--length=16",
        "--steps=2",
        "--batch_size=4",
        "--learning_rate=0.1",
    ]
    status, out, err = run(capsys, *arguments)
    assert not status, err
    assert out.startswith("held-out perplexity ") and " after 2 steps" in out
    before, after = weights(preset), weights(str(tmp_path / "new"))
    assert not np.allclose(before[0], after[0], atol=1e-3)
    status, _, err = run(capsys, *arguments)
    assert status == 1 and "new exists already" in err


_WORDS = (
    "--config=quickstart",
    "--objective=next_words",
    "--config.model.scheme={{'name': 'lstm', 'sharing': 'shared'}}",
)


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "give --tasks, --config or --texts"),
        (["--texts=a", "--preset=b", "--layers=2"], "--layers does nothing"),
        (["--texts=a", "--samples=9"], "--samples needs --objective=next"),
        (["--texts=a"], "cannot read a: No such file"),
        (["--texts={latin}"], ":2: the text must be UTF-8, byte 3"),
        (["--texts={fine}", "--hidden=6"], "--hidden must be a multiple of"),
        (["--texts={fine}", "--steps=0"], "--steps must be a positive"),
        (["--texts={fine}", "--length=5"], "--length must be at least 8"),
        (
            ["--texts=a", "--vocabulary_size=3"],
            "--vocabulary_size must be abov",
        ),
        (["--texts=a", "--length=1000000"], "--batch_size 32 needs at least"),
        (
            ["--texts=a", "--length=30000000", *_WORDS],
            "--batch_size 32 needs at least",
        ),
        (["--texts={fine}", "--preset={here}"], "must be a folder, it is not"),
        (
            [
                "--texts=a",
                "--config=quickstart",
                "--objective=next_words",
                "--mixed_precision=mixed_bfloat16",
            ],
            "--mixed_precision does nothing with --objective=next_words, "
            "which computes in float32",
        ),
        (["--texts={one}"], "too few texts, 1: at least 2"),
    ],
)
def test_mistakes_are_named(capsys, tmp_path, arguments, message):
    (tmp_path / "latin").write_bytes(b"fine\nca\xe9\n")
    (tmp_path / "fine").write_text("a b\nc d\n")
    (tmp_path / "one").write_text("a b\n")
    names = {name: str(tmp_path / name) for name in ("latin", "fine", "one")}
    given = [
        one.format(here=tmp_path / "missing", **names) for one in arguments
    ]
    if "--texts={one}" in arguments:
        given.append(f"--preset={small_presets.bert(tmp_path / 'bert')}")
        given.append("--length=16")
    status, _, err = run(capsys, f"--output={tmp_path / 'out'}", *given)
    assert status == 1
    assert message in " ".join(err.split())
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    "objective, output, flag, message",
    [
        ("masked_pieces", "", "--seed=1", "exists already"),
        ("masked_pieces", "new", "--steps=0", "--steps must be a positive"),
        ("next_words", "", "--seed=1", "exists already"),
    ],
)
def test_mistakes_are_told_before_tasks_are_read(
    capsys, tmp_path, monkeypatch, objective, output, flag, message
):
    for name in ("texts_of", "collect"):
        monkeypatch.setattr(vector_corpus, name, lambda *_, **__: 1 / 0)
    status, _, err = run(
        capsys,
        "--config=quickstart",
        f"--objective={objective}",
        flag,
        f"--output={tmp_path / output}",
        "--config.model.scheme={'name': 'lstm', 'sharing': 'shared'}",
    )
    assert status == 1 and message in err


@pytest.mark.slow
def test_a_training_that_diverges_says_what_to_lower(tmp_path):
    with pytest.raises(Diverged, match="lower --learning_rate"):
        encoders.pretrain(
            texts(), options_of(learning_rate=1e30), str(tmp_path / "new")
        )


def test_longer_blocks_than_the_encoder_reads_are_refused(tmp_path):
    preset = small_presets.bert(tmp_path / "bert")
    with pytest.raises(ConfigError, match="--length must be at most 48"):
        encoders.pretrain(
            texts(), options_of(preset=preset, length=64), str(tmp_path / "new")
        )
    # So that the corrected command can begin.
    assert os.listdir(tmp_path) == ["bert"]


def test_pieces_that_are_hardly_ever_known_teach_nothing(tmp_path):
    with pytest.raises(ConfigError, match="are unknown to the tokenizer"):
        encoders.pretrain(
            texts(), options_of(vocabulary_size=6), str(tmp_path / "new")
        )
    assert not os.listdir(tmp_path)


@pytest.mark.slow
def test_bfloat16_learns_and_leaves_an_encoder_in_float32(tmp_path):
    output = str(tmp_path / "small")
    options = options_of(mixed_precision="mixed_bfloat16")
    found = encoders.pretrain(texts(), options, output)
    assert found["after"] < 0.7 * found["before"]
    backbone = presets.load_backbone(output)
    assert backbone.dtype_policy.name == "float32"
    for layer in backbone._flatten_layers():
        assert layer.compute_dtype == "float32"
    start = presets.load_backbone(output, weights=False)
    assert not np.allclose(start.get_weights()[0], backbone.get_weights()[0])


@pytest.mark.parametrize("size", [1, 5])
def test_a_vocabulary_without_room_for_pieces_is_refused(size, tmp_path):
    output = str(tmp_path / "small")
    with pytest.raises(ConfigError, match="vocabulary_size must be above 5"):
        encoders.pretrain(texts(), options_of(vocabulary_size=size), output)
    assert not os.path.exists(f"{output}.training")


def test_what_is_wrong_with_a_preset_is_told_of_the_flag(tmp_path):
    options = options_of(preset=str(tmp_path / "nowhere"))
    with pytest.raises(ConfigError, match="^--preset: .*nowhere' must be a f"):
        encoders.pretrain(texts(), options, str(tmp_path / "small"))
    folder = small_presets.bert(tmp_path / "bert")
    os.unlink(os.path.join(folder, "model.weights.h5"))
    with pytest.raises(DataError, match="^--preset: cannot read the weights"):
        encoders.pretrain(
            texts(), options_of(preset=folder), str(tmp_path / "small")
        )
