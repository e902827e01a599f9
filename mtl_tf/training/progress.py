"""The live line of a training run, on standard error."""

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

# Seconds between lines: written over on a terminal, logged elsewhere.
_WRITTEN_EVERY = 0.2
_LOGGED_EVERY = 15.0
# Calls whose steps tell the rate.
_CALLS = 500
# A call is taken to compile if it is so much slower than the usual one. That
# a step of long texts is slower than others is no reason to leave it out.
_TIMES_SLOWER = 4.0
_SECONDS_SLOWER = 1.0
# Steps that tell a rate at all: the first ones may all compile, one for each
# type of tasks, and would tell hours of a training that takes minutes.
_LEAST_STEPS = 10


class Progress:
    """Shows step, rate, time left, loss and the last scores.

    On a terminal one line is written over and over, never longer than the
    terminal is wide; what is logged meanwhile gets lines above it. Elsewhere
    a line is logged now and then.

    The rate is that of compiled steps: the first call, and later ones which
    compile for a new shape, do not count. It is told after some steps, since
    the first few may all compile. The time left is that of the steps
    and, once there was one, of the evaluations to come.

    Args:
        total: steps of the training.
        done: steps done before this process.
        steps_per_epoch: for the count of epochs.
        stream: where the line goes.
        silent: show nothing: another process does.
        evaluate_every: steps between evaluations, of which one is at the end;
            0 for none.
        most_seconds: after which it ends; 0 for no such time.
        patient: whether it may end early, so that the time left is the most.
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
        self.evaluation_seconds = 0.0  # of the last one
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
        """Shows `step` if it is time to."""
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
        """Steps a second without those that compiled; 0 if not known yet."""
        if sum(steps for _, steps in self.calls) < _LEAST_STEPS:
            return 0.0
        paces = sorted(seconds / steps for seconds, steps in self.calls)
        # Of the first few calls most may compile, one for each shape.
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
            step: how many are done.
            loss: the mean loss.
            columns: how long it may be; what matters least is left out.
        """
        rate = self.rate()
        left = "left ?"
        if rate:
            left = f"{self.left} {duration(self.seconds_left(step, rate))}"
        # With how soon each gives way to the others.
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
        """The time to the end of the training.

        Args:
            step: how many are done.
            rate: steps a second, not 0.
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
        """What happens within is no step, but an evaluation."""
        start = time.monotonic()
        yield
        now = time.monotonic()
        # The first one compiles; those to come are like the last.
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
        # A character in the last column makes some terminals wrap.
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
