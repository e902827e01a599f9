"""A real encoder, if there is one, against its equations in NumPy.

The environment variable MTL_TF_ENCODER_DIR names a folder in the form of
Hugging Face with a BERT, such as all-MiniLM-L6-v2.
"""

import json
import math
import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.layers.pretrained.pretrained_encoder import PretrainedEncoder
from mtl_tf.text.encoding import pieces
from mtl_tf.text.pretrained import presets
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer

TEXTS = [
    "A good book.",
    "The film was not bad at all, although it was far too long!",
    "I bought this phone two weeks ago; " * 9,
]


@pytest.fixture(scope="module")
def folder():
    path = pathlib.Path(os.environ.get("MTL_TF_ENCODER_DIR", "absent"))
    pytest.importorskip("safetensors")
    if not (path / "model.safetensors").is_file():
        pytest.skip("MTL_TF_ENCODER_DIR names no BERT of Hugging Face's form")
    return path


def normalized(x, weights, name):
    x = x - x.mean(-1, keepdims=True)
    x /= np.sqrt((x**2).mean(-1, keepdims=True) + 1e-12)
    return x * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def dense(x, weights, name):
    return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def gelu(x):
    """Hendrycks and Gimpel (2016), by the error function."""
    return x * 0.5 * (1.0 + np.vectorize(math.erf)(x / np.sqrt(2.0)))


def tanh_gelu(x):
    """Its approximation, which BERT's first code and keras_hub's BERT have."""
    inner = np.sqrt(2.0 / np.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1.0 + np.tanh(inner))


def bert(ids, weights, config, activation):
    """The last states of one text, Devlin et al. 2019 in float64."""
    below = "embeddings"
    x = (
        weights[f"{below}.word_embeddings.weight"][ids]
        + weights[f"{below}.position_embeddings.weight"][: len(ids)]
        + weights[f"{below}.token_type_embeddings.weight"][0]
    )
    x = normalized(x, weights, f"{below}.LayerNorm")
    heads = config["num_attention_heads"]
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            np.stack(
                np.split(
                    dense(x, weights, f"{layer}.attention.self.{name}"),
                    heads,
                    axis=1,
                )
            )
            for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        share = np.exp(scores - scores.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        context = np.concatenate(list(share @ value), axis=1)
        name = f"{layer}.attention.output"
        x = normalized(
            x + dense(context, weights, f"{name}.dense"),
            weights,
            f"{name}.LayerNorm",
        )
        inner = dense(x, weights, f"{layer}.intermediate.dense")
        x = normalized(
            x + dense(activation(inner), weights, f"{layer}.output.dense"),
            weights,
            f"{layer}.output.LayerNorm",
        )
    return x


def test_states_are_those_of_the_equations(folder):
    from safetensors.numpy import load_file

    preset = str(folder)
    weights = load_file(folder / "model.safetensors")
    weights = {
        name.removeprefix("bert."): value.astype(np.float64)
        for name, value in weights.items()
    }
    config = json.loads((folder / "config.json").read_text())
    text = pieces.of_preset(preset, make_tokenizer({"name": "whitespace"}))
    layer = PretrainedEncoder(
        text.backbone, text.specials.to_json(), name="encoder"
    )
    layer.build()
    layer.set_pretrained(presets.load_backbone(preset))
    rows = text.of_texts(tf.constant(TEXTS))["tokens"]
    found = layer(rows.to_tensor()[None]).numpy()[0]
    assert len(set(rows.row_lengths().numpy())) == 3
    for row, states in zip(rows.to_list(), found):
        ids, states = np.array(row) - 1, states[: len(row)]
        expected = bert(ids, weights, config, tanh_gelu)
        np.testing.assert_allclose(states, expected, atol=1e-4)
        # What the encoder was trained with is near, but not the same.
        exact = bert(ids, weights, config, gelu)
        np.testing.assert_allclose(states, exact, atol=0.05)
