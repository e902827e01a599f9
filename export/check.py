"""Checks an export in TensorFlow's C loader: `python -m export.check`."""

import math
from collections.abc import Sequence
from typing import Any

from absl import flags

from mtl_tf.core import strict_json
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import quiet, runner

from . import exported_files, latency, task_types
from .c_loader_process import run_in_c_loader

TOLERANCE = 1e-5
FAILED = 2


def compare(expected: Any, actual: Any) -> float:
    """The largest difference of two nested lists; inf if they do not match.

    None is expected for a number that is not finite, as JSON has no other
    value.
    """
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(expected) != len(actual):
            return float("inf")
        return max(
            (compare(a, b) for a, b in zip(expected, actual)), default=0.0
        )
    if expected is None:
        is_number = isinstance(actual, (int, float))
        return 0.0 if is_number and not math.isfinite(actual) else float("inf")
    if expected == actual:  # Older exports contain infinities.
        return 0.0
    if isinstance(expected, str) or isinstance(actual, str):
        return float("inf")
    difference = abs(expected - actual)
    return difference if difference == difference else float("inf")


def check(model: str) -> list[dict[str, Any]]:
    """Compares every signature with the answers recorded at export.

    Args:
        model: see `exported_files.version_of`.

    Returns:
        For each signature `signature`, `examples`, the largest `difference` of
        an output, and `ok`.

    Raises:
        RunError: the model cannot be run, or has no recorded answers.
    """
    model = exported_files.checked_version(model)
    calls = exported_files.calls(model)
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


def ask(
    model: str, task: str, texts: Sequence[str | Sequence[str]]
) -> list[dict[str, Any]]:
    """Predicts texts of a task with an export, in the C loader.

    Args:
        model: see `exported_files.version_of`.
        task: the task's name.
        texts: one for each example; if an example has several texts, they are
            a list, or tabs separate them. If the export has a question for all
            examples of the task, the question may be empty, or missing together
            with its tab.

    Returns:
        For each example its texts, `task`, and the fields of
        `mtl_tf.runs.loaded.loaded_run.Run.predict`.

    Raises:
        RunError: the model cannot be run or has no such task.
        ConfigError: an example has another number of texts than the task.
    """
    model = exported_files.checked_version(model)
    names = exported_files.inputs_of(model, task)
    question = exported_files.question_of(model, task)
    rows = [_texts(text, names, question) for text in texts]
    for row in rows:
        if len(row) != len(names):
            takes = f"{', '.join(names)}, with tabs between them"
            if len(names) == 1:
                takes = f"one {names[0]}"
            if len(names) == 2:
                takes = f"{names[0]} and {names[1]} (--text, --text_pair)"
            raise ConfigError(
                f"the task {task} takes {takes}, got {chr(9).join(row)!r:.60}"
            )
    inputs = dict(zip(names, map(list, zip(*rows))))
    request = {"signature": task, "inputs": inputs}
    outputs = run_in_c_loader(model, [request])["answers"][0]["outputs"]
    quiet.import_tensorflow(quiet=True)
    served = task_types.of(exported_files.types_of(model)[task])
    return [
        {
            **dict(zip(names, row)),
            "task": task,
            **served.row({name: v[place] for name, v in outputs.items()}),
        }
        for place, row in enumerate(rows)
    ]


def _texts(
    text: str | Sequence[str], names: Sequence[str], question: str
) -> list[str]:
    """The texts of an example, with the question of all examples."""
    row = [text] if isinstance(text, str) else list(text)
    if isinstance(text, str) and len(names) > 1:
        row = text.split("\t")
    if not question:
        return row
    if len(row) == 1:
        return [question, *row]
    return [row[0] or question, *row[1:]]


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "model",
        None,
        "version directory of an export, or its parent folder, for the newest "
        "version",
        flag_values=values,
    )
    flags.DEFINE_string("task", None, "task of --text", flag_values=values)
    flags.DEFINE_multi_string(
        "text",
        [],
        "text to predict; may be repeated",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "text_pair",
        [],
        "second text of an example of two texts, such as the context of a "
        "question; one for each --text, in their order",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "latency",
        0,
        "if not 0, predict one text this many times and print how long it "
        "takes",
        lower_bound=0,
        flag_values=values,
    )
    flags.DEFINE_integer(
        "words",
        100,
        "number of words in the text of --latency",
        lower_bound=1,
        flag_values=values,
    )


def _read(arguments: Sequence[str]) -> list[str]:
    """Arguments as the export reads them: bytes out of UTF-8 are U+FFFD."""
    encoded = [text.encode("utf-8", "surrogateescape") for text in arguments]
    return [text.decode("utf-8", "replace") for text in encoded]


def main(values: flags.FlagValues) -> int:
    """Prints the table of signatures, or the answers."""
    if values.text_pair and len(values.text_pair) != len(values.text):
        raise ConfigError(
            "each --text_pair belongs to one --text, got "
            f"{len(values.text_pair)} of --text_pair and {len(values.text)} of "
            "--text"
        )
    if values.text:
        if not values.task:
            raise ConfigError("--text needs --task: which task is it for?")
        texts = _read(values.text)
        if values.text_pair:
            texts = list(zip(texts, _read(values.text_pair)))
        for answer in ask(values.model, values.task, texts):
            print(strict_json.dumps(answer))
        return 0
    if values.latency:
        for row in latency.measure(
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
    Checks an export in TensorFlow's C loader, which model servers use, in a
    process without Keras and without this package. It runs each signature and
    compares the answers with those recorded at export. If they differ by more
    than 1e-5, the exit status is 2.

    With --text, it predicts texts instead. With --latency, it measures the time
    for one text.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("Check every signature", "--model=runs/quickstart/export/1"),
        (
            "Predict a text",
            "--model=runs/quickstart/export/1 --task=films "
            '--text="an unpredictable story , and well told"',
        ),
        (
            "Predict a pair of texts, or answer a question about a context",
            "--model=runs/town/export/1 --task=owners "
            '--text="Who owns the tower?" --text_pair="It belongs to Zoe."',
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
