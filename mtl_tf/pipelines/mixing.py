"""Task mixings by name, and mixings in phases.

A mixing says which task's batch comes at which step. It is a pure function of
(seed, step, batches per task), so a run resumes from its step number alone.
"""

import inspect
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint, look_up
from mtl_tf.core.random import fold
from mtl_tf.pipelines.schedule.drawn_mixing import (
    Proportional,
    ShuffledRounds,
    Temperature,
    Uniform,
    Weighted,
)
from mtl_tf.pipelines.schedule.fixed_mixing import (
    Blocks,
    Joint,
    RoundRobin,
    TaskMixing,
)

_LOOKED_AT = 50  # steps checked of a user's own mixing


class Phases(TaskMixing):
    """Phases of some tasks, then all tasks: curriculum and anti-curriculum.

    Args:
        phases: dicts with `tasks` (names or numbers), either `steps` or
            `epochs`, and optionally `mixing`. An epoch has all batches of the
            phase's tasks once.
        mixing: the config of the mixing within the phases and after them. In a
            phase, weights of tasks that it does not have are ignored.
    """

    in_phases = True
    names_tasks = True

    def __init__(
        self,
        *args: Any,
        phases: Sequence[Mapping[str, Any]] = (),
        mixing: Mapping[str, Any] | str = "uniform",
        **kwargs: Any,
    ):
        super().__init__(*args, **kwargs)
        if not isinstance(phases, (list, tuple)) or not phases:
            raise ConfigError(
                "mixing.phases must list phases such as {'tasks': ['books'], "
                f"'epochs': 1}}, got {phases!r}"
            )
        self._parts = []
        self._starts = [0]
        for number, phase in enumerate(phases):
            self._add_phase(number, _options(phase, "phase"), mixing)
        everything = np.arange(len(self.batches_per_task))
        self._add(everything, mixing, math.inf)

    def _add_phase(self, number: int, phase: dict, mixing: Any) -> None:
        field = f"mixing.phases[{number}]"
        for key in phase:
            look_up(
                key,
                dict.fromkeys(("tasks", "steps", "epochs", "mixing")),
                f"field of {field}",
            )
        tasks = self._find(f"{field}.tasks", phase.get("tasks"))
        if ("steps" in phase) == ("epochs" in phase):
            raise ConfigError(
                f"{field} must give either steps or epochs, or in a config "
                "a fraction of training.steps"
            )
        if "steps" in phase:
            steps = checks.positive_integer(f"{field}.steps", phase["steps"])
        else:
            epochs = checks.positive(f"{field}.epochs", phase["epochs"])
            steps = math.ceil(epochs * int(self.batches_per_task[tasks].sum()))
        names = {self.task_names[t] for t in tasks if self.task_names}
        others = set(self.task_names) - names
        self._add(
            tasks, phase.get("mixing", without_tasks(mixing, others)), steps
        )

    def _find(self, field: str, tasks: Any) -> np.ndarray:
        if not isinstance(tasks, (list, tuple)) or not tasks:
            raise ConfigError(f"{field} must list tasks, got {tasks!r}")
        names = {name: i for i, name in enumerate(self.task_names)}
        numbers = [
            task
            if type(task) is int and 0 <= task < len(self.batches_per_task)
            else look_up(task, names, f"task in {field}")
            for task in tasks
        ]
        if len(set(numbers)) < len(numbers):
            raise ConfigError(f"{field} names a task twice: {list(tasks)}")
        return np.asarray(numbers)

    def _add(self, tasks: np.ndarray, config: Any, steps: float) -> None:
        part = make_mixing(
            config,
            self.batches_per_task[tasks],
            fold(self.seed, "phase", len(self._parts)),
            [self.task_names[t] for t in tasks] if self.task_names else (),
        )
        if part.is_joint:
            raise ConfigError("mixing.phases cannot hold joint steps")
        self._parts.append((tasks, part))
        self._starts.append(self._starts[-1] + steps)

    def tasks(self, start: int, stop: int) -> np.ndarray:
        """See `TaskMixing.tasks`."""
        pieces = [np.zeros([0, 1], np.int32)]
        spans = zip(self._parts, self._starts, self._starts[1:])
        for (tasks, part), begin, end in spans:
            first, last = max(start, begin), min(stop, end)
            if first < last:
                local = part.tasks(first - begin, last - begin)
                pieces.append(tasks[local].astype(np.int32))
        return np.concatenate(pieces)

    def counts(self, step: int) -> np.ndarray:
        """See `TaskMixing.counts`."""
        counts = np.zeros(len(self.batches_per_task), np.int64)
        spans = zip(self._parts, self._starts, self._starts[1:])
        for (tasks, part), begin, end in spans:
            if step > begin:
                counts[tasks] += part.counts(min(step, end) - begin)
        return counts


