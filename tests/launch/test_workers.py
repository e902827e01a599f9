"""`launch.train` on two workers, and what happens to them.

Real processes over loopback; `tests/runs/test_workers.py` holds what they
train.
"""

import json
import os
import shutil
import signal
import time

import pytest

from mtl_tf.core.errors import LOST_WORKER
from tests.runs import worker_processes
from tests.system import families

# Within these seconds the others of a lost worker have ended.
STATED = 60


def write_config(folder, config):
    """Writes a config as a file for --config; returns its path."""
    path = os.path.join(folder, "config.py")
    with open(path, "w") as file:
        file.write(
            "import json\n"
            "from ml_collections import config_dict\n"
            f"CONFIG = json.loads({json.dumps(config)!r})\n"
            "def get_config():\n"
            "    return config_dict.ConfigDict(CONFIG)\n"
        )
    return path


def launch(folder, config, environments=None, flags=None):
    """Starts `launch.train` on two workers."""
    os.makedirs(folder / "logs", exist_ok=True)
    path = write_config(folder, config)
    environments = environments or worker_processes.environments(2)
    started = []
    for number, environment in enumerate(environments):
        arguments = ["-m", "launch.train", f"--config={path}"]
        arguments += [f"--model_dir={folder / 'run'}"]
        arguments += (flags or {}).get(number, [])
        logs = folder / "logs" / str(number)
        os.makedirs(logs, exist_ok=True)
        started += worker_processes.start(arguments, [environment], logs)
    return started


def log(folder, number, name="err0"):
    return worker_processes.read(folder / "logs" / str(number), name)


@pytest.fixture(scope="module")
def long_config(tmp_path_factory):
    """A training that lasts until something happens to it."""
    folder = tmp_path_factory.mktemp("long")
    config = families.write(folder, ["nbow"])["nbow"]
    config["training"] |= {"steps": 100_000, "evaluate_every": 50}
    return config


def wait_for_state(folder, seconds=300):
    """Waits until the training has saved a state."""
    end = time.monotonic() + seconds
    while not (folder / "run/checkpoints/checkpoint").exists():
        assert time.monotonic() < end, log(folder, 0)[-2000:]
        time.sleep(0.2)


def interrupted(folder, config, victim, signal_number):
    """Starts two workers and sends one of them a signal as it trains."""
    started = launch(folder, config)
    wait_for_state(folder)
    os.kill(started[victim].pid, signal_number)
    return started


def end_of(started, number, seconds):
    """The exit status of a process, which has to end in some seconds."""
    try:
        return started[number].wait(seconds)
    finally:
        for process in started:
            process.kill()
            process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_killed_worker_ends_the_other_and_all_of_them_go_on(
    tmp_path, long_config, victim
):
    started = interrupted(tmp_path, long_config, victim, signal.SIGKILL)
    status = end_of(started, 1 - victim, STATED)
    text = log(tmp_path, 1 - victim)
    assert status == LOST_WORKER, text[-2000:]
    assert f"error: worker {1 - victim} of 2 stops, because another" in text
    assert "Traceback" not in text
    step = last_step(tmp_path / "run")
    # To an end, this time: the training that the run holds becomes short.
    shorter = {"training": {**long_config["training"], "steps": step + 5}}
    shutil.rmtree(tmp_path / "logs")
    with open(tmp_path / "run/config.json") as file:
        written = json.load(file)
    written["training"]["steps"] = step + 5
    (tmp_path / "run/config.json").write_text(json.dumps(written))
    started = launch(tmp_path, long_config | shorter)
    assert worker_processes.statuses(started, 300) == [0, 0]
    assert f"Continuing joint from step {step}." in log(tmp_path, 0)
    assert "mean" in log(tmp_path, 0, "out0")
    assert log(tmp_path, 1, "out0") == ""


def last_step(run):
    names = os.listdir(run / "checkpoints")
    return max(
        int(name[len("ckpt-") : -len(".index")])
        for name in names
        if name.endswith(".index")
    )


@pytest.mark.slow
def test_a_worker_that_hangs_ends_the_other(tmp_path, long_config):
    """Such as one whose host has frozen: nothing is refused or reset."""
    started = interrupted(tmp_path, long_config, 1, signal.SIGSTOP)
    assert end_of(started, 0, STATED) == LOST_WORKER


@pytest.mark.slow
@pytest.mark.parametrize("asked", [0, 1])
def test_sigterm_of_one_worker_saves_and_stops_all(
    tmp_path, long_config, asked
):
    started = interrupted(tmp_path, long_config, asked, signal.SIGTERM)
    statuses = worker_processes.statuses(started, 30)
    assert statuses == [128 + signal.SIGTERM] * 2
    saved = last_step(tmp_path / "run")
    for number in (0, 1):
        assert f"stopped by SIGTERM at step {saved} of" in log(tmp_path, number)


@pytest.mark.slow
def test_tasks_of_a_slurm_step_train(tmp_path):
    config = families.write(tmp_path, ["nbow"])["nbow"]
    # Ports follow from the number of the job.
    [port] = worker_processes.free_ports(1)
    shared = {
        name: value
        for name, value in worker_processes.environments(1)[0].items()
        if name != "TF_CONFIG"
    } | {
        "SLURM_JOB_ID": str(port % 20_000 + 10_000),
        "SLURM_STEP_NUM_TASKS": "2",
        "SLURM_STEP_NODELIST": "localhost",
        "SLURM_STEP_TASKS_PER_NODE": "2",
        "SLURMD_NODENAME": "localhost",
    }
    environments = [shared | {"SLURM_PROCID": str(n)} for n in (0, 1)]
    started = launch(tmp_path, config, environments)
    statuses = worker_processes.statuses(started, 300)
    assert statuses == [0, 0], log(tmp_path, 0)[-2000:]
    assert "Worker 0 of 2 (Slurm)" in log(tmp_path, 0)
    results = json.loads((tmp_path / "run/results.json").read_text())
    assert results["run"]["steps"] == 6


@pytest.mark.slow
def test_another_config_on_a_worker_is_refused(tmp_path, long_config):
    flags = {1: ["--config.training.l2=0.5"]}
    started = launch(tmp_path, long_config, flags=flags)
    assert worker_processes.statuses(started, 300) == [1, 1]
    assert "another worker stopped with an error" in log(tmp_path, 0)
    assert "training.l2" in log(tmp_path, 1)
    assert "start all workers with the same command" in log(tmp_path, 1)


@pytest.mark.slow
def test_what_stops_the_chief_stops_the_others(tmp_path, long_config):
    wrong = json.loads(json.dumps(long_config))
    wrong["tasks"][0]["files"]["train"] = str(tmp_path / "not_there.tsv")
    started = launch(tmp_path, wrong)
    assert worker_processes.statuses(started, 300) == [1, 1]
    assert "not_there.tsv" in log(tmp_path, 0)
    assert "the chief stopped with an error: see its log" in log(tmp_path, 1)


@pytest.mark.slow
def test_a_metric_that_fails_stops_all(tmp_path):
    config = families.write(tmp_path, ["nbow"])["nbow"]
    place = tmp_path / "mine.py"
    place.write_text("def share(labels, predictions):\n    return 1 / 0\n")
    config["tasks"][0]["metrics"] = ["accuracy", f"{place}:share"]
    started = launch(tmp_path, config)
    assert worker_processes.statuses(started, 300) == [1, 1]
    assert "ZeroDivisionError" in log(tmp_path, 0)
    assert "the chief stopped with an error: see its log" in log(tmp_path, 1)
