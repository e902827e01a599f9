"""The config fields of tasks that are put as question answering."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Group

TYPE = {
    "text.generative_vocabulary": Field(
        50000,
        rules.NOT_NEGATIVE_INTEGER,
        "How many words, the most frequent ones, an answer to a question can "
        "have without copying them; 0 for all.",
    ),
    "text.answer_max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Questions with a longer answer, in tokens, are left out of the "
        "training; 0 for no limit. text.max_length is that of contexts and "
        "of questions.",
    ),
    "text.ngrams": Group(
        "Character n-grams, whose vectors' mean stands beside a word's own "
        "vector: also words that the vocabulary lacks have one. Either learnt "
        "ones (buckets) or those of a file (vectors); by default none."
    ),
    "text.ngrams.buckets": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Vectors that n-grams are hashed to, which are drawn and trained.",
    ),
    "text.ngrams.vectors": Field(
        "",
        rules.TEXT,
        "File of vectors of n-grams; lines begin like 2gram-ab.",
    ),
    "text.ngrams.dimension": Field(
        100, rules.POSITIVE_INTEGER, "Numbers of each vector."
    ),
    "text.ngrams.most": Field(
        48,
        rules.POSITIVE_INTEGER,
        "N-grams of a word that are read, short ones first: 48 are all those "
        "of a word of 16 characters.",
    ),
    "model.answering": Group(
        "The model that answers questions, which has word vectors of "
        "model.embedding_dim; nothing else of model applies to it.",
        open=True,
    ),
    "model.answering.name": Field(
        "mqan",
        rules.one_of("mqan", "coattention", "s2s_self_attention", "s2s"),
        "mqan; or a model of table 2 that lacks something of it: coattention "
        "(no pointer into the question), s2s_self_attention (nor "
        "coattention), s2s (nor self-attention).",
    ),
    "model.answering.units": Field(
        200, rules.POSITIVE_INTEGER, "Size of states, d in the paper."
    ),
    "model.answering.feed_forward": Field(
        150,
        rules.POSITIVE_INTEGER,
        "Hidden units of the feed-forward layers, f in the paper.",
    ),
    "model.answering.heads": Field(
        3, rules.POSITIVE_INTEGER, "Attention heads, each of units."
    ),
    "model.answering.blocks": Field(
        2,
        rules.POSITIVE_INTEGER,
        "Self-attention layers of each encoder and of the decoder.",
    ),
    "model.answering.dropout": Field(0.2, rules.FRACTION, "Rate of dropout."),
    "model.answering.per_word": Field(
        True,
        rules.BOOLEAN,
        "Whether an answer's loss is the mean over its words, not their sum.",
    ),
    "model.answering.init": Group(
        "How its weights are drawn, as in model.init.", open=True
    ),
    "evaluation.answering": Group(
        "How answers are looked for; checkpoints are chosen by greedy search.",
        open=True,
    ),
    "evaluation.answering.beam": Field(
        1,
        rules.POSITIVE_INTEGER,
        "Hypotheses of an answer; 1 for greedy search, as in the paper.",
    ),
    "evaluation.answering.length_penalty": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Exponent of the penalty on short ones; 0 for none.",
    ),
    "evaluation.answering.n_best": Field(
        1, rules.POSITIVE_INTEGER, "Answers that are given to a question."
    ),
    "evaluation.answering.max_length": Field(
        100, rules.POSITIVE_INTEGER, "The most tokens of an answer."
    ),
}