MIXINGS: dict[str, type[TaskMixing]] = {
    "uniform": Uniform,
    "proportional": Proportional,
    "temperature": Temperature,
    "weighted": Weighted,
    "round_robin": RoundRobin,
    "shuffled_rounds": ShuffledRounds,
    "blocks": Blocks,
    "phases": Phases,
    "joint": Joint,
}


def class_of(config: Mapping[str, Any] | str) -> type[TaskMixing]:
    """The class of a mixing's config, for what is common to all of a class.

    Args:
        config: see `make_mixing`.

    Raises:
        ConfigError: there is no such mixing.
    """
    name = config if isinstance(config, str) else config.get("name")
    if own_functions.is_own(name):
        return own_functions.load_class(name, TaskMixing)
    return look_up(name, MIXINGS, "mixing")


def is_joint(config: Mapping[str, Any] | str) -> bool:
    """Whether each step has all tasks; argument and errors as `class_of`."""
    return class_of(config).is_joint


def make_mixing(
    config: Mapping[str, Any] | str,
    batches_per_task: Sequence[int],
    seed: int,
    task_names: Sequence[str] = (),
) -> TaskMixing:
    """Makes a mixing from its config.

    Args:
        config: a name of `MIXINGS`; the path of a class of your own, such as
            "my_mixing.py:MyMixing" (see `own_functions.load`); or a dict of
            `name` and that mixing's options. Options that are None keep their
            defaults.
        batches_per_task: batches of one epoch of each task.
        seed: the run's seed.
        task_names: the tasks' names.

    Raises:
        ConfigError: an unknown mixing or option, or a wrong value.
    """
    options = {"name": config} if isinstance(config, str) else None
    options = options or _options(config, "mixing")
    name = options.pop("name", None)
    if own_functions.is_own(name):
        return _own_mixing(name, options, batches_per_task, seed, task_names)
    mixing = class_of({"name": name})
    parameters = inspect.signature(mixing).parameters.values()
    known = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    for option in options:
        if option not in known:
            raise ConfigError(
                f"mixing {name!r} has no option {option!r}; "
                f"{hint(option, known)}"
            )
    return mixing(batches_per_task, seed, task_names, **options)


def _own_mixing(
    place: str,
    options: Mapping[str, Any],
    batches_per_task: Sequence[int],
    seed: int,
    task_names: Sequence[str],
) -> TaskMixing:
    """Makes a mixing of the user's own and checks its first steps."""
    mixing = class_of(place)
    arguments = ("batches_per_task", "seed", "task_names", "args")
    known = own_functions.keywords(mixing, arguments)
    own_functions.check_options(f"mixing {place}", options, known)
    if mixing.tasks is TaskMixing.tasks:
        raise ConfigError(
            f"{place} has no tasks(start, stop): it must return the number of "
            "each step's task (docs/own_code.md)"
        )
    given = (batches_per_task, seed, task_names)
    try:
        inspect.signature(mixing).bind(*given, **options)
    except TypeError as error:
        raise ConfigError(
            f"{place} must take *args and **kwargs beside its options, and "
            f"pass them to super().__init__(*args, **kwargs): {error}"
        )
    task_mixing = mixing(*given, **options)
    check = _check_joint_steps if mixing.is_joint else _check_first_steps
    check(place, task_mixing, len(batches_per_task))
    return task_mixing


