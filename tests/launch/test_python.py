"""`mtl_tf.train` and the others, as a script would call them."""

import os
import random
import re
import subprocess
import sys

import keras
import pytest

import mtl_tf
from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError, InUse, RunError
from mtl_tf.runs import training_run
from mtl_tf.training.callbacks import Callback
from tests.launch.helpers import environment
from tests.system import corpus


class Heard(Callback):
    def __init__(self, most=None):
        self.calls, self.most = [], most

    def on_begin(self, training):
        self.calls.append(("begin", training.stage, training.step))

    def on_step(self, step, loss):
        self.calls.append(("step", step, loss))

    def on_evaluation(self, entry):
        self.calls.append(("evaluation", entry["step"], entry["validation"]))
        if len(self.of("evaluation")) == self.most:
            raise ZeroDivisionError("mine")

    def on_end(self, directory, results):
        self.calls.append(("end", directory, results))

    def of(self, kind):
        return [call for call in self.calls if call[0] == kind]


def rows(split, count):
    words = {"up": "rise climb", "down": "fall sink"}
    for number in range(count):
        label = ("up", "down")[(number * 7 + len(split)) % 2]
        word = words[label].split()[number // 2 % 2]
        yield {"text": f"{split} {number % 9} {word} now", "label": label}


@pytest.fixture
def config():
    # A bag of words: the graphs of recurrent layers take seconds.
    found = mtl_tf.config(
        "quickstart",
        {
            "training.epochs": 4,
            "training.optimizer.learning_rate": 0.5,
            "seed": 2,
            "model.scheme": {"name": "nbow"},
        },
    )
    found.evaluation.yardsticks = False
    data = {"train": list(rows("train", 80)), "test": list(rows("test", 20))}
    found.tasks = ({"name": "moves", "data": data},)
    return found


def test_a_training_from_lists_to_an_export(config, tmp_path):
    print(f"seed {config.seed}")
    heard, model_dir = Heard(), tmp_path / "run"
    run = mtl_tf.train(config, model_dir, callbacks=[heard])
    assert heard.calls[0] == ("begin", "joint", 0)
    steps = [step for _, step, _ in heard.of("step")]
    assert steps == sorted(set(steps))
    scored = heard.of("evaluation")
    assert len(scored) == 4 and scored[-1][1] == steps[-1]
    assert heard.calls[-1] == ("end", str(model_dir), run.results)
    assert run.results["tasks"]["moves"]["accuracy"] == 100
    assert mtl_tf.evaluate(model_dir)["mean"] == run.results["mean"]
    texts = ["it will sink now", "they climb now"]
    labels = [one["label"] for one in mtl_tf.predict(run, "moves", texts)]
    assert labels == ["down", "up"]
    path = mtl_tf.export_saved_model(run, tmp_path / "served")
    assert path == str(tmp_path / "served" / "1")
    assert os.path.exists(os.path.join(path, "saved_model.pb"))
    # A finished run calls nobody.
    again = Heard()
    assert mtl_tf.train(config, model_dir, callbacks=[again]).results
    assert again.calls == []


def test_mistakes_in_lists_are_named_as_they_were_given(config, tmp_path):
    config.tasks[0]["data"]["test"][7]["label"] = "dwn"
    with pytest.raises(DataError) as raised:
        mtl_tf.train(config, tmp_path)
    assert str(raised.value).startswith(
        "task moves: data['test'] row 7: unknown label 'dwn'; did you mean "
        "'down'? Labels are those of the training rows, unless `labels`"
    )


def test_a_refused_training_leaves_nothing(config, tmp_path):
    model_dir = tmp_path / "new" / "run"
    config.tasks[0]["data"]["train"][7]["label"] = ""
    with pytest.raises(DataError, match="row 7"):
        mtl_tf.train(config, model_dir)
    assert os.listdir(tmp_path) == []
    config.tasks[0]["data"]["train"][7]["label"] = object()
    model_dir.mkdir(parents=True)
    with pytest.raises(DataError, match="row 7 'label'"):
        mtl_tf.train(config, model_dir)
    assert os.listdir(model_dir) == []


def test_examples_of_a_directory_in_use_stay(config, tmp_path):
    with files.locked(str(tmp_path)):
        with pytest.raises(InUse):
            mtl_tf.train(config, tmp_path)
    assert len(os.listdir(tmp_path / "given" / "moves")) == 2


def test_examples_of_a_run_that_has_begun_stay(config, tmp_path):
    (tmp_path / "config.json").write_text("{}")
    config.tasks[0]["data"]["test"][7]["label"] = object()
    with pytest.raises(DataError, match="row 7"):
        mtl_tf.train(config, tmp_path)
    assert len(os.listdir(tmp_path / "given" / "moves")) == 1  # of train


@pytest.mark.extended
def test_a_callback_that_raises_stops_a_run_which_then_continues(
    config, tmp_path
):
    every = mtl_tf.train(config, tmp_path / "whole").results["tasks"]
    with pytest.raises(ZeroDivisionError, match="mine"):
        mtl_tf.train(config, tmp_path / "run", callbacks=[Heard(most=2)])
    with pytest.raises(RunError, match="no results yet"):
        _ = mtl_tf.load(tmp_path / "run").results
    heard = Heard()
    run = mtl_tf.train(config, tmp_path / "run", callbacks=[heard])
    assert heard.calls[0][:2] == ("begin", "joint")
    assert run.results["tasks"] == every


@pytest.mark.extended
def test_other_examples_are_another_run(config, tmp_path):
    mtl_tf.train(config, tmp_path)
    config.tasks[0]["data"]["train"].pop()
    with pytest.raises(RunError, match="another config:\n  tasks"):
        mtl_tf.train(config, tmp_path)


SCRIPT = """
import sys
import mtl_tf

config = mtl_tf.config("quickstart", {"training.epochs": 2})
config.tasks = ("sample_reviews/books",)
mtl_tf.train(config, sys.argv[1], verbose=sys.argv[2] == "1")
"""


@pytest.mark.extended
@pytest.mark.parametrize("verbose", ["1", "0"])
def test_a_script_shows_the_training_and_nothing_of_tensorflow(
    verbose, tmp_path
):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "run"), verbose],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    shown = re.findall(r"joint step \d+ validation mean", done.stderr)
    assert len(shown) == (2 if verbose == "1" else 0)
    for noise in ("oneDNN", "cuda", "cpu_feature_guard", "retracing"):
        assert noise not in done.stderr


