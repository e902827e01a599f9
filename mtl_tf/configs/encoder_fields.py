"""Config fields of a pretrained encoder."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Fields, Group

_ADAPTERS = (
    "model.encoder.adapter_units",
    "model.encoder.lora_rank",
    "model.encoder.projected_attention_units",
)

ENCODER: Fields = {
    "model.encoder": Group(
        "A pretrained encoder in place of word vectors (docs/encoders.md).",
        needs=("model.encoder.preset",),
    ),
    "model.encoder.preset": Field(
        "",
        rules.TEXT,
        "A folder that keras_hub saved, a folder in the form of Hugging Face, "
        'or a name that keras_hub knows; "" for none.',
    ),
    "model.encoder.trainable": Field(
        True, rules.BOOLEAN, "Whether the encoder is trained."
    ),
    "model.encoder.frozen_layers": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "How many of its lowest layers are not trained, nor the embeddings "
        "below them.",
        needs=("model.encoder.trainable",),
    ),
    "model.encoder.layer_decay": Field(
        1.0,
        rules.POSITIVE,
        "Factor of the learning rate from each layer of the encoder to the "
        "one below.",
        needs=("model.encoder.trainable",),
    ),
    "model.encoder.window": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Pieces that the encoder reads at a time at most, longer texts in "
        "overlapping windows; 0 for as many as it can.",
    ),
    "model.encoder.overlap": Field(
        64,
        rules.NOT_NEGATIVE_INTEGER,
        "Pieces that neighbouring windows share, half a window at most.",
    ),
    "model.encoder.adapter_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of bottleneck adapters in every layer of the encoder (Houlsby "
        "et al. 2019); 0 for none.",
    ),
    "model.encoder.lora_rank": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Rank of low-rank changes of the encoder's weights (Hu et al. 2021); 0 "
        "for none.",
    ),
    "model.encoder.lora_alpha": Field(
        16.0,
        rules.POSITIVE,
        "They are scaled by it over their rank.",
        needs=("model.encoder.lora_rank",),
    ),
    "model.encoder.lora_targets": Field(
        ("query", "value"),
        rules.SOME_NAMES,
        "Which weights of every layer they change: query, key, value, "
        "attention_output, feedforward_intermediate_dense or "
        "feedforward_output_dense.",
        needs=("model.encoder.lora_rank",),
    ),
    "model.encoder.projected_attention_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of projected attention beside every layer of the encoder "
        "(Stickland and Murray 2019, with 204); 0 for none.",
    ),
    "model.encoder.projected_attention_heads": Field(
        12,
        rules.POSITIVE_INTEGER,
        "Heads of projected attention, of which its size is a multiple.",
        needs=("model.encoder.projected_attention_units",),
    ),
    "model.encoder.adapter_sharing": Field(
        "private",
        rules.one_of("private", "shared"),
        "Whether what the fields above insert is each task's own, or the same "
        "of all tasks.",
        needs=_ADAPTERS,
    ),
}
