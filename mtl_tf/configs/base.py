"""What configs start from, and what several of them share."""

from ml_collections import config_dict

from mtl_tf.config_fields import fields


def default_config() -> config_dict.ConfigDict:
    """Every field a config can have, with its default.

    The defaults of the training and of the model are those of `starter`, for
    one's own data, without what only texts with labels have; the papers'
    configs start from `paper_config`. docs/config_fields.md says what each
    field does, as does `--help_config` of the programs. A config file starts
    from this and changes what its experiment needs:

        def get_config():
            config = base.default_config()
            config.name = "mine"
            config.tasks = ("fdu_mtl",)
            return config

    `text.tokenizer`, `pipeline.mixing`, `model.scheme` and
    `model.characters` hold the options of the choice they name: replace them
    as a whole for another choice, in the file by
    `config.pipeline.mixing = config_dict.ConfigDict({...})`, on the command
    line by `--config.pipeline.mixing="{'name': ...}"`.

    Returns:
        A new `ConfigDict`.
    """
    return config_dict.ConfigDict(fields.defaults())


def paper_config() -> config_dict.ConfigDict:
    """What the papers' configs start from: as Chen et al. (2018) train.

    Their Meta-LSTM, word vectors of 200, Adagrad (0.1), L2 (1e-5) and batch
    (16); no dropout, no clipping, and a fixed number of epochs.

    Returns:
        A new `ConfigDict`.
    """
    config = default_config()
    config.model.embedding_dim = 200
    config.model.scheme = config_dict.ConfigDict(meta_lstm())
    config.model.dropout.embedding = config.model.dropout.head = 0.0
    training = config.training
    training.epochs, training.patience = 10, 0
    training.clip_norm, training.l2 = 0.0, 1e-5
    training.optimizer.name = "adagrad"
    training.optimizer.learning_rate = 0.1
    return config


def fdu_mtl(name: str) -> config_dict.ConfigDict:
    """What the experiments on FDU-MTL share, so that they compare.

    The paper's Adagrad (0.1), L2 (1e-5) and batch (16). It does not say where
    Adagrad's sums start, nor how weights are drawn: without pretrained
    vectors, sums from Keras's 0.1 and small word vectors hold the Meta-LSTM
    at chance for epochs, and sums near 0 let it diverge. Sums from 0.001,
    gradients clipped at norm 1 and word vectors within 0.5 do neither.

    Pretrained word vectors are fine-tuned, as in the paper, but at 0.01, by
    models of one task at 0.001 (`alone`): at 0.1 an LSTM knows the 1,400
    texts of a task by heart within a few epochs
    (docs/results/meta_mtl_chen2018.md).
    """
    config = paper_config()
    config.name = name
    config.tasks = ("fdu_mtl",)
    config.model.init.range = 0.5
    config.training.epochs = 8
    config.training.clip_norm = 1.0
    config.training.optimizer.options.initial_accumulator_value = 1e-3
    config.training.optimizer.pretrained_learning_rate = 1e-2
    return config


def alone(
    config: config_dict.ConfigDict,
    epochs: int = 30,
    patience: int = 6,
    vectors_rate: float = 1e-3,
) -> None:
    """Makes a config of one model a task, whose length validation decides.

    Args:
        config: what is changed.
        epochs: at most.
        patience: evaluations, one an epoch, without a better score.
        vectors_rate: the rate of pretrained word vectors that have a rate of
            their own.
    """
    config.train_separately = True
    config.training.epochs = epochs
    config.training.patience = patience
    if config.training.optimizer.pretrained_learning_rate:
        config.training.optimizer.pretrained_learning_rate = vectors_rate


TAGGING_FEATURES = ("words", "characters", "best")


def tagging(name: str, task: str, features: str) -> config_dict.ConfigDict:
    """What the experiments on one tagging task share beyond the papers.

    A bidirectional LSTM below a CRF, with embeddings and states of 100 as in
    Chen et al. (2018), from words alone or also from their characters (the
    CNN of Ma and Hovy 2016, with more filters) and casing. They start from
    random vectors; the settings were chosen on validation sentences.

    Args:
        name: the config's.
        task: the task's.
        features: one of `TAGGING_FEATURES`; `best` is larger.
    """
    config = paper_config()
    config.name = f"{name}_{features}"
    config.tasks = (task,)
    config.text.max_length = 0
    config.pipeline.buckets = 6
    config.model.embedding_dim = 100
    config.model.scheme = config_dict.ConfigDict(
        {**lstm(), "bidirectional": True}
    )
    config.model.dropout = config_dict.ConfigDict(
        {"embedding": 0.5, "head": 0.5}
    )
    config.model.tagging.per_token = False
    # Of all words: that teaches the unknown one, too.
    config.model.word_dropout = 0.05
    config.model.rare_word_dropout = 0.0
    config.training.epochs = 12
    config.training.clip_norm = 5.0
    config.training.l2 = 0.0
    config.training.optimizer.name = "adam"
    config.training.optimizer.learning_rate = 2e-3
    config.training.optimizer.schedule = "linear"
    if features != "words":
        spelling(config, filters=50 if features == "characters" else 100)
    if features == "best":
        # Two layers; of several tasks the upper one is each task's own. What
        # a word that occurs once would have learnt, its characters say.
        config.text.min_count = 2
        config.model.word_dropout = 0.0
        config.model.scheme = config_dict.ConfigDict(
            {
                "name": "ssp",
                "units": 150,
                "private_input": "shared",
                **recurrent(bidirectional=True),
            }
        )
        config.pipeline.mixing = config_dict.ConfigDict({"name": "joint"})
    return config


