"""The config fields of translation tasks."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Group

_TEXT = {
    "text.tokenizers": Group(
        "Tokenizers of languages that have another than text.tokenizer.",
        open=True,
    ),
    "text.target_max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Pairs with a longer target, in tokens, are left out of the training; "
        "0 for no limit. text.max_length is that of sources.",
    ),
    "text.max_ratio": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Pairs with one text more than so many times as long as the other are "
        "left out of the training; 0 for no limit.",
    ),
}

_MODEL = {
    "model.translation": Group(
        "The model that translates, to which nothing else of model applies.",
        open=True,
    ),
    "model.translation.embedding_dim": Field(
        256, rules.POSITIVE_INTEGER, "Size of word vectors."
    ),
    "model.translation.units": Field(
        256, rules.POSITIVE_INTEGER, "Units of each recurrent layer."
    ),
    "model.translation.attention_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Hidden units of the attention; 0 for as many as units.",
    ),
    "model.translation.readout_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Units of the layer below the output layer; 0 for as many as units.",
    ),
    "model.translation.bias": Field(
        True, rules.BOOLEAN, "Whether its layers have biases."
    ),
    "model.translation.dropout": Group("Rates of dropout."),
    "model.translation.dropout.embedding": Field(
        0.0, rules.FRACTION, "On word vectors, of sources and targets."
    ),
    "model.translation.dropout.encoding": Field(
        0.0, rules.FRACTION, "On the encoded source."
    ),
    "model.translation.dropout.readout": Field(
        0.0, rules.FRACTION, "Below the output layer."
    ),
    "model.translation.label_smoothing": Field(
        0.0,
        rules.FRACTION,
        "Share of the target's probability that all words divide.",
    ),
    "model.translation.output": Group("The output layer."),
    "model.translation.output.name": Field(
        "full",
        rules.one_of("full", "sampled"),
        "full, or sampled: the training's loss is computed on some words.",
    ),
    "model.translation.output.samples": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "How many words are sampled; 0 with the full layer.",
    ),
    "model.translation.init": Group(
        "How its weights are drawn, as in model.init.", open=True
    ),
}

_EVALUATION = {
    "evaluation.paper_scoring": Field(
        False,
        rules.BOOLEAN,
        "Whether translations are also scored against references whose words "
        "are restricted to the training vocabulary.",
    ),
    "evaluation.decoding": Group(
        "How test texts and those of launch.predict are translated; "
        "checkpoints are chosen by greedy search.",
        open=True,
    ),
    "evaluation.decoding.beam": Field(
        10,
        rules.POSITIVE_INTEGER,
        "Hypotheses of a text; 1 for greedy search.",
    ),
    "evaluation.decoding.length_penalty": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Exponent of the penalty on short ones; 0 for none.",
    ),
    "evaluation.decoding.replace_unknown": Field(
        False,
        rules.BOOLEAN,
        "Whether the source word that was attended to most is written in "
        "place of an unknown one.",
    ),
    "evaluation.decoding.n_best": Field(
        1, rules.POSITIVE_INTEGER, "Translations that are given of a text."
    ),
    "evaluation.decoding.max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "The most tokens of a translation; 0 for ten more than twice those "
        "of its text.",
    ),
    "evaluation.decoding.alignments": Field(
        False,
        rules.BOOLEAN,
        "Whether launch.predict, Run.predict and exports tell which source "
        "word each word of a translation attended to most.",
    ),
}

TYPE = {**_TEXT, **_MODEL, **_EVALUATION}
