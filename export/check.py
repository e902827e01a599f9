"""Checks an export in TensorFlow's C loader: `python -m export.check`."""

import json
import math
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from absl import flags

from mtl_tf.core import checks, digests, files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.core.names import look_up
from mtl_tf.programs import quiet, runner

from . import task_types

_ANSWERS = os.path.join("assets.extra", "warmup_answers.json")
_LABELS = os.path.join("assets.extra", "labels.json")
_LOADER = os.path.join(os.path.dirname(__file__), "c_loader.py")
TOLERANCE = 1e-5
FAILED = 2


def version_of(model: str) -> str:
    """The version directory that a model server would serve.

    Args:
        model: a version directory, or the folder of several, whose names are
            numbers: the greatest counts.

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


def run_in_c_loader(model: str, requests: list[dict]) -> dict[str, Any]:
    """Runs requests on a SavedModel in a process without our code.

    Args:
        model: a version directory.
        requests: dicts of `signature` and `inputs`, lists of strings by name.

    Returns:
        `answers`, a list of dicts of `outputs`; `signatures`; and `imported`,
        which Python packages the process should not have had but did.

    Raises:
        RunError: TensorFlow cannot load or run the model.
    """
    if not os.path.exists(os.path.join(model, "saved_model.pb")):
        raise RunError(
            f"{model} is not a version directory of an export: it has no "
            "saved_model.pb"
        )
    done = subprocess.run(
        [sys.executable, "-I", _LOADER, os.path.abspath(model)],
        input=json.dumps(requests),
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1] if lines else f"status {done.returncode}"
        raise RunError(f"TensorFlow's C loader cannot run {model}: {reason}")
    return json.loads(done.stdout)


def compare(expected: Any, actual: Any) -> float:
    """The greatest difference of two nested lists; inf where they differ."""
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            return float("inf")
        return max(
            (compare(a, b) for a, b in zip(expected, actual)), default=0.0
        )
    if expected == actual:  # Infinities, too, have no difference then.
        return 0.0
    if isinstance(expected, str) or isinstance(actual, str):
        return float("inf")
    difference = abs(expected - actual)
    return difference if difference == difference else float("inf")


def check(model: str) -> list[dict[str, Any]]:
    """Compares every signature with the answers recorded at export.

    Args:
        model: see `version_of`.

    Returns:
        Per signature `signature`, `examples`, the greatest `difference` of
        an output, and whether it is `ok`.

    Raises:
        RunError: the model cannot be run, or has no recorded answers.
    """
    model = version_of(model)
    check_files(model)
    calls = _calls(model)
    requests = [
        {"signature": c["signature"], "inputs": c["inputs"]} for c in calls
    ]
    result = run_in_c_loader(model, requests)
    rows = [_row(c, a) for c, a in zip(calls, result["answers"])]
    for name in set(result["signatures"]) - {c["signature"] for c in calls}:
        rows.append(
            {
                "signature": name,
                "examples": 0,
                "difference": float("inf"),
                "ok": False,
            }
        )
    if result["imported"]:
        raise RunError(f"the loader imported {', '.join(result['imported'])}")
    return rows


def check_files(model: str) -> None:
    """Refuses an export whose vocabulary, labels or graph were changed.

    Raises:
        RunError: a file is no longer what was exported.
    """
    path = os.path.join(model, "assets.extra", digests.FILE)
    if os.path.exists(path):  # Older exports have none.
        digests.check(model, digests.read(path), "was exported")


def _row(call: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    expected, actual = call["outputs"], answer["outputs"]
    difference = float("inf")
    if set(expected) == set(actual):
        difference = max(compare(expected[k], actual[k]) for k in expected)
    return {
        "signature": call["signature"],
        "examples": len(next(iter(call["inputs"].values()))),
        "difference": difference,
        "ok": difference <= TOLERANCE,
    }


def ask(model: str, task: str, texts: Sequence[str]) -> list[dict[str, Any]]:
    """Asks an export about texts of a task, in the C loader.

    Args:
        model: see `version_of`.
        task: the task's name.
        texts: each an example; one of several texts has tabs between them.

    Returns:
        Per example its texts, `task`, and what
        `mtl_tf.runs.loaded_run.Run.predict` gives.

    Raises:
        RunError: the model cannot be run or has no such task.
        ConfigError: an example does not have as many texts as the task.
    """
    model = version_of(model)
    check_files(model)
    names = _inputs_of(model, task)
    rows = [text.split("\t") if len(names) > 1 else [text] for text in texts]
    for row in rows:
        if len(row) != len(names):
            raise ConfigError(
                f"the task {task} takes {', '.join(names)}, with tabs between "
                f"them, got {chr(9).join(row)!r:.60}"
            )
    inputs = dict(zip(names, map(list, zip(*rows))))
    request = {"signature": task, "inputs": inputs}
    outputs = run_in_c_loader(model, [request])["answers"][0]["outputs"]
    quiet.import_tensorflow(quiet=True)
    served = task_types.of(_types(model)[task])
    return [
        {
            **dict(zip(names, row)),
            "task": task,
            **served.row({name: v[place] for name, v in outputs.items()}),
        }
        for place, row in enumerate(rows)
    ]


def latency(
    model: str, rounds: int, words: int = 100, task: str = ""
) -> list[dict[str, Any]]:
    """How long an export takes for one text, in the C loader.

    Args:
        model: see `version_of`.
        rounds: how often each signature is asked; as often it is asked
            before, which does not count.
        words: of the text; of several texts, of each.
        task: the signature; "" for all that are of one task.

    Returns:
        By signature "signature", "words", and "median" and "percentile_95"
        of the milliseconds.

    Raises:
        RunError: the model cannot be run, or has no recorded answers.
        ConfigError: it has no such task.
    """
    model = version_of(model)
    check_files(model)
    checks.positive_integer("--latency", rounds)
    checks.positive_integer("--words", words)
    calls = _calls(model)
    inputs = {c["signature"]: c["inputs"] for c in calls}
    names = [name for name in inputs if "task" not in inputs[name]]
    if task:
        names = [look_up(task, {name: name for name in names}, "task")]
    known = [w for text in next(iter(inputs.values())).values() for w in text]
    known = " ".join(known).split()
    text = " ".join(known[n % len(known)] for n in range(words))
    requests = [
        {
            "signature": name,
            "inputs": {key: [text] for key in inputs[name]},
            "rounds": 2 * rounds,
        }
        for name in names
    ]
    answers = run_in_c_loader(model, requests)["answers"]
    rows = []
    for name, answer in zip(names, answers):
        times = sorted(1000 * s for s in answer["seconds"][rounds:])
        rows.append(
            {
                "signature": name,
                "words": words,
                "median": statistics.median(times),
                "percentile_95": times[math.ceil(0.95 * rounds) - 1],
            }
        )
    return rows


def _calls(model: str) -> list[dict[str, Any]]:
    """The recorded calls of an export, with their answers.

    Raises:
        RunError: there are none, or something else stands there.
    """
    path = os.path.join(model, _ANSWERS)
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


def _inputs_of(model: str, task: str) -> list[str]:
    """The names of a signature's inputs, as its recorded call has them."""
    # What is no export is told where it is loaded.
    is_export = os.path.exists(os.path.join(model, _ANSWERS))
    for call in _calls(model) if is_export else ():
        if call["signature"] == task:
            return list(call["inputs"])
    return ["text"]