def _check_joint_steps(place: str, mixing: TaskMixing, tasks: int) -> None:
    """Refuses joint steps that have not all tasks in their order."""
    expected = np.tile(np.arange(tasks), (_LOOKED_AT, 1))
    steps = np.asarray(mixing.tasks(0, _LOOKED_AT))
    if mixing.groups != tasks or not np.array_equal(steps, expected):
        raise ConfigError(
            f"{place} has joint steps (is_joint): groups must be {tasks}, and "
            f"each row of tasks(0, {_LOOKED_AT}) all tasks in their order, "
            f"{expected[0].tolist()}"
        )


def _check_first_steps(place: str, mixing: TaskMixing, tasks: int) -> None:
    """Refuses invalid steps, and steps that `counts` counts differently."""
    steps = mixing.tasks(0, _LOOKED_AT)
    shape = (_LOOKED_AT, 1)
    is_array = isinstance(steps, np.ndarray)
    if not is_array or steps.dtype.kind != "i" or steps.shape != shape:
        got = f"{steps.dtype} {list(steps.shape)}" if is_array else type(steps)
        raise ConfigError(
            f"{place}: tasks(0, {_LOOKED_AT}) must return an array of integers "
            f"of shape {list(shape)}, a row for each step, got {got}"
        )
    if steps.min() < 0 or steps.max() >= tasks:
        raise ConfigError(
            f"{place}: tasks must be numbers from 0 to {tasks - 1}, got "
            f"{steps.min()} to {steps.max()}"
        )
    if not np.array_equal(mixing.tasks(1, _LOOKED_AT), steps[1:]):
        raise ConfigError(
            f"{place}: tasks(1, {_LOOKED_AT}) must be the same as in tasks(0, "
            f"{_LOOKED_AT}): a step's tasks depend on seed and step alone"
        )
    expected = np.bincount(steps.ravel(), minlength=tasks)
    counts = np.asarray(mixing.counts(_LOOKED_AT))
    if not np.array_equal(counts, expected):
        raise ConfigError(
            f"{place}: counts({_LOOKED_AT}) must be the batches of each task "
            f"in tasks(0, {_LOOKED_AT}), {expected.tolist()}, got "
            f"{counts.tolist()}"
        )


def for_tasks(
    config: Mapping[str, Any], task_names: Sequence[str]
) -> Mapping[str, Any]:
    """The checked mixing config for some of the config's tasks.

    A single task needs no mixing: then phases and weights, which may name
    absent tasks, are ignored.

    Args:
        config: a dict of `name` and that mixing's options.
        task_names: the tasks' names.

    Raises:
        ConfigError: as for `make_mixing`.
    """
    if len(task_names) == 1 and class_of(config).names_tasks:
        return {"name": "round_robin"}
    make_mixing(config, [1] * len(task_names), 0, task_names)
    return config


def without_tasks(config: Any, absent: Collection[str]) -> Any:
    """A mixing's config without the weights of absent tasks.

    Args:
        config: a name, or a dict of `name` and that mixing's options. For
            phases, the mixing within them is changed.
        absent: names of tasks that are not mixed.
    """
    if not hasattr(config, "items"):
        return config
    changed = dict(config.items())
    if hasattr(config.get("weights"), "items"):
        changed["weights"] = {
            name: weight
            for name, weight in config["weights"].items()
            if name not in absent
        }
    if hasattr(config.get("mixing"), "items"):
        changed["mixing"] = without_tasks(config["mixing"], absent)
    return changed


def _options(config: Any, noun: str) -> dict[str, Any]:
    """A plain dict of a dict or ConfigDict, without fields that are None."""
    if not hasattr(config, "items"):
        raise ConfigError(f"a {noun} must be a dict, got {config!r}")
    return {key: value for key, value in config.items() if value is not None}
