"""The optimizer of a training stage."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.learning_rates import WarmupThen
from mtl_tf.training.optimizers.novograd import DEFAULT_RATE
from mtl_tf.training.optimizers.optimizers import make_optimizer
from mtl_tf.training.precision import FLOAT16

_NOVOGRAD = "novograd"


def stage_optimizer(
    training: Mapping[str, Any],
    learning_rate: float,
    total_steps: int,
    variables: Sequence[keras.Variable],
    embedding: Sequence[keras.Variable],
    extra: Sequence[keras.Variable] = (),
    precision: str = "float32",
    private: Sequence[keras.Variable] = (),
    tasks: int = 0,
    pretrained: bool = False,
) -> keras.optimizers.Optimizer:
    """Makes and builds a stage's optimizer, within its strategy's scope.

    Float16 gradients below 6e-8 vanish. With the policy mixed_float16 the loss
    is therefore scaled up as far as it stays finite
    (`keras.optimizers.LossScaleOptimizer`), and a step whose gradients are not
    finite is skipped (`SkippedSteps`). bfloat16 has the range of float32 and
    needs no scaling.

    Args:
        training: the config's `training`.
        learning_rate: the highest learning rate of the stage.
        total_steps: steps of the stage.
        variables: the trained variables of the model.
        embedding: the word vectors and n-gram vectors, which may be among
            `variables`. N-gram vectors are marked with `is_wide`.
        extra: other trained variables, one number per task, `[tasks]`. They get
            no decay.
        precision: one of `precision.POLICIES`.
        private: variables that belong to tasks: stacks with one slice per task
            (`is_private`), or variables of a single task.
        tasks: number of tasks.
        pretrained: whether the word vectors, except those that belong to tasks,
            start from pretrained vectors.

    Raises:
        ConfigError: a wrong optimizer, or float16 on several replicas.
    """
    config = training["optimizer"]
    schedule = _schedule(config, learning_rate, total_steps)
    optimizer = make_optimizer(config, schedule)
    words = {id(v) for v in embedding}
    owned = {id(v): tasks if marks_of(v).is_private else 1 for v in private}
    shared = words - owned.keys()
    factors = _rate_factors(config, variables, words, shared, pretrained)

    def options(variable: keras.Variable, factor: float) -> VariableOptions:
        is_word = id(variable) in words
        has_l2 = training["l2_embeddings"] or not is_word
        novograd = (
            marks_of(variable).is_wide and config["wide_name"] == _NOVOGRAD
        )
        parts = owned.get(id(variable), 0)
        lazy = is_word and config["lazy"] and not novograd
        if lazy:
            parts = variable.shape[0]  # Each vector is updated alone.
        return VariableOptions(
            training["l2"] if has_l2 else 0.0, factor, parts, novograd, lazy
        )

    optimizer.configure(
        [*variables, *extra],
        [
            *(options(v, f) for v, f in zip(variables, factors)),
            *(VariableOptions(parts=tasks) for _ in extra),
        ],
        clip_norm=training["clip_norm"],
        compiled=compiles_whole_steps(),
        average=training["average"],
    )
    if precision != FLOAT16:
        return optimizer
    return loss_scaled(optimizer, [*variables, *extra])


def _rate_factors(
    config: Mapping[str, Any],
    variables: Sequence[keras.Variable],
    words: Collection[int],
    shared: Collection[int],
    pretrained: bool,
) -> list[float]:
    """The learning rate of each variable, as a multiple of the config's.

    Args:
        config: the config's optimizer.
        variables: the trained variables.
        words: the ids of those that have vectors of words or n-grams.
        shared: the ids of those of them that belong to no task.
        pretrained: see `stage_optimizer`.
    """
    of_words = config["embedding_learning_rate"] or config["learning_rate"]
    of_shared = pretrained and config["pretrained_learning_rate"] or of_words
    of_wide = of_words
    if config["wide_name"] == _NOVOGRAD:
        of_wide = DEFAULT_RATE
    of_wide = config["wide_learning_rate"] or of_wide

    def rate(variable: keras.Variable) -> float:
        if id(variable) not in words:
            return config["learning_rate"]
        if marks_of(variable).is_wide:
            return of_wide
        return of_shared if id(variable) in shared else of_words

    # A pretrained encoder has lower rates in its lower layers.
    return [
        rate(v) / config["learning_rate"] * marks_of(v).rate_factor
        for v in variables
    ]


def _schedule(
    config: Mapping[str, Any], learning_rate: float, total_steps: int
) -> WarmupThen:
    """The stage's learning rate by step, from the config's optimizer."""
    ratio = config["warmup_ratio"]
    warmup_steps = config["warmup_steps"] or round(ratio * total_steps)
    return WarmupThen(
        learning_rate, config["schedule"], warmup_steps, total_steps
    )


def compiles_whole_steps() -> bool:
    """Whether XLA compiles whole steps, as it does for TPUs."""
    strategy = tf.distribute.get_strategy()
    return isinstance(strategy, tf.distribute.TPUStrategy)


def loss_scaled(
    optimizer: keras.optimizers.Optimizer, variables: Sequence[keras.Variable]
) -> keras.optimizers.Optimizer:
    """Lets a built optimizer scale the loss; see `stage_optimizer`."""
    replicas = tf.distribute.get_strategy().num_replicas_in_sync
    if replicas > 1:
        # Keras checks each replica's gradients before they are summed, so one
        # replica could make a step that another skips.
        raise ConfigError(
            f"training.mixed_precision {FLOAT16!r} scales the loss, which "
            f"works on one replica, not on {replicas}: take mixed_bfloat16 or "
            "--strategy=one_device"
        )
    scaled = keras.optimizers.LossScaleOptimizer(optimizer)
    scaled.build(list(variables))
    return scaled
