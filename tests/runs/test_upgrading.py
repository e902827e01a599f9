"""Files that older code wrote are read as today's."""

import copy
import json
import pathlib
import shutil

import pytest

from mtl_tf.config_fields import fields, validation
from mtl_tf.core.errors import RunError
from mtl_tf.runs.directory.run_directory import RunDirectory, flatten
from mtl_tf.runs.directory.upgrading import VERSION, stamped, upgraded

STORED = pathlib.Path(__file__).parent.parent / "stored_runs"
DEFAULTS = json.loads(json.dumps(fields.defaults()))
FIRST_DEFAULTS = json.loads(json.dumps(fields.defaults(version=1)))
# Where nothing is to be chosen it has today's default.
FIRST_DEFAULTS["model"]["wide"]["choose_shares"] = True

# What the first version wrote, of other values than today's defaults.
FIRST = {
    "name": "first",
    "seed": 3,
    "tasks": ["fdu_mtl/books"],
    "train_separately": False,
    "text": {
        "tokenizer": {"name": "reversible"},
        "max_length": 30,
        "min_count": 2,
        "max_size": 0,
        "vectors": "",
    },
    "pipeline": {
        "batch_size": 8,
        "buckets": 2,
        "schedule": {"name": "blocks", "block": 2},
    },
    "model": {
        "embedding_dim": 6,
        "embedding_trainable": True,
        "dropout": {"embedding": 0.0, "head": 0.0},
        "init": {},
        "scheme": {"name": "lstm", "units": 8},
    },
    "training": {
        "epochs": 10,
        "steps": 0,
        "optimizer": {"name": "adam", "learning_rate": 0.1, "lazy": True},
        "fine_tune": {"epochs": 1},
    },
    "evaluation": {"splits": ["test"], "batch_size": 64},
}


def test_a_config_of_the_first_version_is_complete():
    before = copy.deepcopy(FIRST)
    config = upgraded("config.json", FIRST)
    assert before == FIRST
    validation.validate(config)
    assert config["pipeline"]["mixing"] == {"name": "blocks", "block": 2}
    assert "schedule" not in config["pipeline"]
    # What it says stays, and what it leaves out is as it was.
    for path, value in flatten(FIRST).items():
        if not path.startswith("pipeline.schedule"):
            assert flatten(config)[path] == value, path
    assert config["pipeline"]["bucket_multiple"] == 0
    assert config["pipeline"]["fractions"] == {}
    assert config["text"]["characters"]["max_word_length"] == 0
    assert config["text"]["casing"] is False
    assert config["training"]["fine_tune"]["scope"] == "private"
    assert config["training"]["mixed_precision"] == "float32"
    assert config["evaluation"]["paper_scoring"] is False
    assert config["cross_validation"] == {"folds": 0, "fold": 0}


def test_options_of_a_choice_are_not_completed():
    config = upgraded("config.json", FIRST)
    # But for what comes with version 2: what it does not say was so.
    scheme = {"name": "lstm", "units": 8, "forget_bias": 0.0}
    assert config["model"]["scheme"] == scheme | {"pooling": "last"}
    assert config["text"]["tokenizer"] == {"name": "reversible"}
    assert config["model"]["characters"] == {"name": "none"}


def test_a_config_of_today_stays():
    config = {**DEFAULTS, "baseline": {"name": "linear"}}
    assert upgraded("config.json", stamped("config.json", config)) == config


def test_options_that_a_config_of_today_leaves_out_are_todays():
    """Else a run of today would begin as those of older code did."""
    config = {**DEFAULTS, "model": {"scheme": {"name": "lstm", "units": 8}}}
    for name, value, read in (
        ("config.json", config, lambda v: v),
        ("sweep_config.json", config, lambda v: v),
        ("transfer.json", {"config": config}, lambda v: v["config"]),
    ):
        found = read(upgraded(name, stamped(name, value)))
        scheme = {"name": "lstm", "units": 8, "forget_bias": 1.0}
        assert found["model"]["scheme"] == scheme | {"pooling": "last"}
        assert "version" not in found


def test_flags_of_older_schemes_may_be_numbers():
    stored = json.loads((STORED / "asp" / "config.json").read_text())
    stored["model"]["scheme"]["orthogonality_mean"] = 0
    scheme = upgraded("config.json", stored)["model"]["scheme"]
    assert scheme["orthogonality_mean"] is False


