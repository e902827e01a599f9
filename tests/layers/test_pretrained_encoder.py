"""The encoder layer: what it reads, windows, and what is trained."""

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.pretrained.encoder_adapters import LORA_TARGETS
from mtl_tf.layers.pretrained.pretrained_encoder import (
    PretrainedEncoder,
    first_pieces,
)
from mtl_tf.layers.pretrained.projected_attention import ProjectedAttention
from tests.layers.encoder_testing import batch, made, make_backbone


@pytest.fixture(scope="module")
def backbone():
    return make_backbone()


def reference(backbone, pieces, segments=None):
    size = len(pieces)
    output = backbone(
        {
            "token_ids": tf.constant([pieces]),
            "segment_ids": tf.constant([segments or [0] * size]),
            "padding_mask": tf.ones([1, size], tf.int32),
        }
    )
    return output["sequence_output"].numpy()[0]


def test_the_states_are_those_of_the_backbone_whatever_the_padding(backbone):
    layer = made(backbone)
    short, long = [2, 7, 8, 3], [2, 9, 10, 11, 12, 13, 3]
    found = layer(batch(short, long)).numpy()[0]
    np.testing.assert_allclose(
        found[0, :4], reference(backbone, short), atol=1e-5
    )
    np.testing.assert_allclose(found[1], reference(backbone, long), atol=1e-5)


def test_the_second_text_is_another_segment(backbone):
    pieces, segments = [2, 7, 8, 3, 9, 3], [0, 0, 0, 0, 1, 1]
    found = made(backbone)(batch(pieces)).numpy()[0, 0]
    np.testing.assert_allclose(
        found, reference(backbone, pieces, segments), atol=1e-5
    )
    assert not np.allclose(found, reference(backbone, pieces), atol=1e-3)


def test_long_texts_are_read_in_windows(backbone):
    """Each window as the backbone reads it, with its special pieces."""
    layer = made(backbone, window=6, overlap=2)
    pieces = [2, 5, 6, 7, 8, 9, 10, 11, 12, 3]
    found = layer(batch(pieces, [2] + [4] * 30 + [3])).numpy()[0, 0]
    first = reference(backbone, [2, 5, 6, 7, 8, 3])
    second = reference(backbone, [2, 7, 8, 9, 10, 3])
    third = reference(backbone, [2, 9, 10, 11, 12, 3])
    expected = [*first[:4], *second[2:4], *third[2:]]
    np.testing.assert_allclose(found[:10], expected, atol=1e-5)


def test_words_take_the_states_of_their_first_pieces():
    states = tf.reshape(tf.range(10.0), [1, 1, 5, 2])
    words = tf.constant([[[1, 3, 0]]])
    found = first_pieces(states, words).numpy()[0, 0]
    np.testing.assert_array_equal(found[:2], [[2, 3], [6, 7]])


def test_dropout_is_a_function_of_the_seed(backbone):
    layer = made(backbone)
    tokens = batch([2, 7, 8, 3])

    def call(seed):
        return layer(tokens, training=True, seed=tf.constant(seed)).numpy()

    np.testing.assert_array_equal(call([1, 2]), call([1, 2]))
    assert not np.allclose(call([1, 2]), call([1, 3]))
    assert not np.allclose(call([1, 2]), layer(tokens).numpy())
    with pytest.raises(ValueError, match="needs a seed"):
        layer(tokens, training=True)


def test_lower_layers_are_frozen_and_rates_decay(backbone):
    layer = made(backbone, frozen_layers=1, layer_decay=0.5)
    trained = [v.path for v in layer.trainable_variables]
    assert trained
    assert all("layer_1" in path or "layer_2" in path for path in trained)
    rates = {v.path: marks_of(v).rate_factor for v in layer.network.weights}
    of = {
        name: {r for p, r in rates.items() if name in p}
        for name in ("layer_2", "layer_1", "layer_0", "token_embedding")
    }
    assert list(of.values()) == [{1.0}, {0.5}, {0.25}, {0.125}]
    assert not any("pooled" in path for path in rates)


def test_a_frozen_encoder_gives_no_gradient_and_drops_nothing(backbone):
    layer = made(backbone, trainable=False)
    tokens = batch([2, 7, 8, 3])
    assert not layer.trainable_variables
    np.testing.assert_array_equal(
        layer(tokens, training=True).numpy(), layer(tokens).numpy()
    )


