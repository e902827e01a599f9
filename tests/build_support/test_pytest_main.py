"""A Bazel test passes only if its pytest cases ran and passed."""

import os
import pathlib
import shutil
import subprocess
import sys
import venv
from xml.etree import ElementTree

import pytest

ROOT = pathlib.Path(__file__).parent.parent.parent

SLOW = "import pytest\n@pytest.mark.slow\n"


def run_main(folder, content, python=sys.executable, path=""):
    """Runs pytest_main on one test file as Bazel does, in its own folder."""
    shutil.copytree(
        ROOT / "build_support",
        folder / "build_support",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "tests").mkdir()
    (folder / "tests" / "test_it.py").write_text(content)
    (folder / "temporary").mkdir()
    environment = {
        "PATH": path or os.environ["PATH"],
        "PYTHONPATH": str(folder),
        "TEST_TMPDIR": str(folder / "temporary"),
        "XML_OUTPUT_FILE": str(folder / "test.xml"),
    }
    return subprocess.run(
        [python, "build_support/pytest_main.py", "tests/test_it.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
    )


@pytest.mark.by_default("*-1")
@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("def test_it(): pass\n", 0),
        ("def test_it(): assert False\n", 1),
        ("import absent_module\n", 2),
        ("def helper(): pass\n", 5),
        ("", 5),
        (SLOW + "def test_it(): pass\n", 0),
        (SLOW + "def test_it(): assert False\n", 1),
        ("def test_a(): pass\n" + SLOW + "def test_b(): assert False\n", 0),
    ],
)
def test_status_says_whether_tests_ran_and_passed(tmp_path, content, status):
    result = run_main(tmp_path, content)
    assert result.returncode == status, result.stdout + result.stderr


def test_the_report_has_every_case(tmp_path):
    content = "def test_a(): pass\ndef test_b(): assert False\n"
    run_main(tmp_path, content)
    report = ElementTree.parse(tmp_path / "test.xml")
    failed = {
        case.get("name"): case.find("failure") is not None
        for case in report.iter("testcase")
    }
    assert failed == {"test_a": False, "test_b": True}


def test_a_child_process_finds_the_project(tmp_path):
    content = (
        "import subprocess, sys\n"
        "def test_it(tmp_path):\n"
        "    code = 'import build_support, pytest'\n"
        "    command = [sys.executable, '-c', code]\n"
        "    subprocess.run(command, cwd=tmp_path, check=True)\n"
    )
    result = run_main(tmp_path, content)
    assert result.returncode == 0, result.stdout + result.stderr


def test_an_empty_environment_uses_the_packages_of_the_one_on_path(tmp_path):
    """rules_python starts a target in an environment without packages."""
    (tmp_path / "run").mkdir()
    venv.create(tmp_path / "empty", with_pip=False, symlinks=True)
    active = tmp_path / "active"
    active.mkdir()
    command = active / "python3"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    command.chmod(0o755)
    result = run_main(
        tmp_path / "run",
        "import absl\ndef test_it(): pass\n",
        python=str(tmp_path / "empty" / "bin" / "python"),
        path=f"{active}{os.pathsep}{os.environ['PATH']}",
    )
    assert result.returncode == 0, result.stdout + result.stderr


def test_another_python_version_on_path_is_refused(tmp_path):
    (tmp_path / "run").mkdir()
    venv.create(tmp_path / "empty", with_pip=False, symlinks=True)
    active = tmp_path / "active"
    active.mkdir()
    command = active / "python3"
    command.write_text("#!/bin/sh\necho '[[3, 1], []]'\n")
    command.chmod(0o755)
    result = run_main(
        tmp_path / "run",
        "def test_it(): pass\n",
        python=str(tmp_path / "empty" / "bin" / "python"),
        path=f"{active}{os.pathsep}{os.environ['PATH']}",
    )
    assert result.returncode == 1
    assert "on PATH is Python 3.1, but Bazel runs" in result.stderr
