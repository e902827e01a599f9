import json
import os

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.experiments import transfer
from mtl_tf.runs import training_run
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from tests.runs.helpers import assert_same_weights, weights
from tests.system import corpus
from tests.text import small_presets
from tests.training.killing import run_killed

# What they share is trained first, which takes long.
pytestmark = pytest.mark.extended

SHARED = ("kernel", "recurrent", "bias")


def quick(entries, **training):
    return corpus.quick(entries, "lstm", epochs=1, **training)


@pytest.fixture(scope="module")
def turns(tmp_path_factory, small_files):
    """The directory and the results of both turns."""
    directory = str(tmp_path_factory.mktemp("transfer") / "all")
    return directory, transfer.transfer(quick(small_files), directory)


def read(*parts):
    with open(os.path.join(*parts)) as file:
        return json.load(file)


def by_path(directory):
    return {
        key.split("/")[1].replace(".S", "/"): value
        for key, value in weights(directory).items()
    }


def test_the_results_of_a_run_are_not_overwritten(tmp_path, small_files):
    config = quick(small_files)
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config)
    with pytest.raises(RunError, match="run holds a run: .* for a transfer"):
        transfer.transfer(config, run.path)
    assert not run.has("transfer.json")


@pytest.mark.extended
def test_each_task_is_left_out_once(turns):
    directory, results = turns
    for name, other in (("plain", "mirror"), ("mirror", "plain")):
        source = mtl_tf.load(os.path.join(directory, "sources", name))
        target = mtl_tf.load(os.path.join(directory, "targets", name))
        assert [t["name"] for t in source.tasks] == [other]
        assert [t["name"] for t in target.tasks] == [name]
        expected = target.evaluate("test")["tasks"][name]
        assert results["tasks"][name] == expected
    assert list(results["tasks"]) == ["plain", "mirror"]
    assert read(directory, "results.json") == results
    with open(os.path.join(directory, "results.md")) as file:
        assert "| mirror |" in file.read()
    times = [
        run["wall_time"]
        for turn in results["run"]["turns"].values()
        for run in turn.values()
    ]
    np.testing.assert_allclose(results["run"]["wall_time"], sum(times))
    steps = [
        run["steps"]
        for turn in results["run"]["turns"].values()
        for run in turn.values()
    ]
    assert results["run"]["steps"] == sum(steps) and len(steps) == 4


def test_shared_weights_stay_words_move_and_the_tasks_own_are_fresh(turns):
    directory, _ = turns
    source = by_path(os.path.join(directory, "sources", "plain"))
    target = by_path(os.path.join(directory, "targets", "plain"))
    assert set(source) == set(target)
    moved = {k for k in source if not np.array_equal(source[k], target[k])}
    assert set(source) - moved == {f"scheme/forward/{k}" for k in SHARED}
    report = read(directory, "targets", "plain", "initialized.json")
    assert {e["path"] for e in report["taken"]} == {
        "embedding/vectors",
        *(f"scheme/forward/{name}" for name in SHARED),
    }
    reasons = {e["why"] for e in report["not_taken"]}
    assert reasons == {"no tasks of the same name"}


@pytest.mark.parametrize("whole", [False, True])
def test_the_vocabulary_can_be_that_of_more_tasks(tmp_path, whole):
    entries = corpus.write(tmp_path, 7, {"train": 8, "test": 4})
    with open(entries[1]["files"]["train"], "a") as file:
        file.write("1\telsewhere yes no\n")
    config = quick(entries[:1])
    config["text"]["vocabulary_tasks"] = entries if whole else []
    loaded = run_data.load(
        config, RunDirectory(str(tmp_path / "a")), None, None
    )
    assert ("elsewhere" in loaded.encoder.vocabulary.tokens) == whole
    assert [task.name for task in loaded.tasks] == ["plain"]


@pytest.mark.slow
def test_clean_parts_are_those_of_the_whole_group(turns, small_files, tmp_path):
    _, results = turns
    joint = training_run.train(
        quick(small_files, steps=1), str(tmp_path / "joint")
    )
    for name in ("plain", "mirror"):
        expected = joint["tasks"][name]["clean"]["examples"]
        assert results["tasks"][name]["clean"]["examples"] == expected


TRANSFER = """
from mtl_tf.experiments import transfer
transfer.transfer(json.loads(arguments[0]), arguments[1])
"""