def test_configs_are_changed_by_whole_names():
    config = mtl_tf.config(
        "quickstart", {"model.dropout.head": 0.25, "tasks": ["a", "b"]}
    )
    assert config.model.dropout.head == 0.25
    assert list(config.tasks) == ["a", "b"]
    with pytest.raises(ConfigError, match="did you mean 'epochs'"):
        mtl_tf.config("quickstart", {"training.epoch": 3})
    with pytest.raises(ConfigError, match="did you mean 'quickstart'"):
        mtl_tf.config("quikstart")
    with pytest.raises(ConfigError, match="training must be a dict"):
        mtl_tf.config("quickstart", {"training": 3})
    part = {"training.optimizer": {"learning_rate": 0.1}}
    assert mtl_tf.config("quickstart", part).training.epochs > 0
    another = {"model.scheme": {"name": "nbow"}}
    assert mtl_tf.config("quickstart", another).model.scheme.name == "nbow"
    whole = {"training": config.training}
    assert mtl_tf.config("quickstart", whole).training == config.training
    with pytest.raises(ConfigError, match="must be a dict .* got \\['seed'\\]"):
        mtl_tf.config("quickstart", ["seed"])


def test_a_config_may_be_named_by_a_path_object(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "from mtl_tf.configs import base\n\n\n"
        "def get_config():\n    return base.default_config()\n"
    )
    changed = mtl_tf.config(path, {"training.epochs": 4})
    assert changed.training.epochs == 4


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"config": "quickstart"}, "config must be what mtl_tf.config return"),
        ({"config": None}, "config must be .* got None"),
        ({"callbacks": [Heard]}, "callbacks must be .* got the class .*Heard"),
        (
            {"callbacks": [keras.callbacks.EarlyStopping()]},
            "got one of keras.*EarlyStopping .a run stops early by",
        ),
        ({"callbacks": print}, "callbacks must be a list of .* got builtin"),
        ({"callbacks": [3]}, "got one of builtins.int"),
    ],
)
def test_wrong_arguments_are_told_before_anything_is_written(
    config, tmp_path, wrong, message
):
    given = {"config": config, "model_dir": tmp_path / "run", **wrong}
    with pytest.raises(ConfigError, match=message):
        mtl_tf.train(given.pop("config"), **given)
    assert not (tmp_path / "run").exists()


