"""What recurrent schemes make a text's vector of."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.pooling import AttentionPooling
from mtl_tf.models.multi_task import build_model
from mtl_tf.models.protocol import count_parameters
from mtl_tf.models.registry import make_scheme
from tests.layers.layer_testing import run_layer_test
from tests.models.model_testing import (
    check_checkpoint,
    check_padding,
    make_batch,
    make_tasks,
    small,
)

POOLED = ("mean", "max", "attention")
TWO_WAYS = {"bidirectional": True}

pytestmark = pytest.mark.usefixtures("without_jit")


def make_encoded(pooling, **options):
    """A scheme's outputs for texts, the scheme, and the texts' mask."""
    options = {"name": "lstm", "units": 3, "pooling": pooling} | options
    scheme = make_scheme(options, tasks=2)
    draw = np.random.default_rng(1)
    x = draw.normal(size=(2, 3, 5, 4)).astype("float32")
    lengths = np.array([[5, 2, 0], [1, 4, 3]])
    mask = np.arange(5) < lengths[..., None]
    task = tf.constant([1, 0])
    scheme.build((None, None, None, 4))
    return scheme(tf.constant(x), tf.constant(mask), task), scheme, mask


def weighted(states, scheme, task):
    """Yang et al. (2016), equations 5 to 7, of one text's states [T, F]."""
    hidden, score = scheme.attention.hidden, scheme.attention.score
    own = [np.asarray(w) for w in (hidden.kernel, hidden.bias, score.kernel)]
    if scheme.attention.tasks:
        own = [w[task] for w in own]
    kernel, bias, vector = own
    scores = np.tanh(states @ kernel + bias) @ vector[:, 0]
    weights = np.exp(scores) / np.exp(scores).sum()
    return weights @ states


@pytest.mark.by_default(
    "attention-False-private",
    "attention-False-shared",
    "max-False-private",
    "max-False-shared",
    "max-True-private",
    "mean-False-private",
    "mean-False-shared",
    "mean-True-private",
)
@pytest.mark.parametrize("sharing", ["shared", "private"])
@pytest.mark.parametrize("two", [False, True])
@pytest.mark.parametrize("pooling", POOLED)
def test_summaries_are_of_the_real_states(pooling, two, sharing):
    output, scheme, mask = make_encoded(
        pooling, bidirectional=two, sharing=sharing
    )
    summary, states = output["summary"].numpy(), output["sequence"].numpy()
    assert summary.shape == (2, 3, 6 if two else 3)
    assert not summary[0, 2].any()  # The text without tokens.
    for g, task in enumerate((1, 0)):
        for b in range(3):
            own = states[g, b][mask[g, b]]
            if not len(own):
                continue
            expected = {
                "mean": lambda s: s.mean(0),
                "max": lambda s: s.max(0),
                "attention": lambda s, t=task: weighted(s, scheme, t),
            }[pooling](own)
            np.testing.assert_allclose(summary[g, b], expected, atol=1e-6)


def test_the_last_state_is_that_of_each_direction():
    output, _, mask = make_encoded("last", bidirectional=True)
    summary, states = output["summary"].numpy(), output["sequence"].numpy()
    last = mask.sum(-1) - 1
    for g, b in np.argwhere(last >= 0):
        forward = states[g, b, last[g, b], :3]
        np.testing.assert_array_equal(summary[g, b, :3], forward)
        np.testing.assert_array_equal(summary[g, b, 3:], states[g, b, 0, 3:])


@pytest.mark.by_default("psp-max")
@pytest.mark.parametrize("pooling", POOLED)
@pytest.mark.parametrize("name", ["meta_lstm", "psp", "me_lstm"])
def test_padding_and_checkpoints(name, pooling, tmp_path):
    config = small(name, scheme={"pooling": pooling})
    model, batch = build_model(config, 20, make_tasks(2, 2)), make_batch()
    check_padding(model, batch, model(batch)["scores"])
    if pooling == "attention":
        check_checkpoint(config, tmp_path)


def test_attention_is_the_tasks_own_where_all_is():
    def count(**options):
        scheme = {"name": "lstm", "units": 6, **options}
        config = {"embedding_dim": 5, "scheme": scheme}
        model = build_model(config, 20, make_tasks(2, 2, 2))
        private = {v.path for v in model.private_variables()}
        named = [v for v in model.variables if "attention" in v.path]
        return count_parameters(model), [v.path in private for v in named]

    plain, _ = count()
    shared, private = count(pooling="attention")
    assert shared - plain == 6 * 6 + 6 + 6 and private == [False] * 3
    options = {"sharing": "private"}
    plain, _ = count(**options)
    own, private = count(**options, pooling="attention")
    assert own - plain == 3 * (6 * 6 + 6 + 6) and private == [True] * 3


@pytest.mark.by_default("one-max")
@pytest.mark.parametrize("pooling", ["last", "mean", "max"])
@pytest.mark.parametrize("options", [{}, TWO_WAYS], ids=["one", "two"])
def test_the_adversary_reads_the_shared_half_of_the_summary(pooling, options):
    config = small("asp", scheme={"pooling": pooling, **options})
    model = build_model(config, 20, make_tasks(2, 2))
    batch = make_batch()
    found = model(batch, inspect=True)["inspect"]
    embedded = model.embedding(batch["tokens"], batch["task"])
    mask = model.embedding.mask(batch["tokens"])
    summary = model.scheme(embedded, mask, batch["task"])["summary"]
    # Only shared LSTMs read texts of every task alike.
    other = model.scheme(embedded, mask, 1 - batch["task"], inspect=True)
    np.testing.assert_allclose(
        found["shared"], other["inspect"]["shared"], atol=1e-6
    )
    assert np.any(found["private"] != other["inspect"]["private"])
    halves = [found["shared"], found["private"]]
    both = np.sort(np.concatenate(halves, -1), -1)
    np.testing.assert_allclose(both, np.sort(summary, -1), atol=1e-6)


def test_the_adversary_has_no_attention():
    with pytest.raises(ConfigError, match="pooling of asp .*'attention'"):
        make_scheme({"name": "asp", "pooling": "attention"}, tasks=2)


def test_a_pooling_has_a_name():
    with pytest.raises(ConfigError, match="pooling.*'means'"):
        make_scheme({"name": "lstm", "pooling": "means"}, tasks=1)


def test_attention_as_a_layer():
    draw = np.random.default_rng(0)
    x = tf.constant(draw.normal(size=(2, 3, 4, 5)), tf.float32)
    mask = tf.constant(np.arange(4) < draw.integers(0, 5, (2, 3, 1)))
    run_layer_test(
        lambda: AttentionPooling(tasks=3, name="a"),
        (x, mask, tf.constant([2, 0])),
        parameters=3 * (5 * 5 + 5 + 5),
        output_shapes=(2, 3, 5),
    )
