"""A tiny model and its batches, to test training without the other rooms."""

import os

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.training.balancing.group_gradients import GroupedGradients
from mtl_tf.training.checkpoints.checkpoints import Checkpoints
from mtl_tf.training.loop import Loop, LoopOptions
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers import optimizers
from mtl_tf.training.optimizers.stage_optimizer import loss_scaled
from mtl_tf.training.trainer import Trainer

TASKS, WORDS, WIDTH = 2, 12, 4


class Toy(keras.Model):
    """Sums word vectors; a stacked output row per task."""

    def __init__(self):
        super().__init__()
        draw = keras.initializers.RandomNormal(seed=3)
        self.table = self.add_weight(
            shape=(WORDS, WIDTH), initializer=draw, name="table"
        )
        self.stack = self.add_weight(
            shape=(TASKS, WIDTH), initializer=draw, name="stack"
        )
        self.built = True

    def call(self, batch, training=False, seed=None, key=None):
        x = tf.gather(self.table.value, batch["tokens"])
        if training:
            keep = tf.random.stateless_uniform(tf.shape(x), seed) > 0.2
            x = tf.where(keep, x, 0.0)
        w = tf.gather(self.stack.value, batch["task"])
        logit = tf.reduce_sum(tf.reduce_sum(x, 2) * w[:, None], -1)
        label = tf.cast(batch["label"], tf.float32)
        loss = tf.nn.sigmoid_cross_entropy_with_logits(label, logit)
        if key == "number":
            loss = (logit - label) ** 2
        return {"loss": loss, "losses": {}}


def batch(step, groups=1, rows=4):
    """A batch as a pure function of its step."""
    rng = np.random.default_rng(step)
    tokens = rng.integers(0, WORDS, (groups, rows, 5)).astype("i")
    weight = np.ones((groups, rows), "f")
    weight[:, -1] = step % 2
    return {
        "task": ((step + np.arange(groups)) % TASKS).astype("i"),
        "tokens": tokens,
        "label": (tokens[..., 0] % 2).astype("i"),
        "weight": weight,
        "normalizer": weight.sum(1),
        "step": np.int64(step),
    }


def dataset(start, replicas=1, change=None, groups=1, part=None):
    """The batches from `start` on, the pieces of `part` at each step."""
    part = part or range(replicas)

    def generate():
        step = start
        while True:
            full = batch(step, groups)
            if change:
                full = change(step, full)
            rows = full["weight"].shape[1] // replicas
            for r in part:
                cut = slice(r * rows, (r + 1) * rows)
                yield {
                    name: value[:, cut] if value.ndim > 1 else value
                    for name, value in full.items()
                }
            step += 1

    signature = {
        name: tf.TensorSpec([None] * np.ndim(value), value.dtype)
        for name, value in batch(0).items()
    }
    return tf.data.Dataset.from_generator(generate, output_signature=signature)


KEYS = ("label", "number")


def pieces(start, replicas=1, change=None, groups=1, part=None):
    """Steps of a batch for each of `KEYS`, whose tasks want the opposite."""

    def of_task(task):
        def changed(step, full):
            full["task"] = np.array([task], "i")
            full["tokens"] = full["tokens"][..., : 5 - 2 * task]
            full["label"] ^= task
            return change(step, full) if change else full

        return dataset(start, replicas, changed, part=part)

    return tf.data.Dataset.zip(tuple(of_task(n) for n in range(len(KEYS))))


class Stage:
    """Everything a loop needs, in `directory`."""

    def __init__(
        self,
        directory,
        strategy=None,
        optimizer="adagrad",
        weighting="static",
        clip_norm=0.0,
        scores=None,
        change=None,
        groups=1,
        surgery="none",
        shards=1,
        precision="float32",
        average=0.0,
        accumulate=1,
        data=None,
        key=None,
        **options,
    ):
        data = data or dataset
        strategy = strategy or tf.distribute.OneDeviceStrategy("cpu:0")
        with strategy.scope():
            self.model = Toy()
            self.weights = make_loss_weighting(weighting, [1.0, 2.0])
            self.optimizer = optimizers.make_optimizer({"name": optimizer}, 0.1)
            variables = (
                self.model.trainable_variables
                + self.weights.trainable_variables
            )
            self.optimizer.configure(
                variables, clip_norm=clip_norm, average=average
            )
            if precision == "mixed_float16":
                self.optimizer = loss_scaled(self.optimizer, variables)
            self.checkpoints = Checkpoints(
                str(directory), self.model, self.optimizer, self.weights, TASKS
            )
        self.trainer = Trainer(
            self.model,
            self.optimizer,
            self.weights,
            variables,
            strategy,
            TASKS,
            seed=5,
            grouped=self._grouped(variables, surgery),
            shards=shards,
            accumulate=accumulate,
        )
        self.records = []
        self.scores = scores or (lambda step: float(step))
        options = {"total_steps": 12, "evaluate_every": 5, **options}
        self.loop = Loop(
            self.trainer,
            self.checkpoints,
            lambda start, replicas, part: data(
                start, replicas, change, groups, part
            ),
            lambda: {
                "mean": self.scores(int(self.checkpoints.step.numpy())),
                "tasks": {},
            },
            self.records.append,
            LoopOptions(steps_per_epoch=6, **options),
            ["first", "second"],
            lambda step, most: (most, key),
        )

    def _grouped(self, variables, surgery):
        if surgery == "none" and not hasattr(self.weights, "update"):
            return None
        shared = [v for v in variables if v is not self.model.stack]
        return GroupedGradients(
            self.model, self.weights, variables, shared, shared, surgery, 5
        )

    def run(self):
        self.loop.run(self.checkpoints.restore())
        return self

    def watched(self, directory):
        """Runs; the table at each evaluation: its value, scored, and saved."""
        values, scored, saved = [], [], []
        evaluate, record = self.loop.evaluate, self.loop.record

        def watch_scoring():
            scored.append(self.model.table.numpy())
            return evaluate()

        def watch(entry):
            values.append(self.model.table.numpy())
            best = self.checkpoints.best.read(str(directory / "best"))[1]
            saved.append(best["table"])
            record(entry)

        self.loop.evaluate, self.loop.record = watch_scoring, watch
        self.run()
        return values, scored, saved

    def values(self):
        variables = (
            *self.model.variables,
            *self.optimizer.variables,
            *self.weights.variables,
        )
        return [np.asarray(v.numpy()) for v in variables]


def run(stage, iterator, steps, key=None):
    nothing = tf.zeros([TASKS])
    return stage.trainer.run(
        iterator, tf.constant(steps), nothing, nothing, key
    )


def trained(tmp_path, steps=6, **options):
    stage = Stage(tmp_path, **options)
    data = options.get("data") or dataset
    iterator = stage.trainer.iterate(
        lambda replicas, part: data(
            0, replicas, groups=options.get("groups", 1), part=part
        )
    )
    report = run(stage, iterator, steps, options.get("key"))
    return stage, report


def assert_same(one, two, tolerance=0.0):
    for a, b in zip(one.values(), two.values()):
        np.testing.assert_allclose(a, b, atol=tolerance, rtol=0)


def assert_same_best(one, two):
    """The best weights that two stages kept are equal, bit for bit."""
    one, two = (
        stage.checkpoints.best.read(
            os.path.join(os.path.dirname(stage.checkpoints.directory), "best")
        )[1]
        for stage in (one, two)
    )
    assert one.keys() == two.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, two[name])
