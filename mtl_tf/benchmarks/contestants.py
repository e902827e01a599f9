"""The contestants: our models, and the same cells in `keras.layers.RNN`.

All have the same parameters with the same initial values, read the same batches
from the same kind of dataset, take several steps per call, and use the same
optimizer. They differ only in how the recurrence runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.benchmarks.reference_cells import MetaLSTMCell
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import Run
from mtl_tf.models.multi_task import MultiTaskModel, build_model
from mtl_tf.training.distribution.strategies import make_strategy
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers.exact_sparse import VariableOptions
from mtl_tf.training.optimizers.optimizers import make_optimizer
from mtl_tf.training.trainer import Trainer, choose_shards

# The values of the paper and of the shipped config.
_LEARNING_RATE = 0.1
_L2 = 1e-5


def meta_scheme(sizes: Sizes) -> dict[str, Any]:
    """Meta-MTL."""
    return {
        "name": "meta_lstm",
        "units": sizes.units,
        "meta_units": sizes.meta_units,
        "meta_vector": sizes.meta_vector,
    }


def memory_scheme(sizes: Sizes, name: str, **options: Any) -> dict[str, Any]:
    """The scheme with a memory that has this name."""
    return {
        "name": name,
        "units": sizes.units,
        "memory_slots": sizes.memory_slots,
        "memory_width": sizes.memory_width,
        **options,
    }


def make_model(
    sizes: Sizes,
    vocabulary: int,
    scheme: Mapping[str, Any] | None = None,
    labels: int = 2,
) -> MultiTaskModel:
    """A model with `labels` labels per task, Meta-MTL by default."""
    scheme = scheme or meta_scheme(sizes)
    config = {"embedding_dim": sizes.embedding, "scheme": scheme}
    return build_model(config, vocabulary, task_entries(sizes, labels))


def task_entries(sizes: Sizes, labels: int = 2) -> list[dict[str, Any]]:
    """The tasks of a model, as `build_model` takes them."""
    names = [f"label_{n}" for n in range(labels)]
    return [
        {"name": f"task_{n}", "type": "classification", "labels": names}
        for n in range(sizes.tasks)
    ]


def adagrad(
    variables: Sequence[keras.Variable],
    embedding: Sequence[keras.Variable],
    compiled: bool = False,
) -> keras.optimizers.Optimizer:
    """Our Adagrad, with L2 on all but the embedding, for all contestants."""
    optimizer = make_optimizer({"name": "adagrad"}, _LEARNING_RATE)
    embedding_ids = {id(v) for v in embedding}
    optimizer.configure(
        variables,
        [
            VariableOptions(l2=0.0 if id(v) in embedding_ids else _L2)
            for v in variables
        ],
        compiled=compiled,
    )
    return optimizer


def without_l2(
    name: str, learning_rate: float
) -> Callable[..., keras.optimizers.Optimizer]:
    """Makes our optimizer of that name, without L2, for all contestants."""

    def make(
        variables: Sequence[keras.Variable],
        embedding: Sequence[keras.Variable],
        compiled: bool = False,
    ) -> keras.optimizers.Optimizer:
        del embedding
        optimizer = make_optimizer({"name": name}, learning_rate)
        optimizer.configure(variables, compiled=compiled)
        return optimizer

    return make


def make_trainer(
    sizes: Sizes,
    vocabulary: int,
    scheme: Mapping[str, Any] | None = None,
    make: Callable[..., keras.optimizers.Optimizer] = adagrad,
    strategy: tf.distribute.Strategy | None = None,
    labels: int = 2,
    model: Callable[[], MultiTaskModel] | None = None,
) -> Trainer:
    """Our model in the trainer that `launch.train` uses.

    The default model is that of `make_model`.
    """
    strategy = strategy or make_strategy("one_device")
    make_one = model or (lambda: make_model(sizes, vocabulary, scheme, labels))
    with strategy.scope():
        model = make_one()
        variables = model.trainable_variables
        optimizer = make(variables, model.embedding_variables())
    weighting = make_loss_weighting("static", [1.0] * sizes.tasks)
    return Trainer(
        model,
        optimizer,
        weighting,
        variables,
        strategy,
        sizes.tasks,
        shards=choose_shards(model, strategy),
    )


class KerasHeads(keras.Model):
    """Base of contestants: copied parameters, and the tasks' output layers.

    Input shape: a batch of one group.
    Output shape: logits `[B, labels]`.
    """

    def copy_heads(self, model: MultiTaskModel) -> None:
        """Copies the tasks' output layers of our model."""
        [head] = model.heads.values()
        self.kernel = self.copied("kernel", head.dense.kernel)
        self.bias = self.copied("bias", head.dense.bias)

    def copied(self, name: str, weight: keras.Variable) -> keras.Variable:
        """Adds a separate weight with the value of ours."""
        copied = self.add_weight(name=name, shape=weight.shape)
        copied.assign(weight)
        return copied

    def scored(self, summary: tf.Tensor, task: tf.Tensor) -> tf.Tensor:
        """The logits of summaries `[B, D]`; gathers the task's weights once."""
        kernel, bias = tf.gather(self.kernel, task), tf.gather(self.bias, task)
        return tf.matmul(summary, kernel) + bias


