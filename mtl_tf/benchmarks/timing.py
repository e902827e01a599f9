"""Times contestants against each other, in rounds in one process."""

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Mapping

from absl import logging

# Steps of the first call, whose results are compared between contestants.
FIRST_STEPS = 3

# Takes so many steps and returns what came out, such as the summed loss.
Run = Callable[[int], float]


@dataclasses.dataclass(frozen=True)
class Timing:
    """What was measured of one contestant.

    Attributes:
        warm_up: seconds of the first call, which traces and compiles.
        first: what the first call returned.
        samples: seconds a step, one value a round.
    """

    warm_up: float
    first: float
    samples: list[float]

    @property
    def median(self) -> float:
        """Seconds a step."""
        return statistics.median(self.samples)

    def percentile(self, share: float) -> float:
        """Seconds a step that `share` of the rounds did not exceed."""
        place = math.ceil(share * len(self.samples)) - 1
        return sorted(self.samples)[max(place, 0)]


def compete(
    contestants: Mapping[str, Run], rounds: int, seconds: float
) -> dict[str, Timing]:
    """Warms all contestants up, then lets them run in turns.

    Whatever else the machine does meets all contestants alike: each runs once
    in every round, and another one begins each round.

    Args:
        contestants: `run(steps)` by name.
        rounds: number of rounds.
        seconds: how long a contestant runs in a round, about; 0 for a single
            step.

    Returns:
        A `Timing` by name.
    """
    warm_ups, firsts, steps = {}, {}, {}
    for name, run in contestants.items():
        start = time.perf_counter()
        firsts[name] = run(FIRST_STEPS)
        warm_ups[name] = time.perf_counter() - start
        steps[name] = _steps_for(run, seconds)
        logging.info("%s: warmed up in %.1f s", name, warm_ups[name])
    samples = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        begin = number % len(names)
        for name in names[begin:] + names[:begin]:
            elapsed = seconds_of(contestants[name], steps[name])
            samples[name].append(elapsed / steps[name])
    return {
        name: Timing(warm_ups[name], firsts[name], samples[name])
        for name in names
    }


def seconds_of(run: Run, steps: int) -> float:
    """How long `run(steps)` takes."""
    start = time.perf_counter()
    run(steps)
    return time.perf_counter() - start


def _steps_for(run: Run, seconds: float) -> int:
    """How many steps take about so many seconds."""
    steps = 1
    while True:
        elapsed = seconds_of(run, steps)
        if elapsed >= seconds / 2 or steps >= 4096:
            return max(1, round(steps * seconds / max(elapsed, 1e-9)))
        steps *= 2


def ratio(slow: Timing, fast: Timing) -> float:
    """How many times as long `slow` takes: the median over the rounds.

    Each round is compared in itself, so a busy minute cancels out.
    """
    pairs = zip(slow.samples, fast.samples)
    return statistics.median(s / f for s, f in pairs)


def peak_memory_mb() -> float:
    """The most resident memory of this process so far, in 10^6 bytes."""
    try:
        # ru_maxrss would still hold the peak of the process that started us.
        with open("/proc/self/status", encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024 / 1e6
    except OSError:
        pass
    import resource
    import sys

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
