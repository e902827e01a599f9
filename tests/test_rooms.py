"""The rooms import in one direction, and light ones stay light."""

import ast
import fnmatch
import graphlib
import re
import subprocess
import sys

import pytest

from tests.source_files import (
    PROGRAMS,
    ROOMS,
    ROOT,
    TEST_NEEDS,
    imports,
    module_of,
    python_files,
    read_lists,
    resolve,
)

# Imported while flags are read or when nobody trains: no TensorFlow there, nor
# in the programs' own modules.
LIGHT_ROOMS = ["core", "configs", "programs"]


def wrong_room(module, allowed):
    parts = module.split(".")
    if parts == ["mtl_tf"]:
        # Its functions import "programs" before the rooms they offer.
        return "programs" not in allowed
    if parts[0] in PROGRAMS:
        return parts[0] not in allowed
    if parts[0] != "mtl_tf" or len(parts) < 2 or parts[1] not in ROOMS:
        return False
    return parts[1] not in allowed


def room_violations(room, root=ROOT):
    allowed = {room, *ROOMS[room]}
    return [
        f"{file.relative_to(root)}:{line} imports {module}"
        for file in python_files(f"mtl_tf/{room}")
        for line, module in imports(file)
        if wrong_room(module, allowed)
    ]


def test_every_folder_of_the_package_is_a_room():
    folders = {
        path.name
        for path in (ROOT / "mtl_tf").iterdir()
        if path.is_dir() and path.name != "__pycache__"
    }
    assert folders == set(ROOMS)


def test_rooms_may_import_only_rooms_listed_above_them():
    names = list(ROOMS)
    for room, needed in ROOMS.items():
        assert set(needed) <= set(names[: names.index(room)]), room


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_uses_every_arrow_that_it_has(room):
    needed = ROOMS[room]
    used = {
        module.split(".")[1]
        for file in python_files(f"mtl_tf/{room}")
        for _, module in imports(file)
        if module.startswith("mtl_tf.") and module.split(".")[1] in ROOMS
    }
    assert set(needed) <= used, f"unused: {set(needed) - used}"


@pytest.mark.parametrize("room", ROOMS)
def test_room_imports_only_what_it_may(room):
    assert room_violations(room) == []


def test_the_package_itself_imports_no_room_at_load():
    tree = ast.parse((ROOT / "mtl_tf" / "__init__.py").read_text())
    found = [
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
    ]
    assert [text for text in found if "mtl_tf" in text] == [
        "from mtl_tf.core.version import __version__ as __version__"
    ]


@pytest.mark.parametrize("folder", PROGRAMS)
def test_programs_import_their_neighbours_relatively(folder):
    """`launch.x` and `mtl_tf.launch.x` in one process defines flags twice."""
    other = [f"mtl_tf.{name}" for name in PROGRAMS]
    for file in python_files(folder):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            where = f"{file.relative_to(ROOT)}:{node.lineno}"
            level = getattr(node, "level", 0)
            depth = len(file.relative_to(ROOT / folder).parts)
            assert level <= depth, f"{where} leaves its folder relatively"
            for module in resolve(node, file) if not level else []:
                top = module.split(".")[0]
                assert top not in PROGRAMS, f"{where}: use a relative import"
                assert not module.startswith(tuple(other)), where


@pytest.mark.parametrize("room", ROOMS)
def test_tests_of_a_room_need_only_what_bazel_gives_them(room):
    needs = TEST_NEEDS.get(room, [])
    allowed = {room, *ROOMS[room], *needs}
    violations = [
        f"{file.relative_to(ROOT)}:{line} imports {module}"
        for file in python_files(f"tests/{room}")
        for line, module in imports(file)
        if wrong_room(module, allowed)
    ]
    assert violations == []


@pytest.mark.parametrize(
    ("statement", "module"),
    [
        ("import mtl_tf.runs.building", "mtl_tf.runs.building"),
        ("from mtl_tf.runs import building", "mtl_tf.runs.building"),
        ("from mtl_tf import runs", "mtl_tf.runs"),
        ("from ..runs import building", "mtl_tf.runs.building"),
        ("from .. import runs", "mtl_tf.runs"),
    ],
)
def test_the_reader_of_imports_sees_every_form(statement, module):
    file = ROOT / "mtl_tf" / "text" / "example.py"
    found = resolve(ast.parse(statement).body[0], file)
    assert found == [module]
    assert wrong_room(found[0], {"text", "core"})
    assert not wrong_room(found[0], {"runs"})


