"""The case of the benchmark about how soon a program answers."""

import importlib.util
import statistics
import subprocess
import sys
import time

from mtl_tf.benchmarks.result_rows import Result, make_target
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core.errors import RunError

PROGRAMS = ("train", "evaluate", "predict", "benchmark")
_LIMIT = 1.5


def start(sizes: Sizes, rounds: int) -> Result:
    """Seconds until `--help` has answered, which needs no TensorFlow."""
    del sizes
    samples = {name: [] for name in PROGRAMS}
    for _ in range(rounds):
        for name in PROGRAMS:
            samples[name].append(_seconds_of_help(name))
    rows = [
        {
            "program": name,
            "help_s": statistics.median(found),
            "fastest_s": min(found),
            "slowest_s": max(found),
            "samples_s": found,
        }
        for name, found in samples.items()
    ]
    target = make_target(
        "seconds of launch.train --help", rows[0]["help_s"], "at most", _LIMIT
    )
    return {"rows": rows, "targets": [target], "notes": []}


def _seconds_of_help(name: str) -> float:
    # An installation has the programs inside the package.
    inside = importlib.util.find_spec("mtl_tf.launch")
    module = f"{'mtl_tf.launch' if inside else 'launch'}.{name}"
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise RunError(f"{module} --help failed: {done.stderr.strip()}")
    return time.perf_counter() - began
