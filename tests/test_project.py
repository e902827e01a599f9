"""The package as it is installed: what is in it and what it starts."""

import configparser
import importlib.metadata
import importlib.util
import json
import os
import pathlib
import re
import runpy
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from tests.source_files import PROGRAMS, ROOT, imports, python_files

BUILD_TOOLS = importlib.util.find_spec("setuptools") is not None
needs_setuptools = pytest.mark.skipif(
    not BUILD_TOOLS, reason="setuptools is not installed (extra dev)"
)
SOURCES = ["mtl_tf", "launch", "export"]
TOP_FILES = [
    "setup.py",
    "pyproject.toml",
    "MANIFEST.in",
    "README.md",
    "CHANGELOG.md",
    "LICENSE",
]
DATA_FILES = {"py.typed", "CITATIONS.bib", "README.md", "TAGS.txt"}


def copy_sources(destination, folders=SOURCES):
    """The files that packaging needs; building writes beside them."""
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    destination.mkdir(exist_ok=True)
    for name in folders:
        shutil.copytree(ROOT / name, destination / name, ignore=ignore)
    for name in TOP_FILES:
        shutil.copy(ROOT / name, destination / name)


def pip(*arguments):
    command = [sys.executable, "-m", "pip", *arguments]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


OFFLINE = ["--no-deps", "--no-build-isolation", "--no-index", "--quiet"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    copy_sources(folder / "source")
    pip("wheel", *OFFLINE, "-w", str(folder), str(folder / "source"))
    [path] = folder.glob("mtl_tf-*.whl")
    with zipfile.ZipFile(path) as file:
        yield file


def installed_name(path):
    """Where a file of the checkout is in an installation."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts if parts[0] == "mtl_tf" else ("mtl_tf", *parts))


def files_to_install():
    return {
        installed_name(path)
        for name in SOURCES
        for path in (ROOT / name).rglob("*")
        if (path.suffix == ".py" or path.name in DATA_FILES)
        and "__pycache__" not in path.parts
    }


@needs_setuptools
def test_wheel_holds_every_module_and_the_datasets_papers(wheel):
    packed = {n for n in wheel.namelist() if not n.startswith("mtl_tf-")}
    assert packed == files_to_install()


@needs_setuptools
def test_wheel_installs_one_top_level_package(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if "dist-info" not in top} == {"mtl_tf"}


@needs_setuptools
def test_wheel_starts_every_program(wheel):
    [name] = [n for n in wheel.namelist() if n.endswith("entry_points.txt")]
    parser = configparser.ConfigParser()
    parser.read_string(wheel.read(name).decode())
    assert dict(parser["console_scripts"]) == {
        "mtl-prepare-data": "mtl_tf.launch.prepare_data:run",
        "mtl-train-vectors": "mtl_tf.launch.train_vectors:run",
        "mtl-pretrain": "mtl_tf.launch.pretrain:run",
        "mtl-data-service": "mtl_tf.launch.data_service:run",
        "mtl-train": "mtl_tf.launch.train:run",
        "mtl-evaluate": "mtl_tf.launch.evaluate:run",
        "mtl-predict": "mtl_tf.launch.predict:run",
        "mtl-baseline": "mtl_tf.launch.baseline:run",
        "mtl-benchmark": "mtl_tf.launch.benchmark:run",
        "mtl-calibrate": "mtl_tf.launch.calibrate:run",
        "mtl-compare": "mtl_tf.launch.compare:run",
        "mtl-ensemble": "mtl_tf.launch.ensemble:run",
        "mtl-analyse": "mtl_tf.launch.analyse:run",
        "mtl-transfer": "mtl_tf.launch.transfer:run",
        "mtl-sweep": "mtl_tf.launch.sweep:run",
        "mtl-reproduce": "mtl_tf.launch.reproduce:run",
        "mtl-figures": "mtl_tf.launch.figures:run",
        "mtl-export": "mtl_tf.export.saved_model:run",
        "mtl-check": "mtl_tf.export.check:run",
    }


@needs_setuptools
def test_wheel_says_what_it_needs(wheel):
    [name] = [n for n in wheel.namelist() if n.endswith("METADATA")]
    text = wheel.read(name).decode()
    needed = set(re.findall(r"^Requires-Dist: ([\w-]+)", text, re.MULTILINE))
    assert {"tensorflow", "keras-nlp", "tensorflow-datasets"} <= needed
    assert re.search(r"^Requires-Dist: tensorflow-text.*!=2\.21\.0", text, re.M)
    extras = set(re.findall(r"^Provides-Extra: (\w+)", text, re.MULTILINE))
    assert extras == {
        "baselines",
        "beam",
        "dev",
        "docs",
        "encoders",
        "figures",
        "gpu",
        "serving",
        "trackers",
        "vectors",
    }
    unbounded = re.findall(r"^Requires-Dist: [\w.-]+(?:$| ;|;)", text, re.M)
    assert unbounded == []


@pytest.mark.extended
@needs_setuptools
def test_source_distribution_has_the_tests_and_the_docs(tmp_path):
    folders = [*SOURCES, "tests", "docs", "build_support", ".ci"]
    copy_sources(tmp_path / "source", folders)
    expected = {
        path.relative_to(tmp_path / "source").as_posix()
        for path in (tmp_path / "source").rglob("*")
        if path.is_file()
    }
    code = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path / "source",
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    [path] = (tmp_path / "source" / "dist").glob("mtl_tf-*.tar.gz")
    with tarfile.open(path) as file:
        names = [m.name.partition("/")[2] for m in file if m.isfile()]
    assert expected - set(names) == set()


@pytest.fixture(scope="module")
def empty_environment(tmp_path_factory):
    """A new virtual environment that also sees this one's packages."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False, symlinks=True)
    [packages] = folder.glob("lib/python*/site-packages")
    lines = [*site.getsitepackages(), site.getusersitepackages()]
    (packages / "outer.pth").write_text("\n".join(lines) + "\n")
    return folder


@pytest.mark.extended
@needs_setuptools
def test_editable_install_finds_every_package(tmp_path, empty_environment):
    copy_sources(tmp_path)
    python = str(empty_environment / "bin" / "python")
    pip("--python", python, "install", *OFFLINE, "-e", str(tmp_path))
    code = (
        "import json, mtl_tf, mtl_tf.core, mtl_tf.launch, mtl_tf.export; "
        "print(json.dumps([m.__file__ for m in "
        "(mtl_tf, mtl_tf.core, mtl_tf.launch, mtl_tf.export)]))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    result = subprocess.run(
        [python, "-c", code],
        cwd="/",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    folders = [pathlib.Path(f).parent for f in json.loads(result.stdout)]
    assert folders == [
        tmp_path / "mtl_tf",
        tmp_path / "mtl_tf" / "core",
        tmp_path / "launch",
        tmp_path / "export",
    ]
    assert (empty_environment / "bin" / "mtl-train").exists()


def test_every_program_is_built_by_bazel_and_by_setup():
    setup = (ROOT / "setup.py").read_text()
    for folder, names in PROGRAMS.items():
        for name in names:
            assert f"mtl_tf.{folder}.{name}" in setup


def test_version_stands_in_one_place_and_its_copy_agrees():
    import mtl_tf

    module = (ROOT / "MODULE.bazel").read_text()
    assert f'version = "{mtl_tf.__version__}"' in module
    assert f"[{mtl_tf.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


# README and the command that checks it


def readme_blocks():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    pattern = r"<!-- ci: (\w+) -->\n```bash\n(.*?)```"
    return dict(re.findall(pattern, text, re.DOTALL))


def test_readme_has_the_commands_that_ci_runs():
    assert set(readme_blocks()) == {"environment", "main", "tests"}


def test_ci_prints_the_readmes_commands():
    for name, block in readme_blocks().items():
        result = subprocess.run(
            [str(ROOT / ".ci" / "run"), "--print", name],
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr
        assert result.stdout == block


def test_ci_refuses_a_block_that_the_readme_lacks():
    result = subprocess.run(
        [str(ROOT / ".ci" / "run"), "--print", "absent"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1
    assert "no block 'absent' in README.md" in result.stderr


def test_readme_names_every_program():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [
        f"{folder}.{name}"
        for folder, names in PROGRAMS.items()
        for name in names
        if f"`{folder}.{name}`" not in text
    ]
    assert missing == []


def test_readme_names_only_programs_that_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(launch|export)\.(?!md\b)(\w+)", text))
    known = {(f, n) for f, names in PROGRAMS.items() for n in names}
    assert named <= known


# What is imported is declared


OPTIONAL = ["baselines", "beam", "figures", "trackers", "vectors"]


def third_party(*folders):
    """Top-level names that files import and neither we nor Python have."""
    ours = {"mtl_tf", "tests", "build_support", *PROGRAMS}
    found = {}
    for file in python_files(*folders):
        for line, module in imports(file):
            top = module.split(".")[0]
            known = top in ours | sys.stdlib_module_names
            if not known and not top.startswith("no_such"):
                found[top] = f"{file.relative_to(ROOT)}:{line}"
    return found


def setup_names():
    return runpy.run_path(str(ROOT / "setup.py"), run_name="read")


def requirements(*extras):
    names = setup_names()
    lines = list(names["REQUIREMENTS"])
    for extra in extras:
        lines += names["EXTRAS"][extra]
    return [Requirement(line) for line in lines]


def declared(*extras):
    return {
        requirement.name.lower().replace("-", "_")
        for requirement in requirements(*extras)
    }


@pytest.mark.parametrize(
    ("folders", "extras"),
    [
        (["mtl_tf", *PROGRAMS], OPTIONAL),
        (["tests", "build_support"], ["dev", "encoders", "serving", *OPTIONAL]),
    ],
)
def test_third_party_imports_are_declared(folders, extras):
    names = {
        "absl": "absl_py",
        "google": "protobuf",
        "mlflow": "mlflow_skinny",
        "sklearn": "scikit_learn",
        "yaml": "pyyaml",
    }
    known = declared(*extras)
    undeclared = {
        top: where
        for top, where in third_party(*folders).items()
        if names.get(top, top) not in known
    }
    assert undeclared == {}


def test_every_admitted_python_can_run_the_requirements():
    python = SpecifierSet(setup_names()["PYTHON"])
    minors = range(sys.version_info.minor + 1)
    admitted = [f"3.{minor}" for minor in minors if f"3.{minor}" in python]
    assert f"3.{sys.version_info.minor}" in admitted
    bound = []
    for requirement in requirements("dev"):
        package = importlib.metadata.distribution(requirement.name)
        lowest = [
            s.version for s in requirement.specifier if s.operator == ">="
        ]
        # Below a newer version pip can find an older one, for an older Python.
        if Version(package.version) in map(Version, lowest):
            needs = SpecifierSet(package.metadata["Requires-Python"] or "")
            refused = [version for version in admitted if version not in needs]
            assert refused == [], requirement
            bound.append(requirement.name)
    if not bound:
        pytest.skip("every package is newer than its lower bound")


def test_pages_and_tools_name_the_python_of_setup():
    [oldest] = SpecifierSet(setup_names()["PYTHON"])
    assert oldest.operator == ">="
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"Python {oldest.version} or newer" in readme
    target = "py" + oldest.version.replace(".", "")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'target-version = "{target}"' in project