def test_a_room_may_not_import_the_front_of_the_package():
    assert wrong_room("mtl_tf", {"runs", "experiments"})
    assert not wrong_room("mtl_tf", {"runs", "programs"})


# Modules


def package_module(name, modules):
    """The module of the package that an import statement reaches, or None."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def test_imports_of_modules_have_no_circle():
    """Lazy imports included: a circle with a lazy arrow is one, too."""
    files = {".".join(module_of(f)): f for f in python_files("mtl_tf")}
    graph = {
        name: {package_module(module, files) for _, module in imports(file)}
        - {None, name}
        for name, file in files.items()
    }
    graphlib.TopologicalSorter(graph).prepare()


@pytest.mark.parametrize(
    ("room", "folder", "needs"),
    [
        ("evaluation", "task_types", "metrics"),
        ("layers", "crf", "recurrent"),
        ("models", "schemes", "scheme"),
        ("pipelines", "schedule", "examples"),
        ("runs", "loaded", "data"),
        ("tasks", "sources", "reading"),
        ("text", "encoding", "tokenizers"),
        ("training", "checkpoints", "optimizers"),
    ],
)
def test_folders_of_a_room_import_in_one_direction(room, folder, needs):
    graph = {}
    for file in python_files(f"mtl_tf/{room}"):
        _, _, *inside = module_of(file)
        for _, module in imports(file):
            parts = module.split(".")
            if parts[:2] == ["mtl_tf", room] and len(inside) > 1:
                graph.setdefault(inside[0], set()).add(parts[2])
    for name, needed in graph.items():
        needed.discard(name)
    assert needs in graph[folder]
    graphlib.TopologicalSorter(graph).prepare()


# Test modules

IN_A_STRING = re.compile(
    r"(?:from|import)\s+tests[\w.]*\.test_\w+|"
    r"from\s+tests[\w.]*\s+import\s+test_\w+"
)


def imported_test_modules(tree, file):
    """Test modules that a module imports, or the code in its strings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for module in resolve(node, file):
                # The last part may be a test's name.
                parts = module.split(".")
                if parts[0] == "tests" and any(
                    part.startswith("test_") for part in parts
                ):
                    yield module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from IN_A_STRING.findall(node.value)


@pytest.mark.extended
def test_no_module_of_the_tests_imports_a_test_module():
    """What several of them need stands in a helper module."""
    found = {
        str(file.relative_to(ROOT)): names
        for file in python_files("tests")
        if (
            names := list(
                imported_test_modules(
                    ast.parse(file.read_text(encoding="utf-8")), file
                )
            )
        )
    }
    assert found == {}


@pytest.mark.parametrize(
    "code",
    [
        "import tests.text." + "test_x",
        "from tests.text." + "test_x import make",
        "from tests.text import " + "test_x",
        "from ." + "test_x import make",
        "code = 'import os; from tests.text import " + "test_x as t'",
        "code = 'import tests.text." + "test_x'",
    ],
)
def test_an_imported_test_module_is_seen(code):
    file = ROOT / "tests" / "text" / "example.py"
    assert list(imported_test_modules(ast.parse(code), file))


# Light modules


def light_modules():
    files = python_files(*(f"mtl_tf/{room}" for room in LIGHT_ROOMS))
    for folder, names in PROGRAMS.items():
        files += [ROOT / folder / f"{name}.py" for name in names]
    modules = [".".join(module_of(file)) for file in files if file.exists()]
    return ["mtl_tf", *modules]


def test_light_modules_do_not_import_tensorflow():
    """One process imports them all: any heavy one is named."""
    code = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    importlib.import_module(name)\n"
        "    for heavy in ('tensorflow', 'keras', 'tensorflow_datasets'):\n"
        "        if heavy in sys.modules:\n"
        "            sys.exit(f'{name} imports {heavy}')\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, *light_modules()],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr


# Docstrings and machine paths


