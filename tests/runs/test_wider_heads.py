"""Starting from a run whose heads are as wide as other tasks need."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.models.multi_task import build_model
from mtl_tf.runs import initializing
from mtl_tf.training.optimizers import freezing

WORDS = {"embedding/": ["a", "b", "c", "d"]}
WIDE = {"mails": ["ham", "spam", "odd"], "books": list("abcde")}
NARROW = {"books": list("xyzw"), "mails": WIDE["mails"]}


def weights_of(model):
    return {freezing.path_of(v): v.numpy() for v in model.variables}


def batch_of(task_type, task):
    """Two texts of one task, by its number, for a model of 4 words."""
    batch = {
        "task": tf.constant([task]),
        "tokens": tf.constant([[[2, 3, 2], [3, 0, 0]]]),
        "weight": tf.ones([1, 2]),
    }
    if task_type == "tagging":
        batch["tags"] = tf.zeros([1, 2, 3], tf.int32)
    return batch


@pytest.mark.extended
@pytest.mark.parametrize("labels", [(WIDE, NARROW), (NARROW, WIDE)])
@pytest.mark.parametrize(
    "task_type", ["classification", "multi_label", "tagging"]
)
def test_a_head_is_taken_from_a_run_whose_heads_have_another_width(
    task_type, labels
):
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    source, target = (
        build_model(
            options,
            4,
            [
                {"name": name, "type": task_type, "labels": own}
                | ({"scheme": ""} if task_type == "tagging" else {})
                for name, own in of.items()
            ],
            seed=seed,
        )
        for seed, of in enumerate(labels)
    )
    for number, weight in enumerate(source.trainable_variables):
        # Also those that start from 0, such as biases and transitions.
        draw = np.random.default_rng(number)
        weight.assign(draw.normal(size=weight.shape))
    there = initializing.Source(
        "x", weights_of(source), list(labels[0]), WORDS, 9, labels[0]
    )
    drawn = weights_of(target)
    report = initializing.initialize(
        target, there, list(labels[1]), WORDS, labels[1]
    )
    heads = {path for path in drawn if path.startswith(task_type)}
    assert len(heads) == (5 if task_type == "tagging" else 2)
    taken = {e["path"]: e["what"] for e in report["taken"]}
    assert {taken[path] for path in heads} == {"1 of 2 tasks"}
    places = [list(of).index("mails") for of in labels]
    found = [
        model(batch_of(task_type, place))["scores"][..., :3]
        for model, place in zip((source, target), places)
    ]
    np.testing.assert_allclose(found[1], found[0], atol=1e-6)
    # Nothing else of a head has changed.
    got = weights_of(target)
    for path in heads:
        other = 1 - places[1]
        np.testing.assert_array_equal(got[path][other], drawn[path][other])
        beyond = got[path][places[1]][..., 3:]
        np.testing.assert_array_equal(beyond, drawn[path][places[1]][..., 3:])


def test_a_head_of_another_size_inside_is_not_taken():
    options = {"scheme": {"name": "lstm", "units": 3}, "embedding_dim": 2}
    sizes = [{"name": "lstm", "units": 3}, {"name": "lstm", "units": 4}]
    source, target = (
        build_model(
            options | {"scheme": scheme},
            4,
            [
                {"name": n, "type": "classification", "labels": own}
                for n, own in of.items()
            ],
        )
        for scheme, of in zip(sizes, (WIDE, NARROW))
    )
    there = initializing.Source(
        "x", weights_of(source), list(WIDE), WORDS, 9, WIDE
    )
    report = initializing.initialize(target, there, list(NARROW), WORDS, NARROW)
    left = {e["path"]: e["why"] for e in report["not_taken"]}
    path = "classification/dense/kernel"
    assert left[path] == "a slice has the shape (4, 4), there (3, 5)"
