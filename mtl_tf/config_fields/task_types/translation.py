"""The config fields of translation tasks."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Group

_TEXT = {
    "text.tokenizers": Group(
        "Tokenizers of languages that do not use text.tokenizer.",
        open=True,
    ),
    "text.target_max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Pairs with more target tokens than this are left out of training; 0 "
        "for no limit. For sources, see text.max_length.",
    ),
    "text.max_ratio": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Pairs are left out of training if one text is longer than the other "
        "by more than this factor; 0 for no limit.",
    ),
}

_MODEL = {
    "model.translation": Group(
        "The model that translates. No other field of model applies to it.",
        open=True,
        only_with=(),
    ),
    "model.translation.embedding_dim": Field(
        256, rules.POSITIVE_INTEGER, "Size of the word vectors."
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
        True, rules.BOOLEAN, "Whether the layers have biases."
    ),
    "model.translation.dropout": Group("Dropout rates."),
    "model.translation.dropout.embedding": Field(
        0.0,
        rules.FRACTION,
        "Dropout rate of the word vectors of sources and targets.",
    ),
    "model.translation.dropout.encoding": Field(
        0.0, rules.FRACTION, "Dropout rate of the encoded source."
    ),
    "model.translation.dropout.readout": Field(
        0.0, rules.FRACTION, "Dropout rate of the input of the output layer."
    ),
    "model.translation.label_smoothing": Field(
        0.0,
        rules.FRACTION,
        "Label smoothing: the share of the target's probability that is "
        "divided among all words.",
    ),
    "model.translation.output": Group("The output layer."),
    "model.translation.output.name": Field(
        "full",
        rules.one_of("full", "sampled"),
        "full, or sampled: training computes the loss on a sample of the "
        "words.",
    ),
    "model.translation.output.samples": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of sampled words; 0 with the full layer.",
    ),
    "model.translation.init": Group(
        "How the weights are initialised, as in model.init.", open=True
    ),
}

_EVALUATION = {
    "evaluation.paper_scoring": Field(
        False,
        rules.BOOLEAN,
        "Whether to also score translations as Dong et al. (2015) do: against "
        "references in which UNK replaces words outside the training "
        "vocabulary.",
    ),
    "evaluation.decoding": Group(
        "How the search translates test texts and texts of launch.predict. "
        "Checkpoints are chosen by greedy search.",
        open=True,
    ),
    "evaluation.decoding.beam": Field(
        10,
        rules.POSITIVE_INTEGER,
        "Hypotheses of the beam search; 1 for greedy search.",
    ),
    "evaluation.decoding.length_penalty": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Exponent of the penalty on short translations; 0 for none.",
    ),
    "evaluation.decoding.replace_unknown": Field(
        False,
        rules.BOOLEAN,
        "Whether to replace each unknown word by the source word with the "
        "most attention.",
    ),
    "evaluation.decoding.n_best": Field(
        1, rules.POSITIVE_INTEGER, "Number of translations of each text."
    ),
    "evaluation.decoding.max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Maximum number of tokens of a translation; 0 for ten more than twice "
        "the tokens of its source.",
    ),
    "evaluation.decoding.alignments": Field(
        False,
        rules.BOOLEAN,
        "Whether launch.predict, Run.predict and exports also give, for each "
        "word of a translation, the source word with the most attention.",
    ),
}

TYPE = {**_TEXT, **_MODEL, **_EVALUATION}