def spelling(config: config_dict.ConfigDict, filters: int) -> None:
    """Adds features of characters and casing."""
    config.text.characters.max_word_length = 20
    config.text.casing = True
    config.model.casing_dim = 10
    config.model.characters = config_dict.ConfigDict(
        {"name": "cnn", "dimension": 30, "filters": filters, "width": 3}
    )


def wide(config: config_dict.ConfigDict) -> None:
    """Adds hashed n-grams of words, or of an encoder's pieces."""
    config.model.wide.buckets = 1 << 18
    config.model.wide.dimension = 2
    config.model.wide.dropout = 0.3
    # The heads read the wide part, which has a dropout of its own.
    config.model.dropout.head = 0.0
    config.training.optimizer.wide_learning_rate = 3e-2
    config.training.optimizer.lazy = True


def questions(config: config_dict.ConfigDict) -> None:
    """Makes texts and batches those of questions (McCann et al. 2018).

    Words that occur once in the training texts teach the vector of the unknown
    word, and the model to copy what it does not know; their character n-grams
    are hashed and learnt. Tokens of an answer count five times.
    """
    config.text.tokenizer = config_dict.ConfigDict(
        {"name": "reversible", "lowercase": True, "plain_words": True}
    )
    config.text.min_count = 2
    config.text.ngrams.buckets = 100_000
    config.pipeline.token_weights = config_dict.ConfigDict(
        {"answer": 5, "own_words": 0}
    )
    config.pipeline.buckets = 8
    config.pipeline.buckets_per_task = True
    config.model.embedding_dim = 300


def shared_memory(table: str, row: str) -> config_dict.ConfigDict:
    """What the two tables of Liu et al. (2016) share: sizes, rows, batches.

    The paper's sizes (embeddings and hidden states 100, memory 50 x 20),
    Adagrad, batch (16) and parameters drawn within [-0.1, 0.1]. It does not
    say where Adagrad's sums start: from 0.001 they let small word vectors
    grow, which without pretrained ones an LSTM needs to leave chance at
    either learning rate; gradients are clipped at norm 1 for it. Pretrained
    word vectors are fine-tuned at 0.001 (see `fdu_mtl`), by MT-DNN, a bag of
    words that has little else to learn, at 0.01: better on validation texts.

    Args:
        table: the config's name.
        row: one of `SHARED_MEMORY_ROWS`.
    """
    config = paper_config()
    config.name = f"{table}_{row}"
    config.model.embedding_dim = 100
    if row == "mt_cnn":
        # Its lookup tables are shared in part: the others' 100 dimensions,
        # which may be pretrained, and 50 of each task's own.
        config.model.embedding_dim = 150
        config.model.embedding_private_dim = 50
    config.model.init = config_dict.ConfigDict(
        {"name": "uniform", "range": 0.1}
    )
    config.model.scheme = config_dict.ConfigDict(SHARED_MEMORY_ROWS[row])
    config.training.clip_norm = 1.0
    config.training.optimizer.options.initial_accumulator_value = 1e-3
    # A bag of words learns little or nothing but its vectors.
    rate = {"mt_dnn": 1e-2, "nbow": 1e-1}.get(row, 1e-3)
    config.training.optimizer.pretrained_learning_rate = rate
    return config


def recurrent(bidirectional: bool = False) -> dict:
    """The options that all recurrent schemes have, so that one can set them."""
    return {
        "pooling": "last",
        "forget_bias": 1.0,
        "bidirectional": bidirectional,
    }


def _memory(name: str, **options) -> dict:
    return {
        "name": name,
        "units": 100,
        "memory_slots": 50,
        "memory_width": 20,
        "align": "cosine",
        **options,
        **recurrent(),
    }


# Rows of single models.
SHARED_MEMORY_SINGLE = ("lstm", "me_lstm", "nbow")

# Row of a table of Liu et al. (2016) -> its scheme. The paper gives no sizes
# of MT-CNN and MT-DNN: they have its 100 hidden units. Nor does it say how a
# bag of words is made: MT-DNN's is a mean, since the sum of a review's two
# hundred word vectors saturates its hidden layer, which then learns nothing.
SHARED_MEMORY_ROWS = {
    "lstm": {
        "name": "lstm",
        "units": 100,
        "sharing": "shared",
        **recurrent(),
    },
    "me_lstm": _memory("me_lstm", sharing="private"),
    "arc_i": _memory("arc_i"),
    "arc_ii": _memory("arc_ii"),
    "mt_cnn": {"name": "mt_cnn", "filters": 100, "widths": (3, 4, 5)},
    "mt_dnn": {"name": "mt_dnn", "units": 100, "bag": "mean"},
    "nbow": {"name": "nbow"},
}


def meta_lstm() -> dict:
    """The Meta-LSTM scheme with the paper's sizes (h 100, m = z = 40)."""
    return {
        "name": "meta_lstm",
        "units": 100,
        "meta_units": 40,
        "meta_vector": 40,
        **recurrent(),
    }


def lstm(sharing: str = "shared") -> dict:
    """The LSTM scheme with the paper's size (h 100).

    Args:
        sharing: `shared` (one LSTM for all tasks) or `private` (one each).
    """
    return {
        "name": "lstm",
        "units": 100,
        "sharing": sharing,
        **recurrent(),
    }