def test_changes_mean_what_overrides_of_the_command_line_mean():
    units = mtl_tf.config("starter", {"model.scheme.units": 7})
    assert units.model.scheme.units == 7 and units.model.scheme.pooling == "max"
    other = mtl_tf.config("starter", {"model.scheme": {"name": "nbow"}})
    assert other.model.scheme.to_dict() == {"name": "nbow"}
    adam = mtl_tf.config(
        "fdu_mtl_lstm",
        {
            "training.optimizer.name": "adam",
            "training.optimizer.options.beta_1": 0.8,
        },
    )
    # Adagrad's options are gone.
    assert adam.training.optimizer.options.to_dict() == {"beta_1": 0.8}


def test_models_of_one_task_each_are_refused_before_they_train(tmp_path):
    config = mtl_tf.config("quickstart", {"train_separately": True})
    with pytest.raises(ConfigError, match="train_separately must be False"):
        mtl_tf.train(config, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_changes_that_nothing_reads_are_refused(tmp_path, monkeypatch):
    def train(config, model_dir, **_):
        raise ZeroDivisionError("trained")

    monkeypatch.setattr(training_run, "train", train)
    folder = str(tmp_path / "run")
    config = mtl_tf.config("quickstart", {"training.gradnorm.alpha": 4.0})
    with pytest.raises(ConfigError, match="alpha does nothing without"):
        mtl_tf.train(config, folder, verbose=False)
    # What it needs may be set afterwards.
    config.training.loss_weighting = "gradnorm"
    config.pipeline.mixing = {"name": "joint"}
    with pytest.raises(ZeroDivisionError):
        mtl_tf.train(config, folder, verbose=False)
    config = mtl_tf.config("quickstart", {"training.share_steps": True})
    with pytest.raises(ConfigError, match="share_steps does nothing without"):
        mtl_tf.train(config, folder, verbose=False)
    with pytest.raises(ZeroDivisionError):
        mtl_tf.train(config, folder, compare_single=True, verbose=False)


def test_a_plain_dict_is_checked(tmp_path):
    wrong = corpus.config(str(tmp_path / "no_files"))
    wrong["training"]["epochs"] = -1
    with pytest.raises(ConfigError, match="training.epochs"):
        mtl_tf.train(wrong, tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_frame_is_trained_on_followed_analysed_and_exported(tmp_path):
    """What a notebook does, cell by cell."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    draw = random.Random(4)
    words = {"up": ["rise", "climb"], "down": ["fall", "sink"]}
    table = pandas.DataFrame(
        [
            {"note": f"{n % 7} {draw.choice(words[kind])} now", "kind": kind}
            for n, kind in enumerate(["up", "down", "down"] * 40)
        ]
    )
    config = mtl_tf.config("quickstart", {"training.epochs": 3, "seed": 2})
    config.evaluation.yardsticks = False
    config.tasks = (
        {
            "name": "moves",
            "data": {"train": table[:90], "test": table[90:]},
            "columns": {"text": "note", "label": "kind"},
        },
    )
    heard = Heard()
    run = mtl_tf.train(config, tmp_path / "run", callbacks=[heard])
    curve = [call[2]["mean"] for call in heard.of("evaluation")]
    assert len(curve) == 3 and curve[-1] == 100
    answers = run.predict("moves", table["note"][90:].tolist())
    assert [one["label"] for one in answers] == table["kind"][90:].tolist()
    page = mtl_tf.analyse(run, tmp_path / "moves.html", examples=3)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert "Confusion" in text and "data:image/png" in text
    assert mtl_tf.analyse(tmp_path / "run") == str(
        tmp_path / "run" / "analysis.html"
    )
    served = mtl_tf.export_saved_model(run, tmp_path / "served")
    assert os.path.exists(os.path.join(served, "saved_model.pb"))
    with pytest.raises(RunError):
        mtl_tf.analyse(tmp_path, tmp_path / "none.html")
    assert not os.path.exists(tmp_path / "none.html")