RECURRENT = ("lstm", "meta_mtl", "asp", "arc_i", "tagging")


@pytest.mark.parametrize("name", RECURRENT)
def test_a_stored_run_goes_on_with_todays_config(name, tmp_path):
    """One says what it did by default; what both leave out is the same."""
    shutil.copytree(STORED / name, tmp_path / "run")
    run = RunDirectory(str(tmp_path / "run"))
    stored = json.loads((STORED / name / "config.json").read_text())
    config = validation.validate(upgraded("config.json", stored))
    scheme = {"forget_bias": 0.0}
    if name == "asp":
        scheme["orthogonality_mean"] = True
    config["model"]["scheme"] = stored["model"]["scheme"] | scheme
    run.claim(config)
    config["model"]["scheme"]["pooling"] = "last"
    run.claim(config)
    assert run.has("results.json")
    config["model"]["scheme"]["forget_bias"] = 1.0
    with pytest.raises(RunError, match="forget_bias: 0.0 there, 1.0 asked"):
        run.claim(config)


@pytest.mark.parametrize("alone", [0.0, 0.2])
def test_a_run_before_shares_were_chosen_goes_on(tmp_path, alone):
    """With the same config, unless shares would be chosen by now."""
    config = json.loads(json.dumps(DEFAULTS))
    config["model"]["wide"]["alone"] = alone
    stored = json.loads(json.dumps(config))
    del stored["model"]["wide"]["choose_shares"]
    (tmp_path / "config.json").write_text(json.dumps(stored | {"version": 4}))
    (tmp_path / "results.json").write_text("{}")
    run = RunDirectory(str(tmp_path))
    if not alone:
        run.claim(config)
        return
    with pytest.raises(RunError, match="shares: False there, True asked for"):
        run.claim(config)


@pytest.mark.parametrize("version", [VERSION + 1, "2", None])
def test_a_config_of_a_version_to_come_is_refused(version):
    with pytest.raises(RunError, match=f"at most {VERSION} here, got"):
        upgraded("config.json", {"version": version})


def test_an_empty_config_is_the_default_one():
    assert upgraded("config.json", {}) == FIRST_DEFAULTS


def test_mixings_within_phases_are_renamed():
    def phases(name):
        inner = {"name": "phases", "phases": [{"tasks": [1], "steps": 2}]}
        return {
            "name": "phases",
            "phases": [{"tasks": [0], "steps": 1, name: inner}, {"epochs": 2}],
            name: {"name": "phases", name: "uniform"},
        }

    config = upgraded(
        "config.json", {"pipeline": {"schedule": phases("schedule")}}
    )
    assert config["pipeline"]["mixing"] == phases("mixing")
    # The learning rate's schedule is another one.
    assert config["training"]["optimizer"]["schedule"] == "constant"


def test_files_are_known_by_their_name_in_any_folder():
    assert upgraded("tasks/books/config.json", {}) == FIRST_DEFAULTS
    read = upgraded("transfer.json", {"config": {}})
    assert read == {"config": FIRST_DEFAULTS}
    assert upgraded("other.json", {"pipeline": {}}) == {"pipeline": {}}
    assert upgraded("config.json", [1]) == [1]


@pytest.mark.parametrize(
    "path", sorted(STORED.glob("*/config.json")), ids=lambda p: p.parent.name
)
def test_defaults_are_those_of_the_stored_runs(path):
    """Their configs say what every default was; they changed few."""
    stored = json.loads(path.read_text())
    config = flatten(upgraded("config.json", stored))
    different = {
        name
        for name, value in flatten(FIRST_DEFAULTS).items()
        if config.get(name) != value
    }
    changed = (
        *("name", "tasks", "training.epochs", "model.embedding_dim"),
        *("pipeline.batch_size", "pipeline.buckets", "model.dropout."),
        *("training.optimizer.learning_rate", "text.casing"),
        *("text.characters.max_word_length", "model.casing_dim"),
        *("model.scheme.", "model.characters.", "pipeline.mixing."),
        *("model.translation.", "evaluation.decoding."),
    )
    assert [n for n in different if not n.startswith(changed)] == []
