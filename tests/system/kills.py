"""Kills trainings of every family at random moments, and starts them again.

    python -m tests.system.kills --directory=kills --kills=4

An uninterrupted run of each family is the measure. Then the same training is
killed (`kill -9`) at random moments, half of them just behind a save, started
again after each, and left alone at last: its weights, scores and metrics must
be those of the uninterrupted one, bit by bit. With --workers=2, one of two
workers is killed, or both; the others must end by themselves, and weights may
differ by 1e-5. A table of all
kills is printed, and kept in `directory`: the same command continues it.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import time

import numpy as np

from tests.system import families

#: Within this many seconds the other workers must have ended.
STATED_SECONDS = 60
_SECONDS_PER_RUN = 900


def train(config: dict, directory: str, environment: dict) -> None:
    """Trains a run in this process, which is a new one."""
    os.environ.update(environment)
    log = open(directory + ".log", "a")  # noqa: SIM115
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    import tensorflow as tf

    from mtl_tf.core.errors import LOST_WORKER, LostWorker
    from mtl_tf.layers.recurrent import recurrence
    from mtl_tf.runs import training_run

    tf.config.optimizer.set_experimental_options(
        {"disable_meta_optimizer": True}
    )
    strategy = "multi_worker" if environment else "one_device"
    try:
        with recurrence.options(shards=1):
            training_run.train(config, directory, strategy=strategy)
    except LostWorker as error:
        print(error, flush=True)
        os._exit(LOST_WORKER)
    except BaseException as error:
        print(repr(error), flush=True)
        raise
    os._exit(0)


class Family:
    """The trials of one family.

    Args:
        name: of `families.FAMILIES`.
        config: its config.
        directory: of all runs of this family.
        workers: processes of a training.
    """

    def __init__(
        self, name: str, config: dict, directory: pathlib.Path, workers: int
    ):
        self.name, self.config, self.workers = name, config, workers
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        # Threads of TensorFlow do not survive a fork: only imports happen
        # before it.
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["mtl_tf.runs.training_run"])

    def start(self, run: str) -> list:
        """Starts the processes of a training."""
        from tests.runs.worker_processes import environments

        several = self.workers > 1
        each = environments(self.workers) if several else [{}]
        keep = ("TF_CONFIG", "CUDA_VISIBLE_DEVICES", "TF_CPP_MIN_LOG_LEVEL")
        processes = []
        for environment in each:
            chosen = {k: v for k, v in environment.items() if k in keep}
            process = self.context.Process(
                target=train,
                args=(self.config, str(self.directory / run), chosen),
            )
            process.start()
            processes.append(process)
        return processes

    def whole(self) -> float:
        """Trains the measure, if it is not there; returns its seconds."""
        done = self.directory / "seconds.json"
        if not done.exists():
            # The measure counts no imports of the server that forks.
            ready = self.context.Process(target=os.getpid)
            ready.start()
            ready.join()
            before = time.monotonic()
            for process in self.start("whole"):
                _end(process, 0, self.directory / "whole.log")
            done.write_text(json.dumps(time.monotonic() - before))
        return json.loads(done.read_text())

    def trial(self, number: int, kills: int) -> dict:
        """Kills a training so often, lets it end, and compares it."""
        run, duration = f"run{number}", self.whole()
        draw = random.Random(f"{self.name} {number}")
        log = self.directory / f"{run}.log"
        done, waited, steps = 0, 0.0, []
        while done < kills:
            processes = self.start(run)
            if draw.random() < 0.5:
                time.sleep(draw.uniform(0.15, 0.95) * duration)
            else:
                # Of the seconds of a training the steps take few.
                _wait_for_step(self.directory / run, processes, duration)
                time.sleep(draw.uniform(0.0, 1.0))
            victims = draw.choice((processes, [draw.choice(processes)]))
            alive = [v for v in victims if v.is_alive()]
            for victim in alive:
                os.kill(victim.pid, signal.SIGKILL)
            done += bool(alive)
            before = time.monotonic()
            for process in processes:
                killed = process in alive
                _end(process, -signal.SIGKILL if killed else None, log)
            if alive:
                waited = max(waited, time.monotonic() - before)
            steps.append(_steps(self.directory / run))
            if not alive:
                # It was faster than the measure: once more, from the start.
                duration *= 0.6
                shutil.rmtree(self.directory / run)
        for process in self.start(run):
            _end(process, 0, log)
        return {
            "family": self.name,
            "trial": number,
            "kills": done,
            "steps": steps,
            "seconds_to_end": round(waited, 1),
            "difference": difference(
                self.directory / "whole", self.directory / run
            ),
        }


def _end(process, status: int | None, log: pathlib.Path) -> None:
    """Waits for the end; fails if it hangs or ends otherwise.

    Args:
        process: which.
        status: its exit status; None for that of a lost worker, or, if it
            was about to end anyway, 0.
        log: of the run, for the message.
    """
    limit = STATED_SECONDS if status is None else _SECONDS_PER_RUN
    process.join(limit)
    if process.is_alive():
        process.kill()
        raise AssertionError(f"still there after {limit} s: {log}")
    expected = (75, 0) if status is None else (status,)
    if process.exitcode not in expected:
        tail = log.read_text()[-2000:]
        raise AssertionError(f"exit status {process.exitcode}: {tail}")


def _wait_for_step(run: pathlib.Path, processes: list, seconds: float) -> None:
    """Waits until another state is saved, or none is to be expected."""
    before, end = _steps(run), time.monotonic() + 2 * seconds
    while _steps(run) == before and time.monotonic() < end:
        if not all(process.is_alive() for process in processes):
            break
        time.sleep(0.01)


def _steps(run: pathlib.Path) -> int:
    """The step of the last checkpoint of a killed run; 0 without one."""
    numbers = [
        int(path.name.partition("-")[2].partition(".")[0])
        for path in run.glob("**/ckpt-*.index")
    ]
    return max(numbers, default=0)


def difference(one: pathlib.Path, other: pathlib.Path) -> float:
    """How far the best weights, the losses and the scores of runs differ."""
    import tensorflow as tf

    def told(run: pathlib.Path) -> dict[str, np.ndarray]:
        found = {}
        for path in sorted(run.glob("**/best.json")):
            name = json.loads(path.read_text())["weights"]
            reader = tf.train.load_checkpoint(str(path.parent / name))
            for key in reader.get_variable_to_shape_map():
                if key.endswith("VARIABLE_VALUE"):
                    place = f"{path.parent.relative_to(run)} {key}"
                    found[place] = reader.get_tensor(key)
        for path in sorted(run.glob("**/metrics.jsonl")):
            for n, line in enumerate(path.read_text().splitlines()):
                entry = json.loads(line)
                place = f"{path.relative_to(run)} {n}"
                found[place] = np.array(
                    [*entry["train_loss"].values(), entry["step"]]
                )
        return found

    one, other = told(one), told(other)
    assert one.keys() == other.keys() and len(one) > 3
    return max(
        float(np.max(np.abs(np.subtract(one[k], other[k], dtype=float))))
        for k in one
        if one[k].size
    )


def run(
    directory: str,
    kills: int,
    workers: int = 1,
    names: tuple[str, ...] = families.FAMILIES,
    trials: int = 1,
) -> list[dict]:
    """All trials that are not in `directory` yet; returns all.

    Raises:
        AssertionError: a training hung, failed or became another.
    """
    folder = pathlib.Path(directory)
    (folder / "data").mkdir(parents=True, exist_ok=True)
    configs = families.write(folder / "data", names)
    path, rows = folder / "trials.jsonl", []
    if path.exists():
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    known = {(row["family"], row["trial"]) for row in rows}
    for name in names:
        config = configs[name]
        # A state after every step: as many moments of saving as there are.
        config["training"]["checkpoint_seconds"] = 1e-6
        family = Family(name, config, folder / name, workers)
        for number in range(trials):
            if (name, number) in known:
                continue
            row = family.trial(number, kills)
            rows.append(row)
            with open(path, "a") as file:
                file.write(json.dumps(row) + "\n")
            print(line(row), flush=True)
            limit = 0.0 if workers == 1 else 1e-5
            assert row["difference"] <= limit, row
    return rows


def line(row: dict) -> str:
    """A line of the table."""
    return (
        f"{row['family']:14} {row['kills']:5} {row['seconds_to_end']:8} "
        f"{row['difference']:10.1e}   {row['steps']}"
    )


def main() -> None:
    """Runs the trials and prints their table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--directory", required=True)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--families", default=",".join(families.FAMILIES))
    chosen = parser.parse_args()
    rows = run(
        chosen.directory,
        chosen.kills,
        chosen.workers,
        tuple(chosen.families.split(",")),
        chosen.trials,
    )
    print("\nfamily         kills  seconds difference   last states' steps")
    for row in rows:
        print(line(row))
    print(f"{sum(row['kills'] for row in rows)} kills")


if __name__ == "__main__":
    main()
