"""The benchmark as a program: its flags, processes, tables and JSON."""

import dataclasses
import json
import os
import pathlib
import signal
import time

import pytest

from launch import benchmark
from mtl_tf.benchmarks import report
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import runner
from tests.benchmarks.benchmark_testing import SMALL
from tests.launch.helpers import execute, start


def call(capsys, *arguments):
    """Exit status, standard output and standard error."""
    with pytest.raises(SystemExit) as caught:
        runner.run(benchmark.PROGRAM, ["benchmark", *arguments])
    captured = capsys.readouterr()
    return caught.value.code, captured.out, captured.err


RESULT = {
    "rows": [
        {"contestant": "a", "batch": 16, "step_ms": 1234.5, "samples": [1]},
        {"contestant": "long", "batch": 64, "step_ms": 0.125, "samples": []},
    ],
    "targets": [
        {
            "what": "times",
            "value": 3.5,
            "rule": "at least",
            "limit": 4.0,
            "met": False,
        }
    ],
    "notes": ["as it is"],
    "seconds": 12.3,
    "peak_memory_mb": 1500.2,
    "threads": {"intra_op": "1", "inter_op": "one a core", "cores": 2},
    "load_average": 0.1,
}


@pytest.fixture
def jobs(monkeypatch):
    """Replaces the processes; holds what they were asked."""
    jobs = []

    def answer(job):
        jobs.append(job)
        return RESULT

    monkeypatch.setattr(benchmark, "_in_a_process", answer)
    return jobs


# Flags


def test_all_cases_but_the_longest_are_measured_by_default(capsys, jobs):
    status, out, _ = call(capsys)
    assert not status
    usual = [name for name in benchmark.CASES if name != "scaling"]
    assert [job["case"] for job in jobs] == usual
    assert {job["rounds"] for job in jobs} == {9}
    assert {job["threads"] for job in jobs} == {0}
    assert jobs[0]["sizes"] == dataclasses.asdict(Sizes())
    assert out.count("peak memory") == len(usual)


def test_flags_reach_the_processes_and_the_file(capsys, jobs, tmp_path):
    output = tmp_path / "new" / "b.json"
    call(
        capsys,
        "--cases=latency, epoch,latency",
        "--rounds=3",
        "--threads=1",
        f"--output={output}",
    )
    assert [job["case"] for job in jobs] == ["latency", "epoch"]
    assert jobs[0]["rounds"] == 3
    assert jobs[0]["threads"] == 1
    written = json.loads(output.read_text())
    assert list(written["cases"]) == ["latency", "epoch"]
    assert written["cases"]["epoch"] == RESULT
    assert written["sizes"]["vocabulary"] == 30_000
    assert "cores" in written["hardware"]
    assert {"python", "tensorflow"} <= set(written["versions"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--cases=meta_mlt"], "unknown case 'meta_mlt'; did you mean 'meta_m"),
        (["--cases=epoch,x"], "unknown case 'x'; known: arc_ii, beam_search"),
        (["--cases=,"], "--cases names nothing; known: meta_mtl"),
        (["--rounds=0"], "--rounds must be a positive integer, got 0"),
        (["--threads=-1"], "--threads must be zero or a positive"),
        (["--round=3"], "did you mean --rounds"),
    ],
)
def test_mistakes_exit_with_1_before_anything_runs(
    capsys, jobs, arguments, message
):
    status, out, err = call(capsys, *arguments)
    assert status == 1
    assert out == ""
    assert message in err
    assert jobs == []


def test_a_wrong_output_is_found_before_anything_runs(jobs, tmp_path):
    with pytest.raises(ConfigError, match="is a folder: name a file"):
        benchmark.benchmark(["epoch"], 1, output=str(tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match="cannot make the directory"):
        benchmark.benchmark(["epoch"], 1, output=str(tmp_path / "file" / "b"))
    assert jobs == []


def test_help_names_the_cases_and_does_not_load_tensorflow():
    code = (
        "import sys; sys.argv = ['benchmark', '--help']\n"
        "from launch import benchmark\n"
        "try:\n"
        "    benchmark.run()\n"
        "except SystemExit as leaving:\n"
        "    assert not leaving.code, leaving.code\n"
        "assert 'tensorflow' not in sys.modules\n"
    )
    status, out, err = execute("-c", code)
    assert status == 0, err
    words = " ".join(out.split())
    for name, what in benchmark.CASES.items():
        assert f"* {name}: {what}" in words


# Processes


@pytest.mark.slow
def test_cases_run_in_processes_and_one_that_fails_costs_no_other(
    capfd, tmp_path
):
    output = tmp_path / "b.json"
    wrong = dataclasses.replace(SMALL, meta_units=0)
    with pytest.raises(RunError, match="not measured: latency"):
        benchmark.benchmark(
            ["latency", "beam_search"],
            2,
            threads=1,
            output=str(output),
            sizes=wrong,
        )
    out, err = capfd.readouterr()
    cases = json.loads(output.read_text())["cases"]
    assert "status 1" in cases["latency"]["error"]
    assert "latency: the process ended with status 1" in out
    assert "meta_units must be a positive integer, got 0" in err
    result = cases["beam_search"]
    assert len(result["rows"]) == 1
    assert result["threads"]["intra_op"] == "1"
    assert result["threads"]["inter_op"] == "1"
    assert result["threads"]["cores"] >= 1
    assert result["peak_memory_mb"] > 100
    assert result["seconds"] > 0
    assert report.case_text("beam_search", result) in out


def test_what_is_measured_is_returned_as_it_is_written(jobs, tmp_path):
    output = tmp_path / "b.json"
    measured = benchmark.benchmark(["epoch"], 1, output=str(output))
    assert json.loads(output.read_text()) == json.loads(json.dumps(measured))


def children(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in path.read_text().split()]


def wait_for(condition, seconds=20):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


@pytest.mark.skipif(
    not pathlib.Path("/proc/self/task").exists(), reason="needs Linux's /proc"
)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_the_case_and_writes_nothing(tmp_path, number):
    output = tmp_path / "b.json"
    process = start("-m", "launch.benchmark", f"--output={output}")
    [child] = wait_for(lambda: children(process.pid))
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 128 + number
    assert b"the case that ran is lost and nothing was written" in err
    assert b"Traceback" not in err
    assert not os.path.exists(f"/proc/{child}")
    assert not output.exists()


# Tables


def test_table_is_aligned_and_leaves_lists_out():
    lines = report.table(RESULT["rows"])
    assert lines == [
        "contestant  batch  step ms",
        "a              16    1,234",
        "long           64     0.12",
    ]


def test_report_of_a_case_says_what_was_missed_and_with_which_threads():
    lines = report.case_text("meta_mtl", RESULT).splitlines()
    assert lines[0] == (
        "meta_mtl: 12 s, peak memory 1500 MB; intra-op threads 1, "
        "inter-op one a core, 2 cores"
    )
    assert lines[-2] == "target MISSED: times: 3.50 (at least 4.00)"
    assert lines[-1] == "note: as it is"


def test_report_says_when_others_used_the_machine():
    quiet = {**RESULT, "load_average": 1.0}
    busy = {**RESULT, "load_average": 1.1}
    assert "other processes" not in report.case_text("epoch", quiet)
    assert "load was 1.1" in report.case_text("epoch", busy)


def test_report_of_a_met_target_and_of_a_failure():
    target = {**RESULT["targets"][0], "met": True}
    text = report.case_text("epoch", {**RESULT, "targets": [target]})
    assert "target met: times" in text
    assert report.case_text("epoch", {"error": "no"}) == "epoch: no"
