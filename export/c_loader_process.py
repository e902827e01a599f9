"""Runs an export in TensorFlow's C loader, in a process without our code."""

import json
import os
import subprocess
import sys
from typing import Any

from mtl_tf.core.errors import RunError

_LOADER = os.path.join(os.path.dirname(__file__), "c_loader.py")


def run_in_c_loader(model: str, requests: list[dict]) -> dict[str, Any]:
    """Runs requests on a SavedModel in a process without our code.

    Args:
        model: a version directory.
        requests: dicts of `signature` and `inputs`, lists of strings by name.

    Returns:
        `answers`, a list of dicts of `outputs`; `signatures`; and `imported`,
        the Python packages that the process imported but should not have.

    Raises:
        RunError: TensorFlow cannot load or run the model.
    """
    if not os.path.exists(os.path.join(model, "saved_model.pb")):
        raise RunError(
            f"{model} is not a version directory of an export: it has no "
            "saved_model.pb"
        )
    completed = subprocess.run(
        [sys.executable, "-I", _LOADER, os.path.abspath(model)],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    if completed.returncode:
        lines = completed.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"status {completed.returncode}"
        raise RunError(f"TensorFlow's C loader cannot run {model}: {reason}")
    return json.loads(completed.stdout)