@pytest.mark.parametrize(
    "options, message",
    [
        ({"frozen_layers": 4}, "frozen_layers must be at most 3"),
        ({"window": 13}, "window must be at most 12"),
        ({"window": 2}, "window must be 0 or at least 3, .* got 2"),
    ],
)
def test_wrong_options_are_refused(backbone, options, message):
    with pytest.raises(ConfigError, match=message):
        made(backbone, **options)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lora_rank": 2, "lora_targets": ("querry",)}, "did you mean 'query'"),
        ({"lora_rank": 2, "lora_targets": ()}, "at least one of query"),
        ({"lora_rank": -1}, "lora_rank must be zero or a positive"),
        ({"adapter_sharing": "all"}, "adapter_sharing .*'all'"),
        (
            {"projected_attention_units": 5, "projected_attention_heads": 2},
            r"units must be a multiple of .*_heads \(2\), got 5",
        ),
    ],
)
def test_wrong_options_of_adapters_are_refused(backbone, options, message):
    with pytest.raises(ConfigError, match=message):
        made(backbone, **options)


@pytest.mark.parametrize(
    "options, place",
    [
        ({"adapter_units": 2}, "'attention_output'"),
        ({"lora_rank": 2}, "'query'"),
        ({"projected_attention_units": 12}, "'feedforward_dropout'"),
    ],
)
def test_a_backbone_without_a_place_for_adapters_is_refused(options, place):
    """Rather than that they are silently absent."""
    import keras_nlp

    mixing = keras_nlp.models.FNetBackbone(
        vocabulary_size=20, num_layers=1, hidden_dim=8, intermediate_dim=16
    )
    with pytest.raises(ConfigError, match=f"FNetBackbone.*{place}"):
        made(mixing, **options)


@pytest.mark.extended
def test_a_layer_is_made_anew_from_its_config(backbone):
    layer = made(backbone, window=6, overlap=1, frozen_layers=1)
    other = PretrainedEncoder.from_config(layer.get_config())
    other.build()
    other.set_pretrained(backbone)
    tokens = batch([2, 5, 6, 7, 8, 9, 3])
    np.testing.assert_allclose(layer(tokens), other(tokens), atol=1e-6)


# Options, and how many weights they make in three layers.
KINDS = {
    "bottleneck": ({"adapter_units": 2}, 6 * 4),
    "lora": ({"lora_rank": 2}, 6 * 2),
    "lora_everywhere": (
        {"lora_rank": 1, "lora_targets": LORA_TARGETS},
        18 * 2,
    ),
    "projected_attention": (
        {"projected_attention_units": 4, "projected_attention_heads": 2},
        2 + 3,
    ),
    "all": (
        {
            "adapter_units": 1,
            "lora_rank": 1,
            "projected_attention_units": 2,
            "projected_attention_heads": 1,
        },
        6 * 4 + 6 * 2 + 2 + 3,
    ),
}


@pytest.mark.by_default("lora")
@pytest.mark.parametrize("kind", KINDS)
def test_adapters_belong_to_tasks_and_start_as_nothing(backbone, kind):
    options, count = KINDS[kind]
    layer = made(backbone, trainable=False, tasks=3, **options)
    plain = made(backbone)
    rows = batch([2, 7, 8, 3], [2, 9, 3])
    tokens, task = tf.concat([rows, rows], 0), tf.constant([0, 2])
    before = layer(tokens, task).numpy()
    np.testing.assert_allclose(before, plain(tokens).numpy(), atol=1e-5)
    # Only the adapters are trained.
    assert len(layer.trainable_variables) == count
    assert all(marks_of(v).is_private for v in layer.trainable_variables)
    rng = np.random.default_rng(0)
    for weight in layer.trainable_variables:
        value = weight.numpy()
        value[2] += rng.normal(size=value[2].shape)
        weight.assign(value)
    after = layer(tokens, task).numpy()
    np.testing.assert_array_equal(after[0], before[0])
    assert not np.allclose(after[1], before[1], atol=1e-3)
    # Padding and company change nothing.
    alone = layer(tokens[1:, 1:, :3], task[1:]).numpy()
    np.testing.assert_allclose(alone[0, 0], after[1, 1, :3], atol=1e-5)
    other = PretrainedEncoder.from_config(layer.get_config())
    other.build()
    for weight, value in zip(other.variables, layer.variables, strict=True):
        assert weight.path == value.path
        weight.assign(value)
    np.testing.assert_allclose(other(tokens, task), after, atol=1e-6)


