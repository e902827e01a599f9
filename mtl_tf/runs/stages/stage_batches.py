"""The batches of a stage, and which tasks a step computes together.

A step is a batch of tasks that share one graph. If the tasks of a joint step do
not share one, for example tasks of several types, the step is a tuple of such
batches, the pieces. Each piece has the groups of its tasks, all of one length
bucket, and its own plan. Step s of a run is step s of every plan, so it too is
a function of seed and step. A piece whose tasks have been seen whole starts
over.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.models.protocol import TaskModel
from mtl_tf.pipelines import mixing
from mtl_tf.pipelines.batches import BatchPlan, training_dataset
from mtl_tf.pipelines.served.served_batches import DataService
from mtl_tf.pipelines.without_autotuning import fixed
from mtl_tf.runs.data.run_data import RunData
from mtl_tf.runs.stages.stage_gradients import task_by_task
from mtl_tf.runs.stages.stage_plan import Stage


class StageBatches:
    """The batches of a stage and the keys of their tasks.

    Args:
        config: the resolved config.
        data: the run's data.
        model: the run's model.
        stage: the stage.
        replicas: the number of replicas.

    Attributes:
        static_shapes: see `BatchPlan`.
        replicas: the number of replicas.

    Raises:
        ConfigError: a field does not suit the data.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        data: RunData,
        model: TaskModel,
        stage: Stage,
        replicas: int,
    ):
        self.config, self.data, self.model = config, data, model
        self.replicas = replicas
        # The rows of a smaller last batch cannot be split evenly.
        self.static_shapes = replicas > 1 or (
            config["pipeline"]["static_shapes"] and model.static_shapes
        )
        self._mixing = mixing.for_tasks(
            config["pipeline"]["mixing"],
            [data.tasks[number].name for number in stage.tasks],
        )
        self._is_joint = mixing.is_joint(self._mixing)
        #: The tasks of each piece.
        self.pieces = self._divided(stage.tasks)
        #: The plan of each piece.
        self.plans = [self._plan(tasks) for tasks in self.pieces]

    def _divided(self, tasks: tuple[int, ...]) -> list[tuple[int, ...]]:
        """The tasks of a step, grouped by what computes them together."""
        by_key: dict[Any, tuple[int, ...]] = {}
        for number in tasks:
            key = self.model.key_of(number)
            by_key[key] = (*by_key.get(key, ()), number)
        together = self.model.joint_key is not None and not task_by_task(
            self.config
        )
        if together or not self._is_joint:
            return [tasks]
        return list(by_key.values())

    def _plan(self, tasks: tuple[int, ...]) -> BatchPlan:
        pipeline = self.config["pipeline"]
        return BatchPlan(
            [self.data.train[number] for number in tasks],
            pipeline["batch_size"],
            self.data.boundaries,
            self._mixing,
            self.config["seed"],
            self.static_shapes,
            pipeline["tokens_per_batch"],
            pipeline["token_weights"],
            {t.name: t.task_type.balanced(t.settings) for t in self.data.tasks},
            self.config["training"]["accumulate_steps"],
            self.replicas,
        )

    @property
    def steps_per_epoch(self) -> int:
        """The steps in which every task is seen whole."""
        return max(plan.steps_per_epoch for plan in self.plans)

    def facts(self) -> dict[str, int]:
        """What has to be the same for a stopped run to go on."""
        facts = {"steps_per_epoch": self.steps_per_epoch}
        if any(plan.is_rounded for plan in self.plans):
            facts["rounded_for_replicas"] = self.replicas
        return facts

    def padding_share(self) -> float:
        """The share of an epoch's cells without a token."""
        each = [plan.cells(self.steps_per_epoch) for plan in self.plans]
        tokens, cells = map(sum, zip(*each))
        return 1.0 - tokens / cells

    def dataset(
        self, total: int, service: DataService | None = None
    ) -> Callable[[int, int, range], tf.data.Dataset]:
        """The function that makes the dataset of `total` steps; see `Loop`.

        Args:
            total: the steps of the stage.
            service: makes the batches; None if this process does.
        """
        makers = [
            training_dataset
            if service is None
            else functools.partial(service.training_dataset, piece=number)
            for number in range(len(self.pieces))
        ]

        def make(start: int, replicas: int, part: range) -> tf.data.Dataset:
            pieces = tuple(
                make_piece(plan, start, replicas, total, part).map(
                    _numbered(tasks)
                )
                for make_piece, plan, tasks in zip(
                    makers, self.plans, self.pieces
                )
            )
            several = len(pieces) > 1
            whole = tf.data.Dataset.zip(pieces) if several else pieces[0]
            return fixed(whole.prefetch(4))

        return make

    def next_key(self, step: int, most: int) -> tuple[int, Any]:
        """See `Loop`."""
        keys = [
            [self.model.key_of(number) for number in tasks]
            for tasks in self.pieces
        ]
        if len(keys) > 1:
            return most, tuple(piece[0] for piece in keys)
        [keys] = keys
        if len(set(keys)) == 1:
            return most, keys[0]
        if self._is_joint:
            return most, self.model.joint_key
        [plan] = self.plans
        tasks = plan.mixing.tasks(step, step + most)[:, 0]
        step_keys = [keys[task] for task in tasks]
        others = (n for n, key in enumerate(step_keys) if key != step_keys[0])
        return next(others, most), step_keys[0]


def _numbered(tasks: tuple[int, ...]) -> Callable[[dict], dict]:
    """Replaces the task numbers of a plan by those of the run."""
    numbers = tf.constant(tasks)

    @tf.autograph.experimental.do_not_convert
    def numbered(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
        return {**batch, "task": tf.gather(numbers, batch["task"])}

    return numbered
