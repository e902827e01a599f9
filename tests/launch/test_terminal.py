"""A training at a terminal: stopped, continued and scored from elsewhere."""

import re
import time

import pytest

from tests.launch.helpers import execute
from tests.launch.terminals import InTerminal, screen, shown

OWN = """
from mtl_tf.configs import quickstart


def entry(name):
    return {"name": name, "files": {"train": name + ".tsv", "test": name +
            ".tsv"}, "labels": ["bad", "good"]}


def get_config():
    config = quickstart.get_config()
    config.tasks = (entry("stars"), entry("subj"), entry("more"))
    config.training.epochs = 2
    return config
"""


@pytest.mark.slow
def test_stop_continue_and_score_from_another_folder(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    for name in ("stars", "subj"):
        lines = [
            f"{label}\ta {label} thing , number {number}\n"
            for number in range(100)
            for label in ("good", "bad")
        ]
        (tmp_path / f"{name}.tsv").write_text("label\ttext\n" + "".join(lines))
    command = (
        "-m",
        "launch.train",
        "--config=own.py",
        "--model_dir=run",
        # Chosen, so that the file of the third is not missed.
        "--config.tasks=stars,subj",
        "--config.evaluation.yardsticks=False",
    )
    first = InTerminal(*command, cwd=tmp_path)
    first.read_until("Compiling")
    time.sleep(1)
    typed = time.monotonic()
    first.type("\x03")
    first.read_until("Stopping after this step")
    assert time.monotonic() - typed < 1
    status, written = first.end()
    assert status == 130 and "the state is saved" in written

    status, written = InTerminal(*command, cwd=tmp_path).end()
    assert status == 0, written
    lines = screen(written)
    table = lines[lines.index("split: test") :]
    assert all(len(line) <= 80 for line in table)
    steps = [line for line in shown(written) if line.startswith("step ")]
    assert all(len(line) < 80 for line in steps)
    assert not re.search(r"\.(py|cc):\d+\]", written)

    status, out, err = execute(
        "-m", "launch.evaluate", f"--model_dir={tmp_path / 'run'}", cwd="/"
    )
    assert status == 0, err
    assert "stars" in out and "more" not in out
