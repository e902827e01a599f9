"""The config fields of tasks that are put as question answering."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Group

_NGRAMS = ("text.ngrams.buckets", "text.ngrams.vectors")

TYPE = {
    "text.generative_vocabulary": Field(
        50000,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of most frequent words that an answer can have without "
        "copying them; 0 for all words.",
    ),
    "text.count_contexts_once": Field(
        True,
        rules.BOOLEAN,
        "Whether the words of a context count once for text.min_count, however "
        "many questions are about it. If not, almost no word of such a context "
        "is unknown, and a model hardly learns to copy unknown words.",
        before=False,
        since=6,
    ),
    "text.answer_max_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Questions with more answer tokens than this are left out of "
        "training; 0 for no limit. For contexts and questions, see "
        "text.max_length.",
    ),
    "text.ngrams": Group(
        "Character n-grams. The mean of their vectors is read in addition to "
        "the word's own vector, also for words outside the vocabulary. The "
        "vectors are learnt (buckets) or come from a file (vectors). There "
        "are none by default."
    ),
    "text.ngrams.buckets": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of vectors that n-grams are hashed to. They start at random "
        "and are trained.",
    ),
    "text.ngrams.vectors": Field(
        "",
        rules.TEXT,
        "File of n-gram vectors, with lines that begin like 2gram-ab.",
    ),
    "text.ngrams.dimension": Field(
        100,
        rules.POSITIVE_INTEGER,
        "Size of each vector.",
        needs=_NGRAMS,
    ),
    "text.ngrams.most": Field(
        48,
        rules.POSITIVE_INTEGER,
        "Maximum number of n-grams of a word, short n-grams first. A word of "
        "16 characters has 48.",
        needs=_NGRAMS,
    ),
    "model.answering": Group(
        "The model that answers questions. Its word vectors have the size "
        "model.embedding_dim; no other field of model applies to it.",
        open=True,
        only_with=("model.embedding_dim",),
    ),
    "model.answering.name": Field(
        "mqan",
        rules.one_of("mqan", "coattention", "s2s_self_attention", "s2s"),
        "Name of the model: mqan, or a model of table 2 that lacks parts of "
        "it: coattention (no pointer into the question), s2s_self_attention "
        "(also no coattention), s2s (also no self-attention).",
    ),
    "model.answering.units": Field(
        200, rules.POSITIVE_INTEGER, "Size of the states, d in the paper."
    ),
    "model.answering.feed_forward": Field(
        150,
        rules.POSITIVE_INTEGER,
        "Hidden units of the feed-forward layers, f in the paper.",
    ),
    "model.answering.heads": Field(
        3,
        rules.POSITIVE_INTEGER,
        "Number of attention heads, each with a width of units.",
    ),
    "model.answering.blocks": Field(
        2,
        rules.POSITIVE_INTEGER,
        "Number of self-attention layers of each encoder and of the decoder.",
    ),
    "model.answering.dropout": Field(0.2, rules.FRACTION, "Dropout rate."),
    "model.answering.per_word": Field(
        True,
        rules.BOOLEAN,
        "Whether the loss of an answer is the mean over its words instead of "
        "the sum.",
    ),
    "model.answering.init": Group(
        "How the weights are initialised, as in model.init.", open=True
    ),
    "evaluation.answering": Group(
        "How answers are searched. Checkpoints are chosen by greedy search.",
        open=True,
    ),
    "evaluation.answering.beam": Field(
        1,
        rules.POSITIVE_INTEGER,
        "Hypotheses of the beam search; 1 for greedy search, as in the paper.",
    ),
    "evaluation.answering.length_penalty": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Exponent of the penalty on short answers; 0 for none.",
    ),
    "evaluation.answering.n_best": Field(
        1, rules.POSITIVE_INTEGER, "Number of answers to each question."
    ),
    "evaluation.answering.max_length": Field(
        100, rules.POSITIVE_INTEGER, "Maximum number of tokens of an answer."
    ),
}
