"""How a stage weighs its tasks' losses and combines their gradients."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.models.protocol import TaskModel
from mtl_tf.models.registry import make_scheme
from mtl_tf.models.scheme import SharingScheme
from mtl_tf.pipelines import mixing
from mtl_tf.runs import systems
from mtl_tf.runs.stages.stage_plan import Stage
from mtl_tf.runs.systems import sharing
from mtl_tf.tasks.task import Task
from mtl_tf.training import loss_weighting, precision
from mtl_tf.training.balancing.gradient_surgery import SURGERIES
from mtl_tf.training.balancing.group_gradients import GroupedGradients


def weighting_of(
    config: Mapping[str, Any], tasks: Sequence[Task], shares: bool = True
) -> keras.layers.Layer:
    """The weighting of the tasks' losses.

    Args:
        config: the resolved config.
        tasks: the run's.
        shares: whether they share weights, whose gradients can be balanced.

    Raises:
        ConfigError: see `make_loss_weighting`; or the weighting reads the
            tasks' gradients, and steps are not joint.
    """
    training, mixed = config["training"], config["pipeline"]["mixing"]
    name = training["loss_weighting"]
    options = loss_weighting.options_of(training)
    if loss_weighting.adapts(name):
        if not mixing.is_joint(mixed):
            # Of what comes with the package it was checked with the config.
            raise ConfigError(
                f"training.loss_weighting {name!r} reads the tasks' gradients "
                "at every step: it needs pipeline.mixing {'name': 'joint'}, "
                f"got {mixed['name']!r}"
            )
        if not shares:
            name, options = "static", {}
    given = training["loss_weights"]
    weights = [task.loss_weight * given.get(task.name, 1.0) for task in tasks]
    return loss_weighting.make_loss_weighting(name, weights, **options)


def shared(
    model: TaskModel, stage: Stage, variables: Sequence[keras.Variable]
) -> list[keras.Variable]:
    """The variables that tasks of a stage share; none if it has one task.

    Args:
        model: the built model.
        stage: the stage.
        variables: those that it trains.
    """
    if len(stage.tasks) < 2:
        return []
    # Stacks of tasks, and parts of single tasks (decoders).
    private = {id(v) for v in model.private_variables()}
    return [v for v in variables if id(v) not in private]


def grouped(
    config: Mapping[str, Any],
    model: TaskModel,
    weighting: keras.layers.Layer,
    variables: Sequence[keras.Variable],
    shared_variables: Sequence[keras.Variable],
) -> GroupedGradients | None:
    """Computes gradients task by task, if a stage needs that.

    Args:
        config: the resolved config.
        model: the built model.
        weighting: see `weighting_of`.
        variables: those that the stage trains.
        shared_variables: those among them that its tasks share.
    """
    if not shared_variables or not task_by_task(config):
        return None
    words = {id(v) for v in model.embedding_variables()}
    return GroupedGradients(
        model,
        weighting,
        [*variables, *weighting.trainable_variables],
        shared_variables,
        [v for v in shared_variables if id(v) not in words] or shared_variables,
        config["training"]["gradient_surgery"],
        config["seed"],
    )


def task_by_task(config: Mapping[str, Any]) -> bool:
    """Whether gradients are computed task by task."""
    training = config["training"]
    return training["gradient_surgery"] != "none" or loss_weighting.adapts(
        training["loss_weighting"]
    )


def check(config: Mapping[str, Any], tasks: Sequence[Task]) -> None:
    """Refuses options that cannot be had with gradients task by task.

    Args:
        config: the resolved config.
        tasks: the tasks of one model.

    Raises:
        ConfigError: there is such an option.
    """
    training = config["training"]
    surgery, steps = training["gradient_surgery"], training["accumulate_steps"]
    checks.one_of("training.gradient_surgery", surgery, SURGERIES)
    if len(tasks) < 2 or not task_by_task(config):
        return
    if steps > 1:
        raise ConfigError(
            "training.accumulate_steps must be 1 with gradients task by task "
            "(gradient_surgery pcgrad, loss_weighting gradnorm), which are "
            f"computed one task after the other anyway, got {steps}"
        )
    if precision.policy(config) == precision.FLOAT16:
        raise ConfigError(
            "training.mixed_precision 'mixed_float16' scales the loss, which "
            "gradients task by task do not (gradient_surgery pcgrad, "
            "loss_weighting gradnorm): take 'mixed_bfloat16'"
        )


def check_replicas(
    config: Mapping[str, Any], tasks: Sequence[Task], replicas: int
) -> None:
    """Refuses before texts are read what `accumulated` refuses.

    Args:
        config: the resolved config.
        tasks: the run's.
        replicas: the number of replicas.

    Raises:
        ConfigError: see `accumulated`.
    """
    if any(systems.of_type(task.type) is sharing.SYSTEM for task in tasks):
        scheme = make_scheme(config["model"]["scheme"], 1)
        accumulated(config, scheme, replicas)


def accumulated(
    config: Mapping[str, Any], model: TaskModel | SharingScheme, replicas: int
) -> int:
    """The number of batches of an update.

    Args:
        config: the resolved config.
        model: the model, or its scheme.
        replicas: the number of replicas.

    Raises:
        ConfigError: the model's losses cannot be accumulated on them.
    """
    steps = config["training"]["accumulate_steps"]
    if steps > 1 and replicas > 1 and model.sums_over_replicas:
        raise ConfigError(
            f"training.accumulate_steps must be 1 on {replicas} replicas "
            "with a penalty of model.scheme on the whole batch "
            f"(orthogonality_weight of asp), got {steps}"
        )
    return steps
