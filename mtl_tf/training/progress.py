"""The live line of a training run, on standard error."""

import sys
import time
from typing import TextIO

from absl import logging

from mtl_tf.core.durations import duration


class Progress:
    """Shows step, rate, time left, loss and the last scores.

    On a terminal one line is written over and over; elsewhere a line is logged
    every `every` seconds.

    Args:
        total: steps of the training.
        done: steps done before this process.
        steps_per_epoch: for the count of epochs.
        stream: where the line goes.
        every: seconds between logged lines.
        silent: show nothing: another process does.
    """

    def __init__(
        self,
        total: int,
        done: int,
        steps_per_epoch: int,
        stream: TextIO | None = None,
        every: float = 15.0,
        silent: bool = False,
    ):
        self.total, self.steps_per_epoch = total, steps_per_epoch
        self.stream = stream or sys.stderr
        self.silent = silent
        self.live = self.stream.isatty()
        self.every = 0.2 if self.live else every
        self.scores = ""
        self.width = 0
        self.shown = time.monotonic()
        # (time, step) marks of the last minute: the rate forgets compilation.
        self.marks = [(self.shown, done)]

    def update(self, step: int, loss: float, force: bool = False) -> None:
        """Shows `step` if it is time to."""
        now = time.monotonic()
        self.marks.append((now, step))
        while len(self.marks) > 2 and now - self.marks[0][0] > 60:
            self.marks.pop(0)
        if self.silent:
            return
        if force or now - self.shown >= self.every:
            self.shown = now
            self._show(self.line(step, loss))

    def line(self, step: int, loss: float) -> str:
        """The line for `step`."""
        seconds = self.marks[-1][0] - self.marks[0][0]
        steps = self.marks[-1][1] - self.marks[0][1]
        rate = steps / seconds if seconds > 0 else 0.0
        left = duration((self.total - step) / rate) if rate else "?"
        return (
            f"step {step}/{self.total} "
            f"epoch {step / self.steps_per_epoch:.2f} "
            f"loss {loss:.4f} {rate:.1f} steps/s left {left}{self.scores}"
        )

    def pause(self) -> None:
        """Forgets the rate so far: what follows is not a step."""
        self.marks = [(time.monotonic(), self.marks[-1][1])]

    def close(self) -> None:
        """Ends the live line."""
        if self.live and self.width:
            self.stream.write("\n")
            self.width = 0

    def _show(self, line: str) -> None:
        if self.live:
            self.stream.write("\r" + line.ljust(self.width))
            self.stream.flush()
            self.width = len(line)
        else:
            logging.info("%s", line)
