"""`--config` and its overrides."""

import json
from importlib import import_module as load_module

import pytest
from absl import flags

from launch import train
from mtl_tf.config_fields import changing, fields
from mtl_tf.configs import fdu_mtl_meta, quickstart
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import config_argument, config_files, runner
from tests.launch.helpers import execute


def parse(*arguments):
    argv = ["train", "--model_dir=x", *arguments]
    return runner.parse(train.PROGRAM, argv).config


def error(*arguments):
    with pytest.raises(ConfigError) as caught:
        parse(*arguments)
    return str(caught.value)


@pytest.fixture
def own(tmp_path):
    def write(source):
        path = tmp_path / "own.py"
        path.write_text(source)
        return path

    return write


def test_bare_name_is_a_shipped_config():
    config = parse("--config=fdu_mtl_meta")
    assert config.to_dict() == fdu_mtl_meta.get_config().to_dict()


def test_config_may_follow_its_overrides_and_stand_apart():
    config = parse("--config.seed=3", "--config", "quickstart")
    assert (config.name, config.seed) == ("quickstart", 3)


def test_argument_after_the_colon():
    assert parse("--config=fdu_mtl_lstm:single").train_separately is True
    assert parse("--config=fdu_mtl_lstm:shared").train_separately is False


def test_config_is_locked():
    with pytest.raises(AttributeError):
        parse("--config=quickstart").nothing = 3


@pytest.mark.parametrize(
    ("override", "path", "value"),
    [
        ("--config.seed=3", "seed", 3),
        ("--config.training.l2=1", "training.l2", 1.0),
        ("--config.training.jit=false", "training.jit", False),
        ("--noconfig.training.jit", "training.jit", False),
        ("--config.train_separately", "train_separately", True),
        ("--config.text.vectors=a=b.txt", "text.vectors", "a=b.txt"),
        ("--config.tasks=fdu_mtl/dvd", "tasks", ("fdu_mtl/dvd",)),
        ("--config.tasks=a/b,c/d", "tasks", ("a/b", "c/d")),
        ("--config.tasks=('a','b')", "tasks", ("a", "b")),
        ("--config.tasks=['a']", "tasks", ("a",)),
        (
            "--config.tasks={'name':'mine','files':{'train':'x'}}",
            "tasks",
            ({"name": "mine", "files": {"train": "x"}},),
        ),
        (
            "--config.pipeline.mixing={'name':'temperature','t':2}",
            "pipeline.mixing",
            {"name": "temperature", "t": 2},
        ),
    ],
)
def test_override(override, path, value):
    here = parse("--config=quickstart", override).to_dict()
    for name in path.split("."):
        here = here[name]
    assert here == value
    assert type(here) is type(value)


@pytest.mark.by_default("*en-de*", "*fractions*")
@pytest.mark.parametrize(
    ("group", "task", "value"),
    [
        ("pipeline.mixing.weights", "en-de", 0.5),
        ("pipeline.mixing.weights", "it_2", 3.0),
        ("pipeline.fractions", "2-way", 0.1),
        ("training.loss_weights", "2-way", 0.1),
    ],
)
def test_groups_by_task_take_any_task(own, group, task, value):
    file = own(
        "from mtl_tf.configs import base\n"
        "def get_config():\n"
        "    config = base.default_config()\n"
        "    with config.unlocked():\n"
        "        config.pipeline.mixing = {\n"
        "            'name': 'weighted', 'weights': {'en-de': 2.0}}\n"
        "    return config\n"
    )
    field = f"{group}.{task}"
    config = parse(f"--config={file}", f"--config.{field}={value}")
    changed = config_files.load(str(file))
    changing.change(changed, {field: value})
    assert config.to_dict() == changed.to_dict()
    here = config
    for name in group.split("."):
        here = here[name]
    assert here[task] == value


def test_a_dict_for_a_group_changes_the_fields_that_it_names():
    config = parse(
        "--config=fdu_mtl_lstm",
        "--config.training.optimizer={'name': 'adam', 'learning_rate': 0.01}",
        "--config.training",
        "{'patience': 7, 'optimizer': {'schedule': 'cosine'}}",
        "--config.tasks=subj",
    )
    training = config.training
    assert training.patience == 7 and training.epochs > 1
    optimizer = training.optimizer
    assert (optimizer.name, optimizer.learning_rate) == ("adam", 0.01)
    assert optimizer.schedule == "cosine"
    assert optimizer.options.to_dict() == {}
    assert config.tasks == ("subj",)


