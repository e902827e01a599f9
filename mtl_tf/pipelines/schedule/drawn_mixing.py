"""Random mixings. They draw blocks of steps, each from its own seed."""

import functools
import math
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.core.random import generator
from mtl_tf.pipelines.schedule.fixed_mixing import TaskMixing

_DRAWN_AT_ONCE = 1024


class _Drawn(TaskMixing):
    """Draws steps in blocks, each block from its own seed."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._block = functools.lru_cache(maxsize=4)(self._draw)

    @property
    def _block_length(self) -> int:
        raise NotImplementedError

    def _draw(self, block: int) -> np.ndarray:
        """The tasks of one block, int32 [block length]."""
        raise NotImplementedError

    def _before(self, block: int) -> np.ndarray:
        """The number of batches of each task in all blocks before `block`."""
        raise NotImplementedError

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """See `TaskMixing.tasks`."""
        first, last = (
            start // self._block_length,
            -(-stop // self._block_length),
        )
        if first >= last:
            return np.zeros([0, 1], np.int32)
        drawn = np.concatenate([self._block(b) for b in range(first, last)])
        offset = first * self._block_length
        return drawn[start - offset : stop - offset, None]

    def counts(self, step: int) -> np.ndarray:
        """See `TaskMixing.counts`."""
        block, rest = divmod(step, self._block_length)
        before = self._before(block)
        return (
            before + self._tally(self._block(block)[:rest]) if rest else before
        )


class _Sampled(_Drawn):
    """Draws the task of every step from fixed probabilities."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self._lock = threading.Lock()
        self._totals = [np.zeros(len(self.batches_per_task), np.int64)]

    @property
    def probabilities(self) -> np.ndarray:
        """float64 [tasks], summing to 1."""
        raise NotImplementedError

    @property
    def _block_length(self) -> int:
        return _DRAWN_AT_ONCE

    def _draw(self, block: int) -> np.ndarray:
        draws = generator(self.seed, "schedule", block).random(_DRAWN_AT_ONCE)
        edges = np.cumsum(self.probabilities)[:-1]
        return np.searchsorted(edges, draws, side="right").astype(np.int32)

    def _before(self, block: int) -> np.ndarray:
        with self._lock:
            while len(self._totals) <= block:
                drawn = self._draw(len(self._totals) - 1)
                self._totals.append(self._totals[-1] + self._tally(drawn))
            return self._totals[block]


class Uniform(_Sampled):
    """All tasks equally often, at random."""

    @property
    def probabilities(self) -> np.ndarray:
        """1 / number of tasks, for each."""
        number = len(self.batches_per_task)
        return np.full(number, 1.0 / number)


class Proportional(_Sampled):
    """Each task in proportion to its number of batches, at random."""

    @property
    def probabilities(self) -> np.ndarray:
        """Batches of the task / batches of all tasks."""
        return self.batches_per_task / self.batches_per_task.sum()


class Temperature(_Sampled):
    """Between proportional (temperature 1) and uniform (infinite).

    Task m is drawn with probability proportional to min(e_m, K)^(1/T)
    (Raffel et al. 2020, section 3.5.2). They count e_m and K in examples; here
    both are in batches, so divide their K by the batch size.

    Args:
        temperature: T > 0; 2 by default.
        cap: K in batches; 0 for no cap.
    """

    def __init__(
        self,
        *args: Any,
        temperature: float = 2.0,
        cap: float = 0,
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        self.temperature = checks.positive("mixing.temperature", temperature)
        self.cap = checks.not_negative("mixing.cap", cap)

    @property
    def probabilities(self) -> np.ndarray:
        """min(e_m, K)^(1/T), normalised; logarithms keep small T finite."""
        rates = np.minimum(self.batches_per_task, self.cap or math.inf)
        powers = np.log(rates) / self.temperature
        weights = np.exp(powers - powers.max())
        return weights / weights.sum()


class Weighted(_Sampled):
    """Each task in proportion to a given weight, at random.

    Args:
        weights: positive numbers by task name; 1 for tasks not named.
    """

    names_tasks = True

    def __init__(
        self,
        *args: Any,
        weights: Mapping[str, float] = MappingProxyType({}),
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        if not hasattr(weights, "items"):
            raise ConfigError(
                "mixing.weights must give numbers by task, such as "
                f"{{'books': 2.0}}, got {weights!r}"
            )
        numbers = {name: i for i, name in enumerate(self.task_names)}
        self.weights = np.ones(len(self.batches_per_task))
        for name, weight in weights.items():
            task = look_up(name, numbers, "task in mixing.weights")
            field = f"mixing.weights[{name!r}]"
            self.weights[task] = checks.positive(field, weight)

    @property
    def probabilities(self) -> np.ndarray:
        """The task's weight / the sum of all weights."""
        return self.weights / self.weights.sum()


class ShuffledRounds(_Drawn):
    """Shuffled rounds until exhaustion (Sun 2019, Algorithm 1).

    An epoch consists of rounds. Each round shuffles the tasks that have batches
    left and takes one batch of each. So each batch of each task comes once.
    """

    @property
    def _block_length(self) -> int:
        return self.steps_per_epoch

    def _draw(self, block: int) -> np.ndarray:
        number = len(self.batches_per_task)
        tasks = np.repeat(np.arange(number), self.batches_per_task)
        first = np.cumsum(self.batches_per_task) - self.batches_per_task
        rounds = np.arange(len(tasks)) - first[tasks]
        keys = generator(self.seed, "schedule", block).random(len(tasks))
        return tasks[np.lexsort((keys, rounds))].astype(np.int32)

    def _before(self, block: int) -> np.ndarray:
        return block * self.batches_per_task