@pytest.mark.by_default("lora")
@pytest.mark.parametrize("kind", KINDS)
def test_adapters_in_a_frozen_encoder_have_gradients(backbone, kind):
    options, _ = KINDS[kind]
    layer = made(backbone, trainable=False, tasks=2, **options)
    tokens, task = batch([2, 7, 8, 3]), tf.constant([1])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(layer(tokens, task)[0, 0, 1, 0])
    variables = [v.value for v in layer.trainable_variables]
    found = tape.gradient(loss, variables)
    assert all(gradient is not None for gradient in found)
    ups = [
        tf.convert_to_tensor(g).numpy()
        for g, v in zip(found, layer.trainable_variables)
        if v.name in ("up", "decode")
    ]
    assert any(np.abs(g[1]).max() for g in ups)
    assert not any(np.abs(g[0]).max() for g in ups)


@pytest.mark.by_default("projected_attention")
@pytest.mark.parametrize("kind", KINDS)
def test_shared_adapters_are_those_of_a_single_task(backbone, kind):
    options, count = KINDS[kind]
    layer = made(
        backbone, trainable=False, tasks=3, adapter_sharing="shared", **options
    )
    alone = made(backbone, trainable=False, tasks=1, **options)
    assert len(layer.trainable_variables) == count
    assert not any(marks_of(v).is_private for v in layer.trainable_variables)
    rng = np.random.default_rng(0)
    for weight, own in zip(
        layer.trainable_variables, alone.trainable_variables, strict=True
    ):
        assert own.shape == (1, *weight.shape)
        weight.assign(0.3 * rng.normal(size=weight.shape))
        own.assign(weight.numpy()[None])
    rows = batch([2, 7, 8, 3], [2, 9, 3])
    tokens, first = tf.concat([rows, rows], 0), tf.constant([0])
    found = layer(tokens, tf.constant([0, 2])).numpy()
    expected = alone(rows, first).numpy()[0]
    for group in found:
        np.testing.assert_allclose(group, expected, atol=1e-5)
    assert not np.allclose(expected, made(backbone)(rows)[0], atol=1e-3)


def test_low_rank_changes_are_those_of_the_weights(backbone):
    """Hu et al. 2021: W + (alpha / r) A B in place of W."""
    targets = ("query", "attention_output", "feedforward_intermediate_dense")
    layer = made(
        backbone, tasks=2, lora_rank=2, lora_alpha=3.0, lora_targets=targets
    )
    rng = np.random.default_rng(1)
    for weight in layer.variables:
        if "lora_" in weight.path:
            weight.assign(0.3 * rng.normal(size=weight.shape))
    changed = type(backbone).from_config(backbone.get_config())
    changed.set_weights(backbone.get_weights())
    for number, block in enumerate(changed.transformer_layers):
        for one in block._flatten_layers():
            if one.name in targets:
                own = getattr(layer, f"lora_{number}_{one.name}")
                change = 1.5 * own.down.numpy()[1] @ own.up.numpy()[1]
                kernel = one.kernel
                kernel.assign(kernel.numpy() + change.reshape(kernel.shape))
    pieces = [2, 7, 8, 9, 3]
    found = layer(batch(pieces), tf.constant([1])).numpy()[0, 0]
    np.testing.assert_allclose(found, reference(changed, pieces), atol=1e-5)


def test_projected_attention_is_that_of_the_paper():
    """Stickland and Murray 2019, equations 5 and 6, by hand."""
    layer = ProjectedAttention(4, 2, layers=2, tasks=2, name="attention")
    layer.build((None, None, 3))
    rng = np.random.default_rng(2)
    for weight in layer.weights:
        weight.assign(rng.normal(size=weight.shape))
    states = rng.normal(size=(1, 3, 3)).astype("f")
    mask = np.array([[1, 1, 0]])
    found = layer(states, mask, tf.constant([1]), layer=1).numpy()[0]
    small = states[0] @ layer.encode.numpy()[1]
    query, key, value = np.split(
        small @ layer.attention_1.numpy()[1], 3, axis=1
    )
    heads = []
    for part in (slice(0, 2), slice(2, 4)):
        scores = query[:, part] @ key[:2, part].T / np.sqrt(2)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        heads.append(weights @ value[:2, part])
    expected = np.concatenate(heads, 1) @ layer.decode.numpy()[1]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    per_task = sum(np.prod(w.shape[1:]) for w in layer.weights)
    assert per_task == 2 * 3 * 4 + 2 * 3 * 4**2
