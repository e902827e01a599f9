"""The checks of one's own schemes and heads: the shipped ones pass them."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.base import choose
from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.layers.heads.tagging import TaggingHead
from mtl_tf.models import registry
from mtl_tf.models.registry import make_scheme
from mtl_tf.models.scheme import SharingScheme
from mtl_tf.models.schemes.nbow import NBOWScheme
from mtl_tf.models.testing import check_head, check_scheme

DRAW = np.random.default_rng(0)
SUMMARY = tf.constant(DRAW.normal(size=(2, 3, 4)), tf.float32)
SEQUENCE = tf.constant(DRAW.normal(size=(2, 3, 5, 4)), tf.float32)
MASK = tf.constant(np.arange(5) < np.array([[5, 2, 1], [3, 4, 1]])[..., None])
ENTRIES = {"step": tf.constant(3, tf.int64), "weight": tf.ones([2, 3])}
# The first state of a text without words is none of its own.
OPTIONS = {"direct": {"pooling": "mean"}}
QUICK = ("lstm", "nbow")


@pytest.mark.by_default("nbow")
@pytest.mark.parametrize(
    "name",
    [
        name
        if name in QUICK
        else pytest.param(name, marks=pytest.mark.extended)
        for name in sorted(registry.SCHEMES)
    ],
)
def test_shipped_schemes_pass(name):
    def make():
        return make_scheme({"name": name, **OPTIONS.get(name, {})}, 2)

    entries = {k: ENTRIES[k] for k in registry.SCHEMES[name].batch_entries}
    check_scheme(make, tasks=2, entries=entries)


class Own(SharingScheme):
    """The mean of the vectors times a matrix of the task's."""

    has_sequence = False

    def __init__(self, tasks, fault="", **kwargs):
        super().__init__(**kwargs)
        self.tasks, self.fault, self.output_units = tasks, fault, 3

    def build(self, input_shape, *_):
        self.shared = self.add("shared", input_shape[-1], 3)
        self.private = self.add("private", 3, 3, stack=(self.tasks,))
        self.unused = self.add("unused", 3) if self.fault == "unused" else None
        self.calls = 0
        self.built = True

    def call(self, embedded, mask, task, training=False, seed=None, **_):
        real = tf.cast(mask, tf.float32)[..., None]
        if self.fault == "padding":
            real = tf.ones_like(real)
        count = tf.reduce_sum(real, 2)
        if self.fault != "empty":
            count = tf.maximum(count, 1.0)
        mean = tf.reduce_sum(embedded * real, 2) / count
        if self.fault == "beside":
            mean -= tf.reduce_mean(mean * [[[1.0], [2.0], [3.0]]], 1)[:, None]
        private = choose(self.private, task)
        if self.fault == "tasks":
            private = tf.reduce_mean(self.private, 0)
        summary = mean @ self.shared @ private
        if self.fault == "seed" and training:
            self.calls += 1
            summary *= float(self.calls)
        if self.fault == "graph" and not tf.executing_eagerly():
            summary *= 2.0
        if self.fault == "units":
            summary = summary[..., :2]
        return {"summary": summary, "losses": {}, "inspect": {}}

    def get_config(self):
        return (
            super().get_config()
            | {"tasks": self.tasks}
            | ({} if self.fault == "config" else {"fault": self.fault})
        )


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("padding", "must not read the vectors of padding|more padding must"),
        ("empty", "must be finite for a batch in which a text has no words"),
        ("beside", "must not depend on those beside it"),
        ("tasks", "a text of task 0 moves slices of .*private"),
        ("unused", "no gradient reaches .*unused"),
        ("seed", "the same seed must give the same outputs"),
        ("graph", "in a graph it must return the same"),
        ("units", "of shape .* with H = 3"),
    ],
)
def test_what_a_scheme_does_wrong_is_told(fault, message):
    with pytest.raises((AssertionError, ValueError), match=message):
        check_scheme(lambda: Own(2, fault), tasks=2)


def test_a_scheme_whose_config_lacks_an_argument():
    class Forgets(NBOWScheme):
        def __init__(self, tasks, scale=1.0, **kwargs):
            super().__init__(tasks, **kwargs)
            self.scale = scale

        def call(self, embedded, mask, task, training=False, seed=None, **_):
            encoded = super().call(embedded, mask, task, training, seed)
            return {**encoded, "summary": self.scale * encoded["summary"]}

    with pytest.raises(AssertionError, match="made again of its get_config"):
        check_scheme(lambda: Forgets(2, scale=3.0), tasks=2)


@pytest.mark.extended
def test_shipped_heads_pass():
    task = tf.constant([0, 1])
    label = tf.constant([[0, 1, 1], [2, 0, 1]])
    check_head(
        lambda: ClassificationHead([2, 3]),
        {"summary": SUMMARY},
        {"task": task, "label": label},
    )
    tags = tf.where(MASK, tf.constant(DRAW.integers(0, 2, (2, 3, 5))), 0)
    check_head(
        lambda: TaggingHead([2, 3], decoder="crf"),
        {"sequence": SEQUENCE, "mask": MASK},
        {"task": task, "tags": tf.cast(tags, tf.int32)},
    )


class OwnHead(ClassificationHead):
    """A head that can be wrong."""

    fault = ""

    def call(self, encoded, batch):
        output = super().call(encoded, batch)
        if self.fault == "prediction":
            del output["prediction"]
        if self.fault == "loss":
            output["loss"] = tf.reduce_mean(output["loss"])
        if self.fault == "leak" and "label" in batch:
            output["prediction"] = batch["label"]
        return output


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("prediction", "OwnHead must return 'prediction', got only"),
        ("loss", r"must return a 'loss' of shape \[G, B\]"),
        ("leak", "predictions without targets must be those with them"),
    ],
)
def test_what_a_head_does_wrong_is_told(fault, message, monkeypatch):
    monkeypatch.setattr(OwnHead, "fault", fault)
    with pytest.raises((AssertionError, ValueError), match=message):
        check_head(
            lambda: OwnHead([2, 3]),
            {"summary": SUMMARY},
            {
                "task": tf.constant([0, 1]),
                "label": tf.constant([[0, 1, 1], [2, 0, 1]]),
            },
        )
