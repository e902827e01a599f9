"""Buckets of a task's own and weights of tokens, in the plan of batches."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.batches import BatchPlan, training_dataset
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit

BUDGET, WEIGHTS = 400, {"answer": 5}
BOUNDARIES = {
    "short": [[8, 4, 2], [12, 4, 2]],
    "long": [[24, 4, 4], [60, 4, 12]],
}


def split(name, count, most):
    """Examples of up to so many words on each axis."""
    draw = np.random.default_rng(len(name))
    columns = {}
    for axis, longest in zip(("context", "question", "answer"), most):
        lengths = draw.integers(1, longest + 1, count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # The example's number, so that batches tell which they hold.
        values = np.repeat(np.arange(count) + 1, lengths)
        columns[axis] = Column(values.astype(np.int32), offsets, axis)
    return EncodedSplit(name, columns)


SPLITS = [split("short", 37, (12, 4, 2)), split("long", 23, (60, 4, 12))]


def plan(static_shapes=True, tokens=BUDGET, **options):
    given = {"mixing_config": {"name": "round_robin"}, "seed": 3}
    given |= {"token_weights": WEIGHTS if tokens else {}}
    return BatchPlan(
        SPLITS,
        8,
        BOUNDARIES,
        static_shapes=static_shapes,
        tokens_per_batch=tokens,
        **given | options,
    )


def taken(dataset, steps):
    return [
        {name: value.numpy() for name, value in batch.items()}
        for batch in dataset.take(steps)
    ]


@pytest.mark.parametrize("static_shapes", [True, False])
@pytest.mark.parametrize("tokens", [0, BUDGET])
def test_an_epoch_has_every_example_once(static_shapes, tokens):
    made = plan(static_shapes, tokens)
    for task, count in enumerate(made.batches_per_task):
        rows, found = [], 0
        steps = made.steps(0, 2 * int(made.batches_per_task.max()) + 2)
        for number in np.flatnonzero(steps.tasks[:, 0] == task)[:count]:
            own = steps.rows[number, 0]
            rows += own[own >= 0].tolist()
            found += 1
        assert found == count
        assert sorted(rows) == list(range(len(SPLITS[task])))


@pytest.mark.parametrize("replicas", [1, 2])
@pytest.mark.parametrize("static_shapes", [True, False])
def test_batches_are_padded_in_their_own_task_within_the_budget(
    static_shapes, replicas
):
    if replicas > 1 and not static_shapes:
        pytest.skip("replicas need static shapes")
    # From eight rows on, replicas can share them.
    budget = BUDGET if replicas == 1 else 1000
    made = plan(static_shapes, budget)
    count = 2 * made.steps_per_epoch * replicas
    batches = taken(training_dataset(made, replicas=replicas), count)
    tasks = set()
    for batch in batches:
        task = int(batch["task"][0])
        tasks.add(task)
        boxes = BOUNDARIES[SPLITS[task].name]
        shape = [batch[n].shape[2] for n in ("context", "question", "answer")]
        if static_shapes:
            assert shape in boxes
        else:
            assert np.all(np.less_equal(shape, boxes[-1]))
        rows = batch["context"].shape[1] * replicas
        assert rows * np.dot(shape, [1, 1, 5]) <= budget
    assert tasks == {0, 1}


def test_heavier_tokens_make_smaller_batches():
    light, heavy = (
        plan(token_weights=weights).steps(0, 20)
        for weights in ({}, {"answer": 20})
    )
    assert heavy.sizes.max() < light.sizes.max()
    # There are none without character n-grams.
    without = plan(token_weights={"own_words": 0}).steps(0, 20)
    np.testing.assert_array_equal(without.sizes, light.sizes)
    none = plan(token_weights={"question": 0, "answer": 0}).steps(0, 20)
    assert none.sizes.max() > light.sizes.max()


@pytest.mark.by_default("True")
@pytest.mark.parametrize("static_shapes", [True, False])
def test_any_step_can_be_the_first(static_shapes):
    made = plan(static_shapes)
    whole = taken(training_dataset(made), 12)
    for start in (1, 7):
        rest = taken(training_dataset(plan(static_shapes), start), 12 - start)
        for batch, other in zip(whole[start:], rest, strict=True):
            for name, value in batch.items():
                np.testing.assert_array_equal(value, other[name])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"token_weights": {"anser": 5}}, "did you mean 'answer'"),
        ({"token_weights": {"answer": -1}}, "answer"),
        (
            {
                "token_weights": dict.fromkeys(
                    ("context", "question", "answer"), 0
                )
            },
            "token_weights",
        ),
        ({"mixing_config": {"name": "joint"}, "tokens": 0}, "joint"),
        ({"tokens": 100}, "the longest texts of long, 124 tokens"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message):
        plan(**options)
