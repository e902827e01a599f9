"""What a person at a terminal sees: log lines, the live line, colours."""

import re

import pytest

from tests.launch.helpers import environment, execute
from tests.launch.terminals import InTerminal, screen, shown

TOY = """
import time
from absl import flags, logging
from mtl_tf.core.errors import DataError
from mtl_tf.programs import runner
from mtl_tf.training.progress import Progress


def define_flags(values):
    flags.DEFINE_bool("fail", False, "whether to", flag_values=values)


def main(values):
    logging.info("Building the data.")
    logging.warning("7 labels are rare")
    progress = Progress(4000, 0, 500)
    progress.scores = ("| dev 81.25", "best 82.50 at 1500")
    progress.update(1, 0.6931, force=True)
    for step in range(500, 2500, 500):
        time.sleep(0.05)
        progress.update(step, 0.25, force=True)
    logging.info("Saved.")
    progress.update(2500, 0.25, force=True)
    progress.close()
    logging.info("Scored.")
    if values.fail:
        raise DataError("a.tsv:3: no tab in the line")


PROGRAM = runner.Program(
    name="toy", summary="Shows.", main=main, define_flags=define_flags,
    tensorflow=False,
)
if __name__ == "__main__":
    runner.run(PROGRAM)
"""
PREFIX = re.compile(r"[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ \w+\.py:\d+\]")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    path = tmp_path_factory.mktemp("toy") / "toy.py"
    path.write_text(TOY)
    return path


@pytest.mark.by_default("20", "80")
@pytest.mark.parametrize("columns", [20, 40, 80, 200])
def test_the_live_line_fits_the_terminal_and_the_log_has_lines(toy, columns):
    status, written = InTerminal(toy, columns=columns).end()
    assert status == 0, written
    steps = [line for line in shown(written) if line.startswith("step ")]
    assert len(steps) == 6
    assert all(len(line) < columns for line in steps)
    lines = screen(written)
    # The live line was erased before what is logged, and comes back below.
    assert lines[:3] == ["Building the data.", "warning: 7 labels are rare"] + [
        "Saved."
    ]
    assert lines[3].startswith("step 2500/4000")
    assert lines[4:] == ["Scored.", ""]
    assert not PREFIX.search(written)


def test_what_matters_least_gives_way_first(toy):
    wide = shown(InTerminal(toy, columns=200).end()[1])[-2]
    assert "epoch 5.00 loss 0.2500" in wide and "steps/s left" in wide
    assert wide.endswith("| dev 81.25 best 82.50 at 1500")
    usual = shown(InTerminal(toy, columns=80).end()[1])[-2]
    for part in ("step 2500/4000", "loss 0.2500", "left", "dev 81.25"):
        assert part in usual
    assert "best" not in usual


def test_elsewhere_lines_begin_with_the_time_of_day(toy):
    status, out, err = execute(toy)
    assert (status, out) == (0, "")
    lines = err.splitlines()
    assert all(re.match(r"\d\d:\d\d:\d\d ", line) for line in lines)
    assert [line[9:] for line in lines[:2]] == [
        "Building the data.",
        "warning: 7 labels are rare",
    ]
    assert "\x1b" not in err and "\r" not in err


def test_verbosity_asks_for_the_prefixes_of_absl(toy):
    err = execute(toy, "--verbosity=0")[2]
    assert all(PREFIX.match(line) for line in err.splitlines())
    assert "W" in {line[0] for line in err.splitlines()}


@pytest.mark.by_default("extra0-2", "extra1-0")
@pytest.mark.parametrize(
    "extra, codes",
    [({}, 2), ({"NO_COLOR": "1"}, 0), ({"TERM": "dumb"}, 0)],
)
def test_warnings_and_errors_have_colours_where_there_are_any(
    toy, extra, codes
):
    status, written = InTerminal(toy, "--fail", **extra).end()
    assert status == 1
    coloured = re.findall(r"\x1b\[3\dm(\w+:)\x1b\[0m", written)
    assert coloured == ["warning:", "error:"][:codes]
    assert screen(written)[-2] == "error: a.tsv:3: no tab in the line"


def test_a_pipe_gets_no_colours(toy):
    err = execute(toy, "--fail", env=environment(TERM="xterm"))[2]
    assert err.endswith("\nerror: a.tsv:3: no tab in the line\n")
    assert "\x1b" not in err
