"""Finds the packages of the active Python environment under Bazel.

rules_python from 1.5 on starts every target in a virtual environment of its
own, made on the base interpreter: the packages of the environment whose
python3 is on PATH are then out of sight. Here they are added again.
"""

import importlib.util
import json
import os
import shutil
import site
import subprocess
import sys

_LIST = (
    "import json, site, sys; "
    "print(json.dumps([sys.version_info[:2], site.getsitepackages()]))"
)


def use_active() -> None:
    """Makes the packages of PATH's python3 importable, here and in children.

    Raises:
        SystemExit: that interpreter is of another Python version.
    """
    if importlib.util.find_spec("absl") is None:
        for folder in _site_packages():
            site.addsitedir(folder)
    # Children are found by PYTHONPATH in every way of starting a target.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))


def _site_packages() -> list[str]:
    python = shutil.which("python3") or sys.executable
    result = subprocess.run(
        [python, "-c", _LIST], capture_output=True, check=True
    )
    version, folders = json.loads(result.stdout)
    if tuple(version) != sys.version_info[:2]:
        raise SystemExit(
            f"{python} on PATH is Python {'.'.join(map(str, version))}, but "
            f"Bazel runs {sys.version.split()[0]}: put the environment that "
            "holds the dependencies first on PATH"
        )
    return folders
