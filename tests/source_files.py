"""The project's Python files and what they import."""

import ast
import functools
import pathlib

ROOT = pathlib.Path(__file__).parent.parent

ROOMS_FILE = ROOT / "rooms.bzl"


def read_lists():
    lists = {}
    for node in ast.parse(ROOMS_FILE.read_text()).body:
        if isinstance(node, ast.Assign):
            lists[node.targets[0].id] = ast.literal_eval(node.value)
    return lists


ROOMS = read_lists()["ROOMS"]

PROGRAMS = read_lists()["PROGRAMS"]

TEST_NEEDS = read_lists()["TEST_NEEDS"]


def python_files(*folders):
    files = []
    for folder in folders:
        files += sorted((ROOT / folder).rglob("*.py"))
    return [file for file in files if "__pycache__" not in file.parts]


def module_of(file):
    parts = list(file.relative_to(ROOT).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "__init__" else parts


def resolve(node, file):
    """The absolute modules that an import statement names."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = list(file.relative_to(ROOT).parts[:-1])
        package = package[: len(package) - node.level + 1]
        base = ".".join(package + ([node.module] if node.module else []))
    # `from mtl_tf import text` names a room in its second half.
    return [f"{base}.{alias.name}" for alias in node.names]


@functools.cache
def imports(file):
    """(line, module) of every import, also of those inside functions."""
    return list(_imports(file))


def _imports(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for module in resolve(node, file):
                yield node.lineno, module