def public_definitions(tree):
    """(name, node) of public classes, functions and public methods."""
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        if node.name.startswith("_"):
            continue
        yield node.name, node
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name[0] != "_":
                    yield f"{node.name}.{part.name}", part


def is_documented_elsewhere(node):
    """Overrides of Keras hooks and properties' setters inherit theirs."""
    names = {ast.unparse(d) for d in node.decorator_list}
    return any(name.endswith(".setter") for name in names) or (
        any(name.split(".")[-1] == "override" for name in names)
    )


@pytest.mark.parametrize("folder", ["mtl_tf", *PROGRAMS])
def test_public_names_have_docstrings(folder):
    missing = []
    for file in python_files(folder):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        where = file.relative_to(ROOT)
        if not ast.get_docstring(tree):
            missing.append(f"{where}: module")
        for name, node in public_definitions(tree):
            if not (ast.get_docstring(node) or is_documented_elsewhere(node)):
                missing.append(f"{where}:{node.lineno}: {name}")
    assert missing == []


SECTION = re.compile(
    r"^ +(?:(?:Args|Attributes|Example|Raises|Returns|Yields)"
    r"|(?:Input|Output|Input and output) shapes?|Masking|\"inspect\"):",
    re.MULTILINE,
)


def indented_sections(tree):
    """Lines with the headers that stand inside another section."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            text = ast.get_docstring(node) or ""
            for header in SECTION.findall(text):
                yield getattr(node, "name", "module"), header.strip()


@pytest.mark.parametrize("folder", ["mtl_tf", *PROGRAMS])
def test_sections_of_docstrings_are_not_inside_others(folder):
    assert [
        f"{file.relative_to(ROOT)}: {name}: {header}"
        for file in python_files(folder)
        for name, header in indented_sections(
            ast.parse(file.read_text(encoding="utf-8"))
        )
    ] == []


def test_a_section_inside_another_is_seen():
    text = '''"""Does.\n\nArgs:\n    x: a.\n\n    Masking: none.\n"""'''
    assert [*indented_sections(ast.parse(text))] == [("module", "Masking:")]


def is_text(file):
    suffixes = {".py", ".md", ".bib", ".txt", ".toml", ".json", ""}
    return (
        file.is_file()
        and file.suffix in suffixes
        and "__pycache__" not in file.parts
    )


def product_files():
    folders = ["mtl_tf", *PROGRAMS, "docs", "tests", ".ci", "build_support"]
    for folder in folders:
        yield from filter(is_text, sorted((ROOT / folder).rglob("*")))
    # In a git worktree .git is a file, and names a folder.
    top = {file for file in ROOT.iterdir() if file.is_file()}
    yield from sorted(top - {ROOT / ".git"})


def test_no_file_names_a_place_on_our_machines():
    forbidden = [
        "../" + "shared",
        "/" + "work/",
        "/" + "root/",
        "find-" + "links",
    ]
    found = [
        f"{file.relative_to(ROOT)}: {text}"
        for file in product_files()
        for text in forbidden
        if text in file.read_text(encoding="utf-8", errors="replace")
    ]
    assert found == []


def test_no_two_bazel_targets_have_one_name():
    names = []

    def target(name, **_):
        names.append(name)

    # Bazel's own folders are links to all it has ever built.
    tops = [p for p in ROOT.glob("[!.]*/") if not p.is_symlink()]
    files = [str(p.relative_to(ROOT)) for t in tops for p in t.glob("**/*.*")]

    def found(include, exclude=(), **_):
        def matches(file, patterns):
            plain = [pattern.replace("**/", "*") for pattern in patterns]
            return any(fnmatch.fnmatch(file, pattern) for pattern in plain)

        chosen = [file for file in files if matches(file, include)]
        return [file for file in chosen if not matches(file, exclude)]

    # BUILD is Starlark, of the part that is Python, too.
    rules = ("py_library", "py_binary", "py_test", "genrule", "filegroup")
    build = dict.fromkeys(rules, target) | read_lists()
    build |= {"load": lambda *_: None, "package": lambda **_: None}
    exec((ROOT / "BUILD").read_text(), build | {"glob": found})
    assert {"mtl_tf/figures", "figures", "tests/test_rooms"} <= set(names)
    assert [name for name in names if names.count(name) > 1] == []