@pytest.mark.slow
def test_kill_9_resumes_to_the_same_models_and_asks_for_more_turns(
    turns, small_files, tmp_path
):
    whole, expected = turns
    directory = str(tmp_path / "killed")
    config = quick(small_files)
    # One epoch is one save: the second is within the target's run.
    run_killed(TRANSFER, 2, json.dumps(config), directory)
    assert not os.path.exists(os.path.join(directory, "results.json"))
    before = os.path.getmtime(
        os.path.join(directory, "sources", "plain", "results.json")
    )
    results = transfer.transfer(config, directory, targets=["plain"])
    after = os.path.getmtime(
        os.path.join(directory, "sources", "plain", "results.json")
    )
    assert before == after
    assert list(results["tasks"]) == ["plain"]
    assert results["tasks"]["plain"] == expected["tasks"]["plain"]
    part = os.path.join("targets", "plain")
    assert_same_weights(
        os.path.join(directory, part), os.path.join(whole, part)
    )


def test_another_config_is_refused(turns, small_files):
    directory, _ = turns
    with pytest.raises(RunError, match="config changed .* config.training.l2"):
        transfer.transfer(quick(small_files, l2=0.5), directory)


def test_wrong_targets_and_configs(small_files, tmp_path):
    config = quick(small_files)
    with pytest.raises(ConfigError, match="did you mean 'mirror'"):
        transfer.transfer(config, str(tmp_path / "a"), targets=["miror"])
    with pytest.raises(ConfigError, match="at least two tasks"):
        transfer.transfer(quick(small_files[:1]), str(tmp_path / "b"))
    config["train_separately"] = True
    with pytest.raises(ConfigError, match="train_separately must be False"):
        transfer.transfer(config, str(tmp_path / "c"))
    config["train_separately"] = False
    config["pipeline"]["mixing"] = {"name": "phases"}
    with pytest.raises(ConfigError, match="cannot be phases"):
        transfer.transfer(config, str(tmp_path / "d"))


@pytest.mark.parametrize(
    "scheme", [{"name": "mt_cnn"}, {"name": "lstm", "sharing": "private"}]
)
def test_schemes_that_share_no_weights(small_files, tmp_path, scheme):
    config = quick(small_files)
    config["model"]["scheme"] = scheme
    with pytest.raises(ConfigError, match=f"scheme '{scheme['name']}' as it"):
        transfer.transfer(config, str(tmp_path / "t"))
    assert not (tmp_path / "t").exists()


@pytest.fixture
def tuned(small_files, tmp_path):
    """A config of an encoder that all tasks tune."""
    config = quick(small_files)
    preset = small_presets.bert(tmp_path / "preset")
    config["model"]["encoder"] |= {"preset": preset}
    config["model"]["scheme"] = {"name": "direct"}
    return config


@pytest.mark.extended
def test_a_pretrained_encoder_is_shared(tuned, tmp_path):
    directory = str(tmp_path / "t")
    transfer.transfer(tuned, directory, targets=["plain"])
    source, target = (
        by_path(os.path.join(directory, kind, "plain"))
        for kind in ("sources", "targets")
    )
    frozen = [path for path in source if path.startswith("encoder/")]
    assert len(frozen) > 20
    for path in frozen:
        np.testing.assert_array_equal(source[path], target[path], path)


def test_a_frozen_encoder_with_adapters_of_each_task_is_not(tuned, tmp_path):
    for options in (
        {"trainable": False, "adapter_units": 4},
        {"trainable": True, "adapter_units": 0, "frozen_layers": 2},
    ):
        tuned["model"]["encoder"] |= options
        with pytest.raises(ConfigError, match="besides the word vectors"):
            transfer.transfer(tuned, str(tmp_path / "t"))


def test_wrong_options_leave_no_folder(tuned, tmp_path):
    tuned["model"]["encoder"]["frozen_layers"] = 9
    with pytest.raises(ConfigError, match="frozen_layers must be at most 2"):
        transfer.transfer(tuned, str(tmp_path / "t"))
    assert not (tmp_path / "t").exists()


def test_missing_vectors_leave_no_folder(small_files, tmp_path):
    config = quick(small_files)
    config["text"]["vectors"] = str(tmp_path / "gone.txt")
    with pytest.raises(DataError, match="gone.txt: No such file"):
        transfer.transfer(config, str(tmp_path / "t"))
    assert not (tmp_path / "t").exists()


def test_a_program_may_start_anew_before_each_turn(
    monkeypatch, tmp_path, small_files, points
):
    taken = []

    def take(turns, name):
        taken.append(name)
        if len(taken) == 2:
            raise ConfigError("enough")

    monkeypatch.setattr(transfer._Turns, "take", take)
    with pytest.raises(ConfigError, match="enough"):
        transfer.transfer(quick(small_files), str(tmp_path / "t"))
    assert taken == ["plain", "mirror"] and len(points) == 2


def three(entries):
    """The entries of three tasks of one letter."""
    return [{**entries[0], "name": name} for name in "abc"]