class KerasModel(KerasHeads):
    """Meta-MTL as a Keras user would write it first.

    Args:
        model: our model, whose parameters are copied.

    Input shape: a batch of one group.
    Output shape: logits `[B, labels]`.
    """

    def __init__(self, model: MultiTaskModel):
        super().__init__()
        [ours] = model.scheme.directions
        embedding = model.embedding
        self.embedding = keras.layers.Embedding(
            embedding.vocabulary_size, embedding.dimension
        )
        self.cell = self._make_cell(ours)
        self.recurrent = keras.layers.RNN(self.cell)
        self.embedding.build()
        self.recurrent.build([None, None, embedding.dimension])
        self.copy_heads(model)
        self.embedding.embeddings.assign(embedding.vectors)
        self._copy_cell(ours)
        self.built = True

    def _make_cell(self, ours: keras.layers.Layer) -> keras.layers.Layer:
        return MetaLSTMCell(
            ours.units,
            ours.meta_units,
            ours.meta_vector,
            ours.tasks,
            forget_bias=ours.forget_bias,
        )

    def _copy_cell(self, ours: keras.layers.Layer) -> None:
        """Copies our cell; its input and state matrices become one matrix."""
        parts = [ours.meta_kernel, ours.meta_recurrent]
        self.cell.meta_kernel.assign(keras.ops.concatenate(parts, 0))
        self.cell.meta_bias.assign(ours.meta_bias)
        self.cell.vector_kernel.assign(ours.vector_kernel)
        parts = [ours.factor_kernel, ours.factor_recurrent]
        self.cell.inner.assign(keras.ops.concatenate(parts, 1))
        self.cell.outer.assign(ours.generator)
        self.cell.bias.assign(ours.generator_bias)

    def call(self, batch, training=False):
        """Scores a batch; the task's parameters are gathered once."""
        tokens, task = batch["tokens"][0], batch["task"][0]
        self.cell.choose(task)
        mask = tf.not_equal(tokens, 0)
        summary = self.recurrent(self.embedding(tokens), mask=mask)
        return self.scored(summary, task)


def trainer_run(trainer: Trainer, dataset: tf.data.Dataset) -> Run:
    """Our training steps on a dataset."""
    iterator = trainer.iterate(lambda replicas, part: dataset)

    def run(steps: int) -> float:
        zeros = tf.zeros([trainer.tasks])
        report = trainer.run(iterator, tf.constant(steps), zeros, zeros)
        return float(tf.reduce_sum(report.loss_sum))

    return run


def keras_run(
    model: keras.Model,
    dataset: tf.data.Dataset,
    compiled: str = "",
    make: Callable[..., keras.optimizers.Optimizer] = adagrad,
) -> Run:
    """The Keras model's training steps on a dataset.

    Args:
        model: maps a batch of one group to logits, such as `KerasModel`.
        dataset: its batches.
        compiled: what XLA compiles: "" nothing, "step" the whole step,
            "gradients" all but the optimizer's update.
        make: makes the optimizer.
    """
    variables = model.trainable_variables
    optimizer = make(
        variables, [model.embedding.embeddings], compiled == "step"
    )

    def losses(batch):
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            batch["label"][0], model(batch, training=True)
        )

    return plain_run(losses, variables, optimizer, dataset, compiled)


def plain_run(
    losses: Callable[[Any], tf.Tensor],
    variables: Sequence[keras.Variable],
    optimizer: keras.optimizers.Optimizer,
    dataset: tf.data.Dataset,
    compiled: str = "",
) -> Run:
    """Training steps as they are written in plain TensorFlow.

    Args:
        losses: maps a batch to the losses of its examples.
        variables: what is trained.
        optimizer: configured for them.
        dataset: the batches.
        compiled: see `keras_run`.
    """

    def gradients(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(losses(batch))
        return loss, tape.gradient(loss, [v.value for v in variables])

    if compiled == "gradients":
        gradients = tf.function(gradients, jit_compile=True)

    def step(batch):
        loss, gradient = gradients(batch)
        optimizer.apply(gradient, variables)
        return loss

    if compiled == "step":
        step = tf.function(step, jit_compile=True)

    @tf.function
    def several(iterator, steps):
        total = tf.constant(0.0)
        for _ in tf.range(steps):
            total += step(next(iterator))
        return total

    iterator = iter(dataset)
    return lambda steps: float(several(iterator, tf.constant(steps)))
