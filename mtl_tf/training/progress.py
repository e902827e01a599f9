"""The live progress line of a training run, on standard error."""

import collections
import contextlib
import logging as python_logging
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TextIO

from absl import logging

from mtl_tf.core import terminal
from mtl_tf.core.durations import duration

# Seconds between lines: overwritten on a terminal, logged elsewhere.
_WRITTEN_EVERY = 0.2
_LOGGED_EVERY = 15.0
# Number of latest calls from which the rate is computed.
_CALLS = 500
# A call counts as compiling if it takes longer than this many times the usual
# call plus these seconds. Steps with long texts are slow too, but must count.
_TIMES_SLOWER = 4.0
_SECONDS_SLOWER = 1.0
# No rate is shown for fewer steps. The first steps may all compile, one for
# each task type, and would predict hours for a training of minutes.
_LEAST_STEPS = 10


class Progress:
    """Shows step, rate, time left, loss and the last scores.

    On a terminal one line is overwritten again and again. It is never wider
    than the terminal, and log messages appear above it. Elsewhere a line is
    logged from time to time.

    The rate counts compiled steps only: the first call, and later calls that
    compile for a new shape, are left out. It is shown only after some steps,
    because the first few may all compile. The time left includes the remaining
    steps and, after the first evaluation, the remaining evaluations.

    Args:
        total: steps of the training.
        done: steps done before this process started.
        steps_per_epoch: for the epoch count.
        stream: where the line is written.
        silent: show nothing, because another process does.
        evaluate_every: steps between evaluations, with one at the end; 0 for
            none.
        most_seconds: time limit of the training; 0 for no limit.
        patient: whether training may end early, so that the time left is an
            upper bound.
    """

    def __init__(
        self,
        total: int,
        step: int,
        steps_per_epoch: int,
        stream: TextIO | None = None,
        silent: bool = False,
        evaluate_every: int = 0,
        most_seconds: float = 0.0,
        patient: bool = False,
    ):
        self.evaluate_every = evaluate_every
        self.ends = time.monotonic() + most_seconds if most_seconds else None
        self.left = "left at most" if patient else "left"
        self.evaluation_seconds = 0.0  # duration of the last one
        self.total, self.steps_per_epoch = total, steps_per_epoch
        self.stream = stream or sys.stderr
        self.silent = silent
        self.live = terminal.is_terminal(self.stream)
        self.every = _WRITTEN_EVERY if self.live else _LOGGED_EVERY
        self.scores: Sequence[str] = ()
        self.shows = False
        self.last_shown = time.monotonic()
        self.mark = (self.last_shown, step)
        # (seconds, steps) of calls; the first one compiles.
        self.calls: collections.deque = collections.deque(maxlen=_CALLS)
        self.compiled = False
        if self.live:
            logging.get_absl_logger().addFilter(self._make_room)

    def update(self, step: int, loss: float, force: bool = False) -> None:
        """Shows `step` if enough time has passed."""
        now = time.monotonic()
        before, last = self.mark
        self.mark = (now, step)
        if self.compiled and step > last:
            self.calls.append((now - before, step - last))
        self.compiled = True
        if self.silent:
            return
        if force or now - self.last_shown >= self.every:
            self.last_shown = now
            self._show(step, loss)

    def rate(self) -> float:
        """Steps per second without compilation; 0 if not known yet."""
        if sum(steps for _, steps in self.calls) < _LEAST_STEPS:
            return 0.0
        paces = sorted(seconds / steps for seconds, steps in self.calls)
        # Most of the first few calls may compile, one for each shape.
        usual = paces[len(paces) // 4]
        counted = [
            (seconds, steps)
            for seconds, steps in self.calls
            if seconds <= _TIMES_SLOWER * usual * steps + _SECONDS_SLOWER
        ]
        seconds = sum(seconds for seconds, _ in counted)
        steps = sum(steps for _, steps in counted)
        return steps / seconds if seconds > 0 else 0.0

    def line(self, step: int, loss: float, columns: int | None = None) -> str:
        """The line for `step`.

        Args:
            step: number of steps done.
            loss: the mean loss.
            columns: maximum width. The least important parts are left out.
        """
        rate = self.rate()
        left = "left ?"
        if rate:
            left = f"{self.left} {duration(self.seconds_left(step, rate))}"
        # Each part with its priority: the highest number is dropped first.
        parts = [
            (0, f"step {step}/{self.total}"),
            (4, f"epoch {step / self.steps_per_epoch:.2f}"),
            (1, f"loss {loss:.4f}"),
            *([(5, f"{rate:.1f} steps/s")] if rate else []),
            (2, left),
            *((3, score) for score in self.scores[:1]),
            *((6, score) for score in self.scores[1:]),
        ]
        while columns and len(_joined(parts)) > columns and len(parts) > 1:
            parts.remove(max(parts))
        line = _joined(parts)
        return terminal.shortened(line, columns) if columns else line

    def seconds_left(self, step: int, rate: float) -> float:
        """The estimated time to the end of the training.

        Args:
            step: number of steps done.
            rate: steps per second, not 0.
        """
        seconds = (self.total - step) / rate
        if self.evaluate_every:
            last = -(-self.total // self.evaluate_every)
            evaluations = step // self.evaluate_every
            seconds += (last - evaluations) * self.evaluation_seconds
        if self.ends is not None:
            seconds = min(seconds, max(self.ends - time.monotonic(), 0.0))
        return seconds

    @contextlib.contextmanager
    def evaluation(self) -> Iterator[None]:
        """Times the block as an evaluation, not as a step."""
        start = time.monotonic()
        yield
        now = time.monotonic()
        # The first evaluation compiles; later ones take about as long as the
        # last.
        self.evaluation_seconds = now - start
        self.mark = (now, self.mark[1])

    def close(self) -> None:
        """Ends the live line."""
        if not self.live:
            return
        logging.get_absl_logger().removeFilter(self._make_room)
        if self.shows:
            self.stream.write("\n")
            self.stream.flush()
            self.shows = False

    def _show(self, step: int, loss: float) -> None:
        if not self.live:
            logging.info("%s", self.line(step, loss))
            return
        # Some terminals wrap when the last column is used.
        columns = (terminal.width(self.stream) or 80) - 1
        line = self.line(step, loss, columns)
        self.stream.write(terminal.ERASE + line)
        self.stream.flush()
        self.shows = True

    def _make_room(self, record: python_logging.LogRecord) -> bool:
        """Erases the live line before something is logged."""
        del record
        if self.shows:
            self.stream.write(terminal.ERASE)
            self.stream.flush()
            self.shows = False
        return True


def _joined(parts: Sequence[tuple[int, str]]) -> str:
    return " ".join(text for _, text in parts)
