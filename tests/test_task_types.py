"""The list of task types is the only place outside their files that has them.

What a type is to a room stands in that room's `task_types/NAME.py`, so that a
new type is new files and one name in `mtl_tf.core.task_types`.
"""

import ast
import importlib
import importlib.util
import pathlib

import pytest

from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError

ROOT = pathlib.Path(__file__).parent.parent
FOLDERS = ("mtl_tf", "launch", "export")
PACKAGES = (
    "mtl_tf.tasks.task_types",
    "mtl_tf.models.task_types",
    "mtl_tf.evaluation.task_types",
    "mtl_tf.prediction.task_types",
    "mtl_tf.baselines.task_types",
    "export.task_types",
)
#: What may name a type, and why.
MAY_NAME = {
    "mtl_tf/core/task_types.py": "the list",
    "mtl_tf/tasks/splits/groups.py": "data: of which type each corpus is",
    "mtl_tf/configs/base.py": "data: the fields of each system and head",
    "mtl_tf/configs/conll2000.py": "data: an entry on one's own files",
    "mtl_tf/configs/conll2000_transformer.py": "data: an experiment",
    "mtl_tf/configs/decanlp_parts.py": "data: an experiment",
    "mtl_tf/configs/meta_mtl_5.py": "data: an experiment",
    "mtl_tf/configs/multi30k.py": "data: an experiment",
    "mtl_tf/configs/multi_target_nmt_3.py": "data: an experiment",
    "mtl_tf/configs/starter.py": "data: what the tasks of a system start from",
    "mtl_tf/configs/ud_pos.py": "data: an experiment",
    "mtl_tf/runs/systems/answering.py": "the system of questions alone",
    "mtl_tf/runs/systems/multi_target.py": "the system of translation alone",
    "mtl_tf/runs/loaded/tag_files.py": "reads how files of tags are laid out",
    "mtl_tf/benchmarks/cases.py": "a benchmark that is called translation",
    "mtl_tf/benchmarks/contestants.py": "makes tasks for sharing schemes",
    "mtl_tf/benchmarks/crf.py": "measures the head of tagging",
    "mtl_tf/benchmarks/translation.py": "measures the decoder of translation",
    "launch/benchmark.py": "tells what the benchmarks are",
}


def sources():
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            if "__pycache__" not in file.parts:
                yield file.relative_to(ROOT).as_posix(), file


def is_a_types_own(path):
    *_, folder, name = pathlib.PurePosixPath(path).parts
    return folder == "task_types" and name[:-3] in task_types.NAMES


def named_in(source):
    """(line, name) of the types that strings, names and imports spell.

    Strings are whole ones: a docstring that has a type's name among others is
    no constant of that name.
    """
    for node in ast.walk(ast.parse(source)):
        spelled = []
        match node:
            case ast.Constant(value=str(text)):
                spelled = [text.strip()]
            case ast.Name(id=name) | ast.Attribute(attr=name):
                spelled = [name]
            case ast.arg(arg=name) | ast.keyword(arg=name):
                spelled = [name]
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                spelled = [name]
            case ast.ImportFrom(module=module, names=names):
                spelled = types_imported(
                    f"{module}.{alias.name}" for alias in names
                )
            case ast.Import(names=names):
                spelled = types_imported(alias.name for alias in names)
        for name in spelled:
            if name in task_types.NAMES:
                yield node.lineno, name


def types_imported(modules):
    """The types whose files are among imported modules."""
    for module in modules:
        parts = module.split(".")
        if "task_types" in parts[:-1]:
            yield parts[parts.index("task_types") + 1]


