"""Modules and classes that docstrings and comments name are there.

A name in backticks is looked up if it begins with a room or with a module and
goes on with a class: `runs.system`, `recurrence.Result`, `mtl_tf.load`.
"""

import ast
import functools
import re

import pytest

from mtl_tf.config_fields import fields
from tests.source_files import PROGRAMS, ROOMS, ROOT, module_of, python_files

FILES = python_files("mtl_tf", *PROGRAMS, "tests")
NAMED = re.compile(r"`((?:[a-z]\w*\.)+\w+)(?:\(.*?\))?`")
#: Rooms that are called like a group of config fields: `training.epochs`.
ALSO_FIELDS = {path.split(".")[0] for path in fields.every()}


MODULES = {".".join(module_of(file)): file for file in FILES}


@functools.cache
def names_in(module):
    """The names at the top of a module, and in its classes."""
    file, names = MODULES[module], set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name)
    return names


def is_there(name):
    """Whether a whole path leads to a module or to a name in one."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        module = ".".join(parts[:length])
        if module in MODULES:
            return set(parts[length : length + 1]) <= names_in(module)
    return name in PROGRAMS


def absent(text):
    """The names in a text that should be there and are not."""
    for name in NAMED.findall(text):
        first, rest = name.split(".", 1)
        if first == "mtl_tf":
            # An installation also has the programs there.
            right = is_there(name) or is_there(rest)
        elif first in ROOMS and first not in ALSO_FIELDS:
            right = is_there(f"mtl_tf.{name}")
        elif re.match("[A-Z]", rest):
            homes = [m for m in MODULES if m.split(".")[-1] == first]
            right = not homes or any(is_there(f"{m}.{rest}") for m in homes)
        else:
            right = True
        if not right:
            yield name


@pytest.mark.parametrize("folder", ["mtl_tf", *PROGRAMS])
def test_modules_that_the_code_names_are_there(folder):
    found = [
        f"{file.relative_to(ROOT)}:{number}: {name}"
        for file in python_files(folder)
        for number, line in enumerate(
            file.read_text(encoding="utf-8").splitlines(), 1
        )
        for name in absent(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    "name",
    [
        "configs.older",
        "runs.train",
        "pieces.Pieces",
        "mtl_tf.runs.inference",
        "mtl_tf.prediction.inference.Nothing",
    ],
)
def test_an_absent_name_is_seen(name):
    assert list(absent(f"See `{name}`.")) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "config_fields.older",
        "layers.base.check_init",
        "recurrence.Result",
        "mtl_tf.load",
        "mtl_tf.export",
        "training.epochs",  # a field
        "keras.Variable",  # of no module here
        "task.dataset",
    ],
)
def test_other_names_are_there(name):
    assert list(absent(f"See `{name}`.")) == []
