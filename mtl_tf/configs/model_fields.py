"""Config fields of the model, and of a pretrained encoder in it."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Fields, Group

_ADAPTERS = (
    "model.encoder.adapter_units",
    "model.encoder.lora_rank",
    "model.encoder.projected_attention_units",
)

MODEL: Fields = {
    "model": Group("The model."),
    "model.embedding_dim": Field(
        100,
        rules.POSITIVE_INTEGER,
        "Size of word vectors.",
        before=200,
        since=4,
    ),
    "model.embedding_private_dim": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "How many of embedding_dim come from a table of the task's own; "
        "pretrained vectors have the size of the rest.",
    ),
    "model.embedding_trainable": Field(
        True, rules.BOOLEAN, "Whether word vectors are trained."
    ),
    "model.word_dropout": Field(
        0.0, rules.FRACTION, "Fraction of the words unknown in training."
    ),
    "model.rare_word_dropout": Field(
        0.5,
        rules.FRACTION,
        "Fraction of the words that occur once in the training texts to make "
        "unknown in training, which teaches the vector of unknown words.",
        before=0.0,
        since=2,
    ),
    "model.casing_dim": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of vectors of how words are written (text.casing); 0 for none.",
    ),
    "model.dropout": Group("Rates of dropout."),
    "model.dropout.embedding": Field(
        0.5, rules.FRACTION, "On word vectors.", before=0.0, since=4
    ),
    "model.dropout.head": Field(
        0.5,
        rules.FRACTION,
        "On what a head reads, above its hidden layer.",
        before=0.0,
        since=4,
    ),
    "model.head": Group("The outputs."),
    "model.head.hidden_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Units of a hidden layer below the heads; 0 for none.",
    ),
    "model.head.sharing": Field(
        "private",
        rules.one_of("private", "shared"),
        "private (each task has its own) or shared (one for all, which then "
        "need equally many labels).",
    ),
    "model.head.label_smoothing": Field(
        0.0,
        rules.FRACTION,
        "Share of the target's probability that all labels divide, when heads "
        "of classification are trained.",
    ),
    "model.init": Group(
        "How weights are drawn: name (glorot, uniform or normal) and range.",
        open=True,
    ),
    "model.scheme": Group(
        "The sharing scheme, with the options of the one that is named "
        "(docs/schemes.md); the default is a bidirectional LSTM.",
        open=True,
    ),
    "model.scheme.name": Field(
        "lstm",
        rules.NAME,
        "Which scheme: a name, or FILE.py:CLASS of one's own "
        "(docs/add_a_sharing_scheme.md).",
        before="meta_lstm",
        since=4,
    ),
    "model.scheme.units": Field(
        100, rules.POSITIVE_INTEGER, "Units of the encoder's states."
    ),
    "model.scheme.sharing": Field(
        "shared",
        rules.one_of("shared", "private"),
        "Whether all tasks have one encoder, or each its own.",
    ),
    "model.scheme.bidirectional": Field(
        True,
        rules.BOOLEAN,
        "Whether texts are read in both directions.",
        before=False,
        since=4,
    ),
    "model.scheme.pooling": Field(
        "max",
        rules.one_of("last", "mean", "max", "attention"),
        "What a recurrent scheme makes a text's vector of: the last state, as "
        "the papers do, or the mean, the maximum or a learnt weighted mean of "
        "all states.",
        before="last",
        since=4,
    ),
    "model.scheme.forget_bias": Field(
        1.0,
        rules.NOT_NEGATIVE,
        "What the forget gates of a recurrent scheme start with; 0 makes it "
        "forget what is far from the end of a text.",
        before=0.0,
        since=2,
    ),
    "model.wide": Group(
        "Hashed n-grams of words, of all tasks and of each task, beside what "
        "heads of whole texts read: what a linear model knows.",
        needs=("model.wide.buckets",),
    ),
    "model.wide.buckets": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Vectors that n-grams are hashed to; 0 for no wide part.",
    ),
    "model.wide.dimension": Field(
        16,
        rules.POSITIVE_INTEGER,
        "Numbers of each vector.",
    ),
    "model.wide.word_ngrams": Field(
        2,
        rules.POSITIVE_INTEGER,
        "The most words of an n-gram.",
    ),
    "model.wide.character_ngrams": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "The most characters of an n-gram within a word, from 3 on; 0 for "
        "none. They need text.characters.",
    ),
    "model.wide.dropout": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the n-grams left out in training.",
    ),
    "model.wide.alone": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the training texts of which heads read the n-grams "
        "alone: they learn more beside an encoder that knows few texts by "
        "heart.",
    ),
    "model.wide.choose_shares": Field(
        True,
        rules.BOOLEAN,
        "Whether validation examples choose for each task how much of the "
        "encoder its head reads beside the n-grams.",
        before=False,
        since=5,
        needs=("model.wide.alone",),
    ),
    "model.characters": Group(
        "Features of a word's characters: none, cnn (filters, width) or lstm "
        "(units), both with dimension.",
        open=True,
    ),
    "model.characters.name": Field("none", rules.NAME, "Which features."),
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