def test_no_module_names_a_type_but_its_own():
    found = [
        f"{path}:{line}: {name}"
        for path, file in sources()
        if path not in MAY_NAME and not is_a_types_own(path)
        for line, name in named_in(file.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_what_may_name_a_type_does():
    idle = [
        path
        for path in MAY_NAME
        if not list(named_in((ROOT / path).read_text(encoding="utf-8")))
    ]
    assert idle == []


@pytest.mark.parametrize(
    "source",
    [
        'if task.type == "tagging": pass',
        'x = {"translation": 1}',
        'x = f"{y} " "tagging"[0:]',
        "config.model.tagging",
        "classification = 3",
        "call(tagging=1)",
        "def classification(): pass",
        "from mtl_tf.prediction.task_types import tagging",
        "from mtl_tf.prediction.task_types.tagging import x",
        "import mtl_tf.prediction.task_types.tagging",
    ],
)
def test_a_type_is_found_however_it_is_named(source):
    assert list(named_in(source))


@pytest.mark.parametrize(
    "source",
    [
        '"""About tagging and translation."""',
        "x = 1  # tagging",
        "from mtl_tf.text.encoding.translation import languages_of",
        "from mtl_tf.prediction import task_types",
        'x = task_types.of("ta" + name)',
    ],
)
def test_other_words_are_no_types(source):
    assert not list(named_in(source))


@pytest.mark.parametrize("package", PACKAGES)
def test_rooms_have_no_other_types_than_the_list(package):
    folder = ROOT.joinpath(*package.split("."))
    files = {file.stem for file in folder.glob("*.py")} - {"__init__"}
    assert files <= set(task_types.NAMES)
    for name in files:
        assert task_types.find(package, name) is not None


def test_every_type_is_in_every_room_that_asks_all_types():
    # Heads are of the types of the sharing system alone.
    from mtl_tf.tasks import task_types as types_of_tasks

    for name in task_types.NAMES:
        missing = [
            package
            for package in PACKAGES
            if not importlib.util.find_spec(f"{package}.{name}")
        ]
        sharing = types_of_tasks.of(name).system == "sharing"
        assert missing == ([] if sharing else ["mtl_tf.models.task_types"])


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("clasification", "'classification'"),
        ("taging", "'tagging'"),
        ("translate", "'translation'"),
    ],
)
def test_an_unknown_type_offers_the_nearest(package, name, nearest):
    for call in (
        lambda: task_types.find(package, name),
        lambda: importlib.import_module(package).of(name),
    ):
        with pytest.raises(ConfigError) as error:
            call()
        assert f"unknown task type {name!r}" in str(error.value)
        assert f"did you mean {nearest}" in str(error.value)


@pytest.mark.parametrize("name", [None, 3, "", "__init__", "../tagging"])
def test_what_is_no_name_of_a_type(name):
    with pytest.raises(ConfigError, match="unknown task type"):
        task_types.find(PACKAGES[0], name)


def test_the_default_is_a_type():
    assert task_types.DEFAULT in task_types.NAMES


