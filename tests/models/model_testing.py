"""Small models, batches for them, and what each of them passes."""

import numpy as np
import tensorflow as tf

from mtl_tf.models.multi_task import build_model


def make_tasks(*label_counts):
    return [
        {
            "name": f"task{n}",
            "type": "classification",
            "labels": [str(label) for label in range(count)],
        }
        for n, count in enumerate(label_counts)
    ]


def small(name="meta_lstm", **changes):
    scheme = {"name": name, "units": 6}
    if name == "meta_lstm":
        scheme |= {"meta_units": 4, "meta_vector": 3}
    scheme |= changes.pop("scheme", {})
    return {"embedding_dim": 5, "scheme": scheme} | changes


def make_batch(groups=2, batch=3, length=7, seed=0):
    draw = np.random.default_rng(seed)
    lengths = draw.integers(0, length + 1, (groups, batch, 1))
    tokens = draw.integers(1, 20, (groups, batch, length))
    return {
        "task": tf.range(groups, dtype=tf.int32),
        "tokens": tf.constant(
            np.where(np.arange(length) < lengths, tokens, 0), tf.int32
        ),
        "label": tf.constant(draw.integers(0, 2, (groups, batch)), tf.int32),
        "weight": tf.ones([groups, batch]),
    }


def check_padding(model, batch, scores):
    """More padding than the batch has leaves its scores as they are."""
    longer = batch | {
        "tokens": tf.pad(batch["tokens"], [[0, 0], [0, 0], [0, 9]])
    }
    np.testing.assert_allclose(model(longer)["scores"], scores, atol=1e-6)


def check_checkpoint(config, tmp_path):
    tasks = make_tasks(2, 3)
    check_restored(
        build_model(config, 20, tasks, seed=1),
        build_model(config, 20, tasks, seed=2),
        make_batch(),
        tmp_path,
    )


def check_restored(model, fresh, batch, tmp_path):
    """A model of another seed has the scores of a checkpoint, restored."""
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "saved"))
    expected = model(batch)["scores"]
    assert np.any(fresh(batch)["scores"] != expected)
    status = tf.train.Checkpoint(model=fresh).restore(path)
    status.assert_existing_objects_matched().assert_consumed()
    np.testing.assert_array_equal(fresh(batch)["scores"], expected)
    # The scores and the scheme's name alone would not show a lost weight.
    saved = dict(tf.train.list_variables(path))
    assert sum("VARIABLE_VALUE" in name for name in saved) == 1 + len(
        model.weights
    )


def two_task_problem(draw, batch):
    """Is 5 or 6 the first of them? Task 1 has the labels the other way."""
    task = int(draw.integers(2))
    tokens = draw.integers(7, 20, (1, batch, 8))
    label = draw.integers(0, 2, (1, batch))
    first = draw.integers(0, 4, (1, batch))
    second = draw.integers(4, 8, (1, batch))
    rows = np.arange(batch)
    tokens[0, rows, first[0]] = 5 + label[0]
    tokens[0, rows, second[0]] = 6 - label[0]
    label = 1 - label if task else label
    return {
        "task": tf.constant([task]),
        "tokens": tf.constant(tokens, tf.int32),
        "label": tf.constant(label, tf.int32),
    }
