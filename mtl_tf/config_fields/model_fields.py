"""Config fields of the model, and of a pretrained encoder in it."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Fields, Group

#: The schemes that are Transformers, and how many learned positions they have
#: where a config does not say.
TRANSFORMERS = ("s_p", "s_c", "l_i", "l_e")
MAX_POSITIONS = 512

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
        "Size of the word vectors.",
        before=200,
        since=4,
    ),
    "model.embedding_private_dim": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "How many of the embedding_dim numbers come from a private table of "
        "the task. Pretrained vectors have the size of the rest.",
    ),
    "model.embedding_trainable": Field(
        True, rules.BOOLEAN, "Whether to train the word vectors."
    ),
    "model.word_dropout": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the words that training replaces by the unknown word.",
    ),
    "model.rare_word_dropout": Field(
        0.5,
        rules.FRACTION,
        "Fraction of the words with one occurrence in the training texts that "
        "training replaces by the unknown word. This trains the vector of the "
        "unknown word.",
        before=0.0,
        since=2,
    ),
    "model.casing_dim": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of the vectors of the casing of words (text.casing); 0 for none.",
    ),
    "model.dropout": Group("Dropout rates."),
    "model.dropout.embedding": Field(
        0.5,
        rules.FRACTION,
        "Dropout rate of word vectors.",
        before=0.0,
        since=4,
    ),
    "model.dropout.head": Field(
        0.5,
        rules.FRACTION,
        "Dropout rate of a head's input, after its hidden layer.",
        before=0.0,
        since=4,
    ),
    "model.head": Group("The heads, which compute the outputs."),
    "model.head.hidden_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Units of a hidden layer in front of each output layer; 0 for none.",
    ),
    "model.head.sharing": Field(
        "private",
        rules.one_of("private", "shared"),
        "private: each task has its own head. shared: all tasks have one head "
        "and need the same number of labels.",
    ),
    "model.head.label_smoothing": Field(
        0.0,
        rules.FRACTION,
        "Label smoothing in the training of classification heads: the share "
        "of the target's probability that is divided among all labels.",
    ),
    "model.init": Group(
        "How weights are initialised: name (glorot, uniform or normal) and "
        "range.",
        open=True,
    ),
    "model.scheme": Group(
        "The sharing scheme, with its options (docs/schemes.md). The default "
        "is a bidirectional LSTM.",
        open=True,
    ),
    "model.scheme.name": Field(
        "lstm",
        rules.NAME,
        "Name of the scheme, or FILE.py:CLASS of your own "
        "(docs/add_a_sharing_scheme.md).",
        before="meta_lstm",
        since=4,
    ),
    "model.scheme.units": Field(
        100, rules.POSITIVE_INTEGER, "Size of the encoder's states."
    ),
    "model.scheme.sharing": Field(
        "shared",
        rules.one_of("shared", "private"),
        "Whether all tasks share one encoder or each task has its own.",
    ),
    "model.scheme.bidirectional": Field(
        True,
        rules.BOOLEAN,
        "Whether to read texts in both directions.",
        before=False,
        since=4,
    ),
    "model.scheme.pooling": Field(
        "max",
        rules.one_of("last", "mean", "max", "attention"),
        "How a recurrent scheme makes one vector of a text: the last state, "
        "as in the papers, or the mean, the maximum or a learnt weighted mean "
        "(attention) of all states.",
        before="last",
        since=4,
    ),
    "model.scheme.forget_bias": Field(
        1.0,
        rules.NOT_NEGATIVE,
        "Initial bias of the forget gates of a recurrent scheme. With 0 it "
        "forgets what is far from the end of a text.",
        before=0.0,
        since=2,
    ),
    "model.wide": Group(
        "The wide part: hashed n-grams, some shared by all tasks and some "
        "private, which heads of whole texts read in addition to the encoder. "
        "They give the model what a linear model knows.",
        needs=("model.wide.buckets",),
    ),
    "model.wide.buckets": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of vectors that n-grams are hashed to; 0 for no wide part.",
    ),
    "model.wide.dimension": Field(
        16,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of each vector. 0 for the number of labels of the task with the "
        "most, but at least 16 and at most 64.",
    ),
    "model.wide.word_ngrams": Field(
        2,
        rules.POSITIVE_INTEGER,
        "Maximum number of words of an n-gram.",
    ),
    "model.wide.character_ngrams": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Maximum number of characters of an n-gram within a word, at least 3; "
        "0 for no n-grams of characters. They need text.characters.",
    ),
    "model.wide.join_characters": Field(
        False,
        rules.BOOLEAN,
        "Whether n-grams of characters, shorter than character_ngrams, also "
        "run over neighbouring words of one character, which the regex "
        "tokenizer makes of Chinese, for example.",
        needs=("model.wide.character_ngrams",),
    ),
    "model.wide.dropout": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the n-grams that training leaves out.",
    ),
    "model.wide.alone": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the training texts for which the heads read only the "
        "n-grams. The n-grams then learn more, because an encoder soon knows "
        "few texts by heart.",
    ),
    "model.wide.encoder_alone": Field(
        0.0,
        rules.FRACTION,
        "Fraction of the training texts for which the heads read only the "
        "encoder. The encoder then learns more, because n-grams soon know few "
        "texts by heart.",
    ),
    "model.wide.choose_shares": Field(
        True,
        rules.BOOLEAN,
        "Whether the validation examples choose, for each task, how much of "
        "the encoder its head reads in addition to the n-grams.",
        before=False,
        since=5,
        needs=("model.wide.alone",),
    ),
    "model.wide.idf": Field(
        False,
        rules.BOOLEAN,
        "Whether n-grams are weighted by their inverse document frequency in "
        "the texts to train on, so that rare ones count more.",
    ),
    "model.characters": Group(
        "Features of a word's characters: none, cnn (options filters, width, "
        "dimension) or lstm (options units, dimension).",
        open=True,
    ),
    "model.characters.name": Field("none", rules.NAME, "Name of the features."),
    "model.encoder": Group(
        "A pretrained encoder instead of word vectors (docs/encoders.md).",
        needs=("model.encoder.preset",),
    ),
    "model.encoder.preset": Field(
        "",
        rules.TEXT,
        "A folder that keras_hub saved, a folder in the format of Hugging "
        'Face, or a name that keras_hub knows; "" for no encoder.',
    ),
    "model.encoder.trainable": Field(
        True, rules.BOOLEAN, "Whether to train the encoder."
    ),
    "model.encoder.frozen_layers": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of lowest layers that are not trained. The embeddings below "
        "them are then not trained either.",
        needs=("model.encoder.trainable",),
    ),
    "model.encoder.layer_decay": Field(
        1.0,
        rules.POSITIVE,
        "Factor of the learning rate from each layer of the encoder to the "
        "layer below.",
        needs=("model.encoder.trainable",),
    ),
    "model.encoder.window": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Maximum number of pieces that the encoder reads at once. Longer "
        "texts are read in overlapping windows. 0 takes as many as the "
        "encoder can read.",
    ),
    "model.encoder.overlap": Field(
        64,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of pieces that neighbouring windows share, at most half a "
        "window.",
    ),
    "model.encoder.adapter_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of bottleneck adapters in each layer of the encoder (Houlsby et "
        "al. 2019); 0 for none.",
    ),
    "model.encoder.lora_rank": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Rank of low-rank changes of the encoder's weights (LoRA, Hu et al. "
        "2021); 0 for none.",
    ),
    "model.encoder.lora_alpha": Field(
        16.0,
        rules.POSITIVE,
        "Scale of the low-rank changes: they are multiplied by lora_alpha / "
        "lora_rank.",
        needs=("model.encoder.lora_rank",),
    ),
    "model.encoder.lora_targets": Field(
        ("query", "value"),
        rules.SOME_NAMES,
        "Which weights of each layer have low-rank changes: query, key, "
        "value, attention_output, feedforward_intermediate_dense or "
        "feedforward_output_dense.",
        needs=("model.encoder.lora_rank",),
    ),
    "model.encoder.projected_attention_units": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of projected attention in parallel to each layer of the encoder "
        "(Stickland and Murray 2019, with 204); 0 for none.",
    ),
    "model.encoder.projected_attention_heads": Field(
        12,
        rules.POSITIVE_INTEGER,
        "Number of heads of projected attention. The size is a multiple of it.",
        needs=("model.encoder.projected_attention_units",),
    ),
    "model.encoder.adapter_sharing": Field(
        "private",
        rules.one_of("private", "shared"),
        "Whether each task has its own adapters, low-rank changes and "
        "projected attention, or all tasks share them.",
        needs=_ADAPTERS,
    ),
}