OWN = """
from mtl_tf.baselines.yardstick import Yardstick

class Levels:
    tasks = models = evaluation = prediction = export = "classification"
    baselines = Yardstick()

class Half:
    tasks = models = "classification"

class Wrong(Levels):
    models = Yardstick()
    export = Yardstick

class Circle(Levels):
    tasks = "mine.py:Circle"

class Unserved(Levels):
    from export.serving_sharing import ServedTexts as export

class Lossless(Levels):
    from mtl_tf.prediction.task_types.classification import ClassPrediction
    prediction = ClassPrediction()
    prediction.outputs = {"prediction": False}

class Misspelt(Levels):
    from mtl_tf.tasks.task_types.classification import Classification
    tasks = Classification()
    tasks.default_metrics = lambda settings: ("acuracy",)
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(OWN)
    return f"{tmp_path}/mine.py"


def test_a_type_outside_the_package_has_a_part_for_each_room(own):
    for package in PACKAGES[:-2]:
        found = importlib.import_module(package).of("mine.py:Levels")
        assert found is task_types.find(package, "classification")
    yardstick = importlib.import_module(PACKAGES[4]).of(f"{own}:Levels")
    assert type(yardstick).__name__ == "Yardstick"
    served = importlib.import_module(PACKAGES[5]).of("mine.py:Levels")
    assert served is task_types.find(PACKAGES[5], "classification")
    assert task_types.title(f"{own}:Levels") == "Levels"
    assert f"{own}:Levels" in task_types.known()


@pytest.mark.parametrize(
    ("room", "name", "message"),
    [
        (
            0,
            "Half",
            "Half has no evaluation, prediction, export, baselines: a task",
        ),
        (1, "Wrong", "models must be an object of .*HeadType, or the name of"),
        (5, "Wrong", "export must be a class of .*Served, or the name"),
        (5, "Unserved", "ServedTexts, which lacks the methods answer, empty"),
        (3, "Lossless", "must name 'loss' and .*, got prediction$"),
        (0, "Missing", "has no class 'Missing'"),
        (0, "Circle", "tasks must be an object of .*TaskType, or the name of"),
    ],
)
def test_what_is_wrong_with_it_is_told(own, room, name, message):
    with pytest.raises(ConfigError, match=message):
        importlib.import_module(PACKAGES[room]).of(f"mine.py:{name}")


def test_default_metrics_are_those_of_the_type(own, tmp_path):
    from mtl_tf.tasks.registry import resolve

    (tmp_path / "train.csv").write_text("text,label\na,low\nb,high\n")
    entry = {"name": "r", "type": "mine.py:Misspelt"}
    with pytest.raises(ConfigError, match="'acuracy'; did you mean 'accuracy'"):
        resolve([entry | {"files": {"train": "train.csv"}}])


def test_a_part_that_was_wrong_may_be_mended(own):
    rooms = importlib.import_module(PACKAGES[1])
    with pytest.raises(ConfigError, match="models must be"):
        rooms.of("mine.py:Wrong")
    with open(own, "a") as file:
        file.write("\nclass Wrong(Levels): pass\n")
    found = rooms.of("mine.py:Wrong")
    assert found is task_types.find(PACKAGES[1], "classification")


def test_a_changed_file_is_read_again_by_the_next_training(own):
    rooms = importlib.import_module(PACKAGES[4])
    before = rooms.of(f"{own}:Levels")
    task_types.read_changed()
    assert rooms.of(f"{own}:Levels") is before
    with open(own, "a") as file:
        file.write("\nLevels.baselines = Yardstick()\n")
    assert rooms.of(f"{own}:Levels") is before
    task_types.read_changed()
    assert rooms.of(f"{own}:Levels") is not before


def test_tasks_of_it_have_its_place_and_heads_its_name(own, tmp_path):
    from mtl_tf.models import components
    from mtl_tf.models.heads import make_heads
    from mtl_tf.tasks.registry import resolve

    (tmp_path / "train.csv").write_text("text,label\na,low\nb,high\n")
    entry = {"name": "r", "type": "mine.py:Levels"}
    (task,) = resolve([entry | {"files": {"train": "train.csv"}}])
    assert task.type == f"{own}:Levels"
    config = {"head": components.checked_head(None)}
    (head,) = make_heads([task.to_json()], config).values()
    assert head.name == "Levels"
    other = {**task.to_json(), "type": f"{own}:Twin"}
    with open(own, "a") as file:
        file.write("\nTwin = Levels\n")
    make_heads([task.to_json(), other], config)
    (tmp_path / "other.py").write_text(OWN)
    other["type"] = f"{tmp_path}/other.py:Levels"
    with pytest.raises(ConfigError, match="two task types .* called 'Levels'"):
        make_heads([task.to_json(), other], config)


@pytest.mark.parametrize(
    ("fields", "fixed"), [((), {}), (("labels",), {"labels": ["a"]})]
)
def test_files_to_be_scored_get_labels_if_the_type_takes_them(fields, fixed):
    from mtl_tf.tasks.task_types.classification import Classification

    made = type("Own", (Classification,), {"fields": fields})()
    assert made.fixed_fields(["a"], {}) == fixed
