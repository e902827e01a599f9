"""Runs one benchmark case in a separate process.

`launch.benchmark` starts it, so that the peak memory is that of the case.
"""

import os
import time
from typing import Any

from absl import flags

from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core import files, machine
from mtl_tf.programs import runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "job", None, "JSON file that says what to measure", flag_values=values
    )
    flags.DEFINE_string(
        "result", None, "JSON file to write", flag_values=values
    )


def main(values: flags.FlagValues) -> None:
    """Measures and writes the result."""
    files.write_json(values.result, measure(files.read_json(values.job)))


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Runs a case.

    Args:
        job: "case", "sizes" (fields of `Sizes`), "rounds" and "threads" (0 lets
            TensorFlow decide).

    Returns:
        The result of the case, and "seconds", "peak_memory_mb", "threads" and
        "load_average", that of the minute before.
    """
    start, load = time.perf_counter(), os.getloadavg()[0]
    threads = set_threads(job["threads"])
    from mtl_tf.benchmarks import cases, timing

    case = cases.CASES[job["case"]]
    result = case(Sizes(**job["sizes"]), job["rounds"])
    return {
        **result,
        "seconds": time.perf_counter() - start,
        "peak_memory_mb": timing.peak_memory_mb(),
        "threads": {**threads, "cores": machine.cores()},
        "load_average": load,
    }


def set_threads(count: int) -> dict[str, str]:
    """Sets TensorFlow's threads, if `count` is not 0.

    Returns:
        "intra_op" and "inter_op": numbers, or what decides them.
    """
    import tensorflow as tf

    if count:
        tf.config.threading.set_intra_op_parallelism_threads(count)
        tf.config.threading.set_inter_op_parallelism_threads(count)
        return {"intra_op": str(count), "inter_op": str(count)}
    return {
        "intra_op": os.environ.get("TF_NUM_INTRAOP_THREADS", "one a core"),
        "inter_op": os.environ.get("TF_NUM_INTEROP_THREADS", "one a core"),
    }


PROGRAM = runner.Program(
    name="benchmark_worker",
    summary="""
    Runs one case of the benchmark; launch.benchmark starts it.
    """,
    main=main,
    define_flags=define_flags,
    required=("job", "result"),
)


def run() -> None:
    """Entry point."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