def test_value_in_the_next_argument():
    config = parse("--config=quickstart", "--config.tasks", "a,b")
    assert config.tasks == ("a", "b")


def test_repeated_tuple_fields_add_up():
    config = parse(
        "--config=quickstart", "--config.tasks=a,b", "--config.tasks=c"
    )
    assert config.tasks == ("a", "b", "c")


def test_the_last_of_repeated_values_counts():
    config = parse("--config=quickstart", "--config.seed=1", "--config.seed=2")
    assert config.seed == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "--config is missing: give one of conll2000, conll2000_",
        ),
        (["--config="], "--config is missing"),
        (["--confg=quickstart"], "unknown flag --confg; did you mean --config"),
        (["--config=quikstart"], "did you mean 'quickstart'"),
        (["--config=base"], "unknown config 'base'"),
        (["--config=no/such.py"], "there is no config file no/such.py"),
        (["--config=quickstart:x"], "takes no argument, got 'x'"),
        (["--config=fdu_mtl_lstm:sngle"], "did you mean 'single'?"),
    ],
)
def test_wrong_config(arguments, message):
    assert message in error(*arguments)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "--config.training.epoch=3",
            "unknown config field 'training.epoch': config.training has no "
            "'epoch'; did you mean 'epochs' or",
        ),
        ("--config.trainig.epochs=3", "config has no 'trainig'; did you mean"),
        # Right names in wrong groups, and below misspelled ones.
        (
            "--config.training.learning_rate=0.1",
            "did you mean 'training.optimizer.learning_rate'",
        ),
        (
            "--config.training.optimiser.learning_rate=0.1",
            "did you mean 'training.optimizer.learning_rate' or",
        ),
        ("--config.batch_size=3", "did you mean 'pipeline.batch_size' or"),
        ("--config.model.units=3", "did you mean 'model.scheme.units'"),
        ("--config.seed.x=3", "config.seed has no fields"),
        (
            "--config.pipeline.fractions.v1.0=0.5",
            "a task with a dot in its name can have no field in "
            "config.pipeline.fractions",
        ),
        ("--config.pipeline.fractions.=0.5", "has no ''"),
        ("--config.seed=a", "config.seed must be an integer, got 'a'"),
        ("--config.seed=1.5", "config.seed must be an integer, got '1.5'"),
        ("--config.training.l2=x", "config.training.l2 must be a number"),
        (
            "--config.train_separately=maybe",
            "config.train_separately must be True or False, got 'maybe'",
        ),
        ("--config.training.jit=maybe", "config.training.jit"),
        ("--config.training=3", "config.training must be a dict"),
        ("--config.text.vectors", "config.text.vectors"),
        ("--config.tasks=('a',", "is not a Python literal"),
        (
            "--config.pipeline.schedule={'name':'joint'}",
            "pipeline.schedule is called pipeline.mixing by now",
        ),
        (
            "--config.pipeline.schedule.name=joint",
            "is called pipeline.mixing.name by now",
        ),
        (
            "--config.pipeline.mixing.temperature=2",
            "--config.pipeline.mixing=\"{'name': ..., 'temperature': ...}\"",
        ),
    ],
)
def test_wrong_override(override, message):
    assert message in error("--config=quickstart", override)


