"""Measures an export's latency for one text, in TensorFlow's C loader."""

import math
import statistics
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.names import look_up

from . import exported_files
from .c_loader_process import run_in_c_loader


def measure(
    model: str, rounds: int, words: int = 100, task: str = ""
) -> list[dict[str, Any]]:
    """Measures an export's latency for one text, in the C loader.

    Args:
        model: see `exported_files.version_of`.
        rounds: the number of calls of each signature, after as many calls that
            are not measured.
        words: the words of the text, or of each of several texts.
        task: the signature; "" for all signatures of single tasks.

    Returns:
        For each signature "signature", "words", and the "median" and the
        "percentile_95" in milliseconds.

    Raises:
        RunError: the model cannot be run, or has no recorded answers.
        ConfigError: it has no such task.
    """
    model = exported_files.checked_version(model)
    checks.positive_integer("--latency", rounds)
    checks.positive_integer("--words", words)
    calls = exported_files.calls(model)
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
