"""Measures speed and memory: `python -m launch.benchmark`."""

import dataclasses
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from typing import Any

from absl import flags, logging

from mtl_tf.benchmarks import report
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core import checks, files
from mtl_tf.core.errors import ConfigError, Interrupted, RunError
from mtl_tf.core.names import look_up
from mtl_tf.programs import runner

# Run only where they are named: a quarter of an hour.
_LONG = ("scaling",)
CASES = {
    "meta_mtl": "a training step; also of the same cell in keras.layers.RNN",
    "arc_ii": "a training step of the schemes with memories; also of an LSTM",
    "transformer": "a training step; also of keras_nlp's TransformerEncoder",
    "encoder": "a fine-tuning step of BERT; also of keras_hub's own",
    "pipeline": "the input pipeline alone, and the training that it feeds",
    "epoch": "an epoch of sixteen tasks: time, rates, memory",
    "latency": "the forward pass of one text",
    "crf": "a training step of a BiLSTM with a CRF; also with a softmax",
    "translation": "a teacher-forced step of a decoder; also of the same cell "
    "in keras.layers.RNN",
    "beam_search": "translation with a beam of 10",
    "mqan": "a training step and decoding of the MQAN; also of Keras layers",
    "scaling": "time and memory by tasks, classes, words, length and replicas",
}


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "cases",
        [name for name in CASES if name not in _LONG],
        "what to measure, separated by commas:"
        + "".join(f"\n* {name}: {meaning}" for name, meaning in CASES.items()),
        flag_values=values,
    )
    flags.DEFINE_integer(
        "rounds",
        9,
        "number of rounds. In each round, the contestants run one after the "
        "other; the results are medians over the rounds",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "threads",
        0,
        "TensorFlow's intra-op and inter-op threads, for all contestants. 0 "
        "leaves the choice to TensorFlow: one per core, or "
        "TF_NUM_INTRAOP_THREADS and TF_NUM_INTEROP_THREADS",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output",
        "",
        "JSON file to write the results to, with the times of all rounds",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Measures, prints the tables as they come and writes the JSON file."""
    benchmark(values.cases, values.rounds, values.threads, values.output)


def benchmark(
    names: Sequence[str],
    rounds: int,
    threads: int = 0,
    output: str = "",
    sizes: Sizes | None = None,
) -> dict[str, Any]:
    """Measures the cases one after another, each in a process of its own.

    Args:
        names: of the cases.
        rounds: of contestants in turns.
        threads: of TensorFlow, 0 for its own choice.
        output: JSON file to write, "" for none.
        sizes: of models and data; those of the stated targets by default.

    Returns:
        "hardware", "versions", "rounds" and "cases": results by name.

    Raises:
        ConfigError: an unknown case or a wrong number.
        RunError: a case failed, after all others were measured and written,
            or `output` cannot be written.
    """
    names = _checked_names(names)
    checks.positive_integer("--rounds", rounds)
    checks.not_negative_integer("--threads", threads)
    _check_output(output)
    results = {}
    settings = {"rounds": rounds, "threads": threads}
    settings["sizes"] = dataclasses.asdict(sizes or Sizes())
    for number, name in enumerate(names, 1):
        logging.info("[%d/%d] %s: %s", number, len(names), name, CASES[name])
        results[name] = _in_a_process({"case": name, **settings})
        print(report.case_text(name, results[name]) + "\n", flush=True)
    measured = {**_facts(), **settings, "cases": results}
    if output:
        files.write_json(output, measured)
    failed = [name for name, result in results.items() if "error" in result]
    if failed:
        raise RunError(f"not measured: {', '.join(failed)}; see above")
    return measured


def _checked_names(names: Sequence[str]) -> list[str]:
    names = [name.strip() for name in names if name.strip()]
    for name in names:
        look_up(name, CASES, "case")
    if not names:
        raise ConfigError(f"--cases names nothing; known: {', '.join(CASES)}")
    return list(dict.fromkeys(names))


def _check_output(output: str) -> None:
    """Finds out before minutes of measuring."""
    if os.path.isdir(output):
        raise ConfigError(f"--output: {output} is a folder: name a file")
    if output:
        files.make_directory(os.path.dirname(os.path.abspath(output)))


def _facts() -> dict[str, Any]:
    from mtl_tf.evaluation import environment

    return {
        "hardware": environment.hardware(),
        "versions": environment.versions(),
    }


def _in_a_process(job: dict[str, Any]) -> dict[str, Any]:
    """What the worker returned, or {"error": message}."""
    with tempfile.TemporaryDirectory(prefix="mtl_tf_benchmark.") as folder:
        job_file = os.path.join(folder, "job.json")
        result_file = os.path.join(folder, "result.json")
        files.write_json(job_file, job)
        status = _wait(_command(job_file, result_file))
        if status == 0:
            return files.read_json(result_file)
    ending = f"signal {-status}" if status < 0 else f"status {status}"
    return {
        "error": f"the process ended with {ending}; its messages stand above"
    }


def _command(job_file: str, result_file: str) -> list[str]:
    module = "mtl_tf.benchmarks.worker"
    # Its messages are progress to us, as loud as ours.
    verbosity = f"--verbosity={logging.get_verbosity()}"
    arguments = [f"--job={job_file}", f"--result={result_file}"]
    if logging.get_verbosity() != logging.INFO:
        arguments.append(verbosity)
    return [sys.executable, "-m", module, *arguments]


def _wait(command: list[str]) -> int:
    """Runs a command to its end and returns its status.

    Raises:
        Interrupted: a signal came; the command was stopped.
    """
    from mtl_tf.training.signals import stop_requests

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(_paths())}
    with stop_requests() as stop:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            # What a library prints is no result.
            stdout=sys.stderr.fileno(),
            start_new_session=True,
        )
        try:
            while not stop:
                try:
                    return process.wait(0.1)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            _kill_group(process)
            process.wait()
    raise Interrupted(
        "stopped; the case that ran is lost and nothing was written",
        stop.signal_number,
    )


def _kill_group(process: subprocess.Popen) -> None:
    """Kills a command that may still run, and what it started."""
    # Its own group's number is its own; once it was waited for, it is free.
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)


def _paths() -> Iterator[str]:
    """Where modules are found here; "" is the current folder."""
    return (path or os.getcwd() for path in sys.path)


PROGRAM = runner.Program(
    name="benchmark",
    summary="""
    Measures the speed and memory of training steps, an epoch, the input
    pipeline, single texts and decoding on synthetic data, where possible
    compared with plain Keras. The contestants do the same work in turns, in one
    process with the same threads. The time for tracing and compiling is
    reported separately.

    All default cases take some minutes. Tables go to standard output, progress
    to standard error. Measure on a quiet machine: load changes the times a lot,
    and also the ratios.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("All default cases", "--output=benchmark.json"),
        (
            "Training steps on one thread",
            "--cases=meta_mtl --threads=1",
        ),
    ),
    tensorflow=False,
)


def run() -> None:
    """Entry point of `mtl-benchmark`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