def test_own_file_with_tasks_of_ones_own(own):
    path = own(
        "from mtl_tf.configs import base\n"
        "def get_config(name):\n"
        "    config = base.default_config()\n"
        "    config.name = name\n"
        "    config.tasks = ({'name': 'mine', 'files': {'train': 'a.tsv'}},\n"
        "                    'fdu_mtl/books')\n"
        "    return config\n"
    )
    config = parse(f"--config={path}:mine", "--config.seed=4").to_dict()
    mine = {"name": "mine", "files": {"train": "a.tsv"}}
    assert config["tasks"] == (mine, "fdu_mtl/books")
    assert type(config["tasks"][0]) is dict
    assert (config["name"], config["seed"]) == ("mine", 4)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\ndef get_config(:\n", "own.py:2: SyntaxError: "),
        ("x = 1\n\nimport nothing_of_this_name\n", "own.py:3: ModuleNotFound"),
        ("def get_config():\n    return nme\n", "own.py:2: NameError: name"),
        (
            "from mtl_tf.configs import base\n"
            "def get_config():\n"
            "    config = base.default_config().lock()\n"
            "    config.sed = 3\n",
            "own.py:4: AttributeError: ",
        ),
        (
            "from mtl_tf.configs import base\n"
            "def get_config():\n"
            "    config = base.default_config()\n"
            "    config.pipeline.schedule.name = 'joint'\n"
            "    return config\n",
            "(pipeline.schedule is called pipeline.mixing by now)",
        ),
        ("x = 1\n", "own.py has no function get_config()"),
        ("def get_config():\n    return 3\n", "must return a ConfigDict, got"),
        ("def get_config(size): pass\n", "own.py needs an argument (size)"),
        ("raise SystemExit(3)\n", "own.py:1: SystemExit: 3"),
        ("def get_config():\n    raise ValueError('a\\nb')\n", "Error: a b"),
    ],
)
def test_mistakes_in_ones_own_file(own, source, message):
    assert message in error(f"--config={own(source)}")


def test_a_mistake_in_a_file_gives_one_line_and_1(own):
    path = own("def get_config():\n    return nme\n")
    status, out, err = execute(
        "-m", "launch.train", f"--config={path}", "--model_dir=x"
    )
    assert (status, out) == (1, "")
    assert err == f"error: {path}:2: NameError: name 'nme' is not defined\n"


def test_a_plain_dict_will_do(own):
    path = own("def get_config():\n    return {'a': {'b': 1}}\n")
    assert parse(f"--config={path}", "--config.a.b=2").a.b == 2


def test_without_overrides_keeps_other_flags():
    argv = ["p", "--config.a=1", "--noconfig.b", "--size=2"]
    assert config_argument.without_overrides(argv) == ["p", "--size=2"]


def test_split_stops_at_the_double_dash():
    argv = ["p", "--", "--config=x"]
    assert config_argument.split(argv) == (None, argv)


def test_define_leaves_global_flags_alone():
    before = set(flags.FLAGS)
    parse("--config=quickstart", "--config.seed=3")
    assert set(flags.FLAGS) == before


def test_what_is_listed_as_shipped_has_a_function_get_config():
    """Modules beside the configs stood in the help as configs."""
    names = config_files.shipped()
    assert {"quickstart", "starter"} <= set(names)
    assert not {"phases", "encoder_fields", "evaluation_fields"} & set(names)
    for name in names:
        assert callable(load_module(f"mtl_tf.configs.{name}").get_config)


@pytest.fixture
def of_run(tmp_path):
    """Writes the `config.json` of a run of the quickstart."""

    def write(**changes):
        config = quickstart.get_config().to_dict()
        path = tmp_path / "config.json"
        whole = config | {"version": fields.VERSION} | changes
        path.write_text(json.dumps(whole))
        return path

    return write


def test_the_config_of_a_run_is_a_config(of_run):
    config = parse(
        f"--config={of_run()}", "--config.tasks=sample_reviews/books"
    )
    expected = quickstart.get_config().to_dict()
    assert config.to_dict() == expected | {"tasks": ("sample_reviews/books",)}


def test_the_config_of_an_older_run_keeps_what_it_did(of_run):
    config = parse(f"--config={of_run(version=1, training={})}")
    assert (
        config.training.epochs
        == fields.defaults(version=1)["training"]["epochs"]
    )
    assert config.pipeline.mixing.name == "uniform"


def test_a_table_s_row_has_no_seed(of_run):
    path = of_run()
    config = json.loads(path.read_text())
    del config["seed"]
    path.write_text(json.dumps(config))
    assert parse(f"--config={path}").seed == 0


def test_a_damaged_config_of_a_run_is_told(of_run):
    message = error(f"--config={of_run(version=99)}")
    assert "a config's version must be at most" in message
    message = error(f"--config={of_run(model=3)}")
    assert "is damaged: it is no config of a run" in message


def test_json_that_is_no_run_s_config_is_refused(tmp_path, of_run):
    path = tmp_path / "mine.json"
    path.write_text('{"tasks": []}')
    assert "not the config.json of a run" in error(f"--config={path}")
    path.write_text('{"tasks": [')
    assert "mine.json cannot be read as JSON" in error(f"--config={path}")
    assert "takes no argument" in error(f"--config={of_run()}:small")
