"""Times contestants against each other, in rounds in one process."""

import dataclasses
import math
import statistics
import time
from collections.abc import Callable, Mapping

from absl import logging

# Steps of the first call, whose results are compared between contestants.
FIRST_STEPS = 3

# Takes the given number of steps and returns a result, such as the summed loss.
Run = Callable[[int], float]


@dataclasses.dataclass(frozen=True)
class Timing:
    """The measurements of one contestant.

    Attributes:
        warm_up: seconds of the first call, which traces and compiles.
        first: the result of the first call.
        samples: seconds per step, one value per round.
    """

    warm_up: float
    first: float
    samples: list[float]

    @property
    def median(self) -> float:
        """The median of the seconds per step."""
        return statistics.median(self.samples)

    def percentile(self, share: float) -> float:
        """Seconds per step that a `share` of the rounds did not exceed."""
        place = math.ceil(share * len(self.samples)) - 1
        return sorted(self.samples)[max(place, 0)]


def compete(
    contestants: Mapping[str, Run], rounds: int, seconds: float
) -> dict[str, Timing]:
    """Warms up all contestants, then lets them run in turns.

    Other load on the machine affects all contestants alike: each runs once per
    round, and each round starts with another one.

    Args:
        contestants: `run(steps)` by name.
        rounds: number of rounds.
        seconds: approximate time that a contestant runs per round; 0 for a
            single step.

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
    """The number of steps that take about `seconds` seconds."""
    steps = 1
    while True:
        elapsed = seconds_of(run, steps)
        if elapsed >= seconds / 2 or steps >= 4096:
            return max(1, round(steps * seconds / max(elapsed, 1e-9)))
        steps *= 2


def ratio(slow: Timing, fast: Timing) -> float:
    """How many times longer `slow` takes: the median over the rounds.

    Each round is compared separately, so a busy minute cancels out.
    """
    pairs = zip(slow.samples, fast.samples)
    return statistics.median(s / f for s, f in pairs)


def peak_memory_mb() -> float:
    """The peak resident memory of this process so far, in 10^6 bytes."""
    try:
        # ru_maxrss would include the peak of the process that started this one.
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
