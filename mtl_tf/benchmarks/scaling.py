"""The benchmark case about growth: the cost of larger sizes."""

import dataclasses
from typing import Any

import tensorflow as tf
from absl import logging

from mtl_tf.benchmarks import contestants, memory, timing
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks.result_rows import Result, make_target
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.training.distribution.strategies import make_strategy

_BATCH = 16
# Other processes can change a time by up to a quarter.
_SAME = 1.25


@dataclasses.dataclass(frozen=True)
class Setting:
    """What is measured in a separate process.

    Attributes:
        axis: the quantity that grows.
        value: its value.
        sizes: sizes of model and data.
        labels: number of classes per task.
        replicas: virtual devices, which share the batch.
    """

    axis: str
    value: int
    sizes: Sizes
    labels: int = 2
    replicas: int = 1


def settings(sizes: Sizes) -> list[Setting]:
    """What is measured, the smallest value of each axis first."""
    changed = dataclasses.replace
    return [
        *(
            Setting("tasks", n, changed(sizes, tasks=n))
            for n in sizes.scaled[0]
        ),
        *(Setting("classes", n, sizes, n) for n in sizes.scaled[1]),
        *(
            Setting("vocabulary", n, changed(sizes, vocabulary=n))
            for n in sizes.scaled[2]
        ),
        *(
            Setting("length", n, changed(sizes, length=n))
            for n in sizes.scaled[3]
        ),
        *(Setting("replicas", n, sizes, 2, n) for n in sizes.scaled[4]),
    ]


def scaling(sizes: Sizes, rounds: int) -> Result:
    """Time and memory of a training step for more tasks, words and so on."""
    rows = []
    for setting in settings(sizes):
        logging.info("%s %d", setting.axis, setting.value)
        rows.append(memory.result_of(measure, setting, rounds))
    targets = [
        make_target(
            f"{axis}: time of a step with the most over that with the fewest",
            _growth(rows, axis),
            "at most",
            _SAME,
        )
        for axis in ("tasks", "vocabulary")
    ]
    most = max(
        _beyond(rows, axis) for axis in ("tasks", "classes", "vocabulary")
    )
    description = "MB of tasks, classes and words beyond twice their state"
    targets.append(make_target(description, most, "at most", 100.0))
    return {
        "rows": rows,
        "targets": targets,
        "notes": [
            f"Meta-MTL, batch {_BATCH}, Adagrad; state_mb: parameters and the "
            "optimizer's numbers; each row in a process of its own, whose "
            "peak it is, Python and TensorFlow included",
            "replicas are virtual devices of the same cores: they cannot be "
            "faster",
        ],
    }


def _of(rows: list[dict[str, Any]], axis: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["axis"] == axis]


def _growth(rows: list[dict[str, Any]], axis: str) -> float:
    """How many times longer a step takes at the end of an axis."""
    first, *_, last = _of(rows, axis)
    return last["step_ms"] / first["step_ms"]


def _beyond(rows: list[dict[str, Any]], axis: str) -> float:
    """How much memory other than the state grows along an axis, in 10^6 bytes.

    The state counts twice, because initial values are made before they are
    assigned.
    """
    first, *_, last = _of(rows, axis)
    state = last["state_mb"] - first["state_mb"]
    return max(last["peak_mb"] - first["peak_mb"] - 2 * state, 0.0)


def measure(setting: Setting, rounds: int) -> dict[str, Any]:
    """A row of the table: training steps of one setting.

    Args:
        setting: what to measure.
        rounds: number of rounds; the time is their median.
    """
    sizes = setting.sizes
    strategy = "one_device"
    if setting.replicas > 1:
        strategy = "mirrored"
        cpu = tf.config.list_physical_devices("CPU")[0]
        virtual = [tf.config.LogicalDeviceConfiguration()] * setting.replicas
        tf.config.set_logical_device_configuration(cpu, virtual)
    trainer = contestants.make_trainer(
        sizes,
        sizes.vocabulary,
        strategy=make_strategy(strategy),
        labels=setting.labels,
    )
    dataset = data.batches(sizes, _BATCH, setting.labels, setting.replicas)
    run = contestants.trainer_run(trainer, dataset)
    timed = timing.compete({"run": run}, rounds, sizes.round_seconds)["run"]
    variables = {id(v): v for v in trainer.model.variables}
    variables |= {id(v): v for v in trainer.optimizer.variables}
    numbers = sum(v.value.dtype.size * _count(v) for v in variables.values())
    return {
        "axis": setting.axis,
        "value": setting.value,
        "step_ms": 1e3 * timed.median,
        "tokens_per_s": _BATCH * sizes.length / timed.median,
        "state_mb": numbers / 1e6,
        "peak_mb": timing.peak_memory_mb(),
        "samples_ms": [1e3 * seconds for seconds in timed.samples],
    }


def _count(variable: Any) -> int:
    return int(tf.TensorShape(variable.shape).num_elements())