def test_steps_are_shared_among_the_tasks(small_files):
    steps = {"steps": 99, "steps_per_epoch": 20, "evaluate_every": 9}
    config = quick(three(small_files), min_steps=5, **steps)
    config["training"]["fine_tune"]["epochs"] = 3
    config["training"]["best_per_task"] = True
    config["training"]["loss_weights"] = {"a": 2.0, "b": 3.0}
    target = transfer.target_config(config, "a", "there")
    training = target["training"]
    assert (training["steps"], training["evaluate_every"]) == (50, 5)
    assert (training["steps_per_epoch"], training["min_steps"]) == (10, 3)
    assert not training["best_per_task"] and not training["loss_weights"]
    assert training["initialize_from"] == "there"
    assert training["freeze"] == ["shared"]
    assert [entry["name"] for entry in target["tasks"]] == ["a"]
    source = transfer.source_config(config, "a")
    assert source["training"]["steps"] == 99
    assert source["training"]["best_per_task"]
    assert source["training"]["loss_weights"] == {"b": 3.0}
    assert not source["training"]["freeze"]
    assert [entry["name"] for entry in source["tasks"]] == ["b", "c"]
    for part in (source, target):
        assert part["training"]["fine_tune"]["epochs"] == 0
        names = [entry["name"] for entry in part["text"]["vocabulary_tasks"]]
        assert names == ["a", "b", "c"]


def test_the_log_names_the_tasks_of_the_first_model(
    monkeypatch, tmp_path, caplog, small_files
):
    def stop(*_):
        raise ConfigError("enough")

    monkeypatch.setattr(training_run, "train", stop)
    with (
        caplog.at_level("INFO", logger="absl"),
        pytest.raises(ConfigError, match="enough"),
    ):
        transfer.transfer(quick(small_files), str(tmp_path))
    assert "Training on mirror." in caplog.messages


def test_turns_go_on_with_what_an_older_version_derived(
    small_files, tmp_path, vocabularies
):
    config = quick(small_files, steps=3, evaluate_every=3)
    directory = str(tmp_path / "t")
    results = transfer.transfer(config, directory, targets=["plain"])
    assert len(vocabularies) == 1  # of both models
    begun = {}
    for kind in ("sources", "targets"):
        path = os.path.join(directory, kind, "plain", "config.json")
        begun[path] = older = read(path)
        older["training"] |= {
            "evaluate_every": 2,
            "steps": 2,
            "loss_weights": {"plain": 2.0},
            "best_per_task": True,
        }
        older["evaluation"]["group"] = list(reversed(small_files))
        with open(path, "w") as file:
            json.dump(older, file)
    again = transfer.transfer(config, directory, targets=["plain"])
    assert again == results
    assert {path: read(path) for path in begun} == begun
    path = os.path.join(directory, "sources", "plain", "results.json")
    damaged = read(path)
    del damaged["run"]
    with open(path, "w") as file:
        json.dump(damaged, file)
    with pytest.raises(RunError, match="plain/results.json is damaged: run"):
        transfer.transfer(config, directory, targets=["plain"])


def test_n_grams_have_one_size_whatever_the_labels_of_a_turn(small_files):
    first, *others = small_files
    labels = [*"pqrstuvwxyz", *map(str, range(9)), "no", "yes"]
    config = quick([first | {"labels": labels}, *others])
    config["model"]["wide"] |= {"buckets": 8, "dimension": 0}
    tasks = registry.resolve(config["tasks"], None, None)
    of_all = transfer._for_all(config, tasks)["model"]["wide"]
    assert of_all == config["model"]["wide"] | {"dimension": len(labels)}


@pytest.mark.parametrize("control, taken", transfer.CONTROLS.items())
def test_controls_take_a_part_of_what_was_learnt(
    turns, small_files, control, taken
):
    """On the same first models, and beside the transfer's own results."""
    directory, results = turns
    sources = os.path.join(directory, "sources", "mirror")
    before = os.path.getmtime(os.path.join(sources, "results.json"))
    found = transfer.transfer(
        quick(small_files), directory, targets=["plain"], control=control
    )
    assert os.path.getmtime(os.path.join(sources, "results.json")) == before
    below = os.path.join(directory, "controls", control)
    assert list(found["tasks"]) == ["plain"]
    assert read(below, "results.json") == found
    assert read(directory, "results.json") == results
    about = read(below, "targets", "plain", "initialized.json")
    parts = {entry["path"].split("/")[0] for entry in about["taken"]}
    assert parts == {{"shared": "scheme"}.get(name, name) for name in taken}
    # Whatever it is, what is shared stays as it begins.
    source = by_path(os.path.join(directory, "sources", "plain"))
    target = by_path(os.path.join(below, "targets", "plain"))
    for path, value in target.items():
        if path.startswith("scheme/"):
            same = np.array_equal(value, source[path])
            assert same == ("shared" in taken), path
