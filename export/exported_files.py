"""The files of an export besides its graph."""

import os
from typing import Any

from mtl_tf.core import digests, files
from mtl_tf.core.errors import RunError

#: The folder of these files in a version directory.
FOLDER = "assets.extra"
#: The file of the answers to the warm-up requests.
ANSWERS = "warmup_answers.json"
LABELS = "labels.json"
#: The decoding options of tasks whose answers are texts.
DECODING = "decoding.json"


def version_of(model: str) -> str:
    """The version directory that a model server would serve.

    Args:
        model: a version directory, or the folder of several. Their names are
            numbers, and the largest is taken.

    Raises:
        RunError: it is neither.
    """
    if os.path.exists(os.path.join(model, "saved_model.pb")):
        return model
    if not os.path.isdir(model):
        raise RunError(f"{model} is not there")
    versions = [
        name
        for name in os.listdir(model)
        if name.isdecimal()
        and os.path.exists(os.path.join(model, name, "saved_model.pb"))
    ]
    if not versions:
        raise RunError(
            f"{model} is neither a version directory of an export, which has "
            "a saved_model.pb, nor the folder of any, such as 1"
        )
    return os.path.join(model, max(versions, key=int))


def checked_version(model: str) -> str:
    """The version directory, see `version_of`, if its files are unchanged.

    Raises:
        RunError: there is none, or its vocabulary, labels or graph were
            changed.
    """
    model = version_of(model)
    path = os.path.join(model, FOLDER, digests.FILE)
    if os.path.exists(path):  # Older exports lack it.
        digests.check(model, digests.read(path), "was exported")
    return model


def calls(model: str) -> list[dict[str, Any]]:
    """The recorded calls of an export, with their answers.

    Raises:
        RunError: there are none, or the file has other contents.
    """
    path = os.path.join(model, FOLDER, ANSWERS)
    calls = files.read_json(path)
    if not isinstance(calls, list) or not all(map(_is_call, calls)):
        raise RunError(
            f"{path} must hold a list of calls with signature, inputs and "
            f"outputs, found {calls!r:.80}: restore it from a copy"
        )
    if not calls:
        raise RunError(f"{path} holds no call: restore it from a copy")
    return calls


def _is_call(call: Any) -> bool:
    return (
        isinstance(call, dict)
        and isinstance(call.get("signature"), str)
        and isinstance(call.get("outputs"), dict)
        and isinstance(call.get("inputs"), dict)
        and bool(call["inputs"])
        and all(isinstance(rows, list) for rows in call["inputs"].values())
    )


def inputs_of(model: str, task: str) -> list[str]:
    """The names of a signature's inputs, from its recorded call."""
    # The loader reports what is no export.
    is_export = os.path.exists(os.path.join(model, FOLDER, ANSWERS))
    for call in calls(model) if is_export else ():
        if call["signature"] == task:
            return list(call["inputs"])
    return ["text"]


def question_of(model: str, task: str) -> str:
    """The question of a signature for all its rows, or "".

    Exports of other task types, and older ones, have no questions.
    """
    path = os.path.join(model, FOLDER, DECODING)
    if not os.path.exists(path):
        return ""
    return files.read_json(path).get("questions", {}).get(task, "")


def types_of(model: str) -> dict[str, str]:
    """The type of each task of an export."""
    tasks = files.read_json(os.path.join(model, FOLDER, LABELS))["tasks"]
    # In older exports the field is "kind".
    return {task["name"]: task.get("type") or task["kind"] for task in tasks}