def _types(model: str) -> dict[str, str]:
    """The type of each task of an export."""
    tasks = files.read_json(os.path.join(model, _LABELS))["tasks"]
    # Older exports say kind.
    return {task["name"]: task.get("type") or task["kind"] for task in tasks}


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "model",
        None,
        "a version directory of an export, or the folder above, whose newest "
        "version it is then",
        flag_values=values,
    )
    flags.DEFINE_string(
        "task", None, "task of the texts to ask about", flag_values=values
    )
    flags.DEFINE_multi_string(
        "text",
        [],
        "a text to ask the export about; may be repeated",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "latency",
        0,
        "if not 0, ask so often about one text and print how long it takes",
        lower_bound=0,
        flag_values=values,
    )
    flags.DEFINE_integer(
        "words",
        100,
        "of the text of --latency",
        lower_bound=1,
        flag_values=values,
    )


def main(values: flags.FlagValues) -> int:
    """Prints the table of signatures, or the answers."""
    if values.text:
        if not values.task:
            raise ConfigError("--text needs --task: which task is it for?")
        # Bytes that are not UTF-8 are U+FFFD, as the export reads them.
        encoded = [t.encode("utf-8", "surrogateescape") for t in values.text]
        texts = [text.decode("utf-8", "replace") for text in encoded]
        for answer in ask(values.model, values.task, texts):
            print(json.dumps(answer, ensure_ascii=False))
        return 0
    if values.latency:
        for row in latency(
            values.model, values.latency, values.words, values.task or ""
        ):
            print(
                f"{row['signature']}: one text of {row['words']} words, median "
                f"{row['median']:.2f} ms, 95th percentile "
                f"{row['percentile_95']:.2f} ms"
            )
        return 0
    rows = check(values.model)
    width = max(len(row["signature"]) for row in rows)
    for row in rows:
        print(
            f"{row['signature']:<{width}}  {row['examples']:>3} examples  "
            f"difference {row['difference']:.1e}  "
            f"{'ok' if row['ok'] else 'FAILED'}"
        )
    return 0 if all(row["ok"] for row in rows) else FAILED


PROGRAM = runner.Program(
    name="check",
    package="export",
    script="mtl-check",
    summary="""
    Runs every signature of an export in TensorFlow's C loader, which model
    servers use, in a process without Keras and without this package, and
    compares the answers with those recorded at export (difference at most
    1e-5). Exit status 2 if one differs. With --text it asks the export, with
    --latency it measures how long one text takes.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("Check every signature", "--model=runs/quickstart/export/1"),
        (
            "Ask",
            "--model=runs/quickstart/export/1 --task=films "
            '--text="an unpredictable story , and well told"',
        ),
        (
            "The latency of one text of 100 words",
            "--model=runs/quickstart/export/1 --task=films --latency=200",
        ),
    ),
    required=("model",),
    tensorflow=False,
)


def run() -> None:
    """Entry point of `mtl-check`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
