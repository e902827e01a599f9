"""The fields of every config, with their defaults."""

from ml_collections import config_dict

# The schemes that are Transformers, and how many learned positions they have
# where a config does not say.
TRANSFORMERS = ("s_p", "s_c", "l_i", "l_e")
MAX_POSITIONS = 512


def default_config() -> config_dict.ConfigDict:
    """Every field a config can have.

    A config file starts from this and changes what its experiment needs:

        def get_config():
            config = base.default_config()
            config.name = "mine"
            config.tasks = ("fdu_mtl",)
            return config

    `text.tokenizer`, `pipeline.schedule`, `model.scheme` and
    `model.characters` hold the options of the choice they name: replace them
    as a whole for another choice, in the file by
    `config.pipeline.schedule = config_dict.ConfigDict({...})`, on the command
    line by `--config.pipeline.schedule="{'name': ...}"`.

    Returns:
        A new `ConfigDict`. Of its fields:

        *   `tasks`: names of groups (`fdu_mtl`) or tasks (`fdu_mtl/books`),
            and dicts for your own files (docs/add_a_task.md).
        *   `train_separately`: one model per task, each on its own.
        *   `model.embedding_private_dim`: how many of `embedding_dim` come
            from a table of the task's own; pretrained vectors have the size
            of the rest. `model.head.hidden_units`: of a hidden layer below
            the heads, which `model.dropout.head` is above; 0 for none.
            `model.head.sharing`: `private` (each task has its own) or
            `shared` (one for all, which then need equally many labels).
            `model.tagging`: how tagging tasks are decoded (`crf`, or
            `softmax` for every token by itself), and whether a CRF forbids
            transitions that the labels' span scheme does not have.
            `model.characters`: features of a word's characters, `none`,
            `cnn` (`filters`, `width`) or `lstm` (`units`), both with
            `dimension`. `model.casing_dim`: size of vectors of how words are
            written; 0 for none. `model.word_dropout`: fraction of the words
            that are unknown in training.
        *   `text.max_length`: tokens kept of a text; 0 keeps all.
            `text.max_size`: words in the vocabulary; 0 keeps all.
            `text.vectors`: file of pretrained vectors; "" for none.
            `text.vocabulary_tasks`: entries as of `tasks`, whose training
            texts the vocabulary is built on; () for the tasks themselves.
            `text.characters.max_word_length`: characters of a word that models
            read, from both its ends; 0 for none. `text.casing`: whether they
            read its casing. Both are of words as they are written, whether
            or not the tokenizer lower-cases them.
            `text.tokenizers`: of translation tasks, by language, where it is
            not `text.tokenizer`. Pairs longer than `text.max_length` and
            `text.target_max_length` (0: no limit), or with one text more than
            `text.max_ratio` times as long as the other (0: no limit), are left
            out of their training.
        *   `pipeline.buckets`: how many padded lengths are chosen for the
            training texts, multiples of `pipeline.bucket_multiple` (0: of 8,
            and of 4 for pairs of texts).
            `pipeline.tokens_per_batch`: if not 0, cells of a batch, in place
            of `pipeline.batch_size`: the longer the texts, the fewer of them.
            `pipeline.static_shapes`: pad to the bucket's length (for XLA), or
            only to the longest text of each batch. `pipeline.fractions`: by
            task, how much of its training data is used, such as 0.15.
        *   `model.translation`: the model of translation tasks, to which
            nothing else of `model` applies; its fields are those of
            `mtl_tf.models.multi_target.build_translation_model`.
            `evaluation.decoding`: how test texts and those of
            `launch.predict` are translated; checkpoints are chosen by greedy
            search.
        *   `evaluation.paper_scoring`: score translations also against
            references whose words are restricted to the training vocabulary.
        *   `training.steps`: where to stop, in place of `epochs`, if not 0.
            `training.steps_per_epoch`: what counts as an epoch of the joint
            training; 0 for a pass over the data.
            `training.evaluate_every`: steps between evaluations; 0 for once
            an epoch. `training.patience`: evaluations without a better score
            before training stops; 0 never stops it early.
            `training.clip_norm`: 0 does not clip.
            `training.steps_per_call`: 0 chooses by itself.
            `training.checkpoint_seconds`: time between checkpoints within an
            evaluation period. Neither changes the result.
            `training.jit`: compile recurrences with XLA. Slower to start,
            faster from then on.
            `training.mixed_precision`: float32, mixed_bfloat16 or
            mixed_float16: what the layers of a Transformer compute in, on
            float32 weights. mixed_float16 scales the loss, on one replica.
            `training.fine_tune.epochs`: per-task fine-tuning after the joint
            training; `scope` is `private` (only the tasks' own parameters:
            one model remains) or `all` (a copy of the model for each task);
            `learning_rate`: 0 for that of the joint training.
            `training.initialize_from`: a run directory whose best weights a
            new run starts from; "" for none. Weights are matched by path,
            word vectors by word and stacked ones by the tasks' names.
            `training.freeze`: what is not trained: `shared`, `private`,
            `embedding`, `scheme`, `heads`, or patterns of weights' paths such
            as `scheme/*/meta_*`.
            `training.loss_weighting`: static, uncertainty, or gradnorm with
            the options of `training.gradnorm`.
            `training.gradient_surgery`: none or pcgrad. It and gradnorm need
            the schedule `joint`.
            `training.optimizer.embedding_learning_rate`: 0 for the same as
            the other parameters; `.schedule` is the learning rate's
            (constant, linear, cosine, inverse_sqrt), after `.warmup_steps`;
            `.options` are the named optimizer's own, such as `beta_1`.
        *   `cross_validation.folds`: 0 takes the corpora's own splits; k
            divides the examples in k folds, tests fold `.fold` (from 0) and
            trains on the others (mtl_tf/tasks/folds.py).
        *   `sweep`: what `launch.sweep` tries: `grid`, such as
            "training.l2=0,1e-5;training.optimizer.learning_rate=0.1,0.01",
            `folds` of cross-validation (0: none) and the number of `seeds`.
            Training itself ignores it.
    """
    return config_dict.ConfigDict(
        {
            "name": "",
            "seed": 0,
            "tasks": ("sample_reviews",),
            "train_separately": False,
            "text": _text(),
            "pipeline": _pipeline(),
            "model": _model(),
            "training": _training(),
            "evaluation": {
                "splits": ("test",),
                "batch_size": 64,
                "group": (),
                "paper_scoring": False,
                "decoding": _decoding(),
            },
            "cross_validation": {"folds": 0, "fold": 0},
            "sweep": {"grid": "", "folds": 0, "seeds": 1},
        }
    )


def fdu_mtl(name: str) -> config_dict.ConfigDict:
    """What the experiments on FDU-MTL share, so that they compare.

    The paper's Adagrad (0.1), L2 (1e-5) and batch (16). It does not say where
    Adagrad's sums start, nor how weights are drawn: without pretrained
    vectors, sums from Keras's 0.1 and small word vectors hold the Meta-LSTM
    at chance for epochs, and sums near 0 let it diverge. Sums from 0.001,
    gradients clipped at norm 1 and word vectors within 0.5 do neither.
    """
    config = default_config()
    config.name = name
    config.tasks = ("fdu_mtl",)
    config.model.init.range = 0.5
    config.training.epochs = 8
    config.training.clip_norm = 1.0
    config.training.optimizer.options.initial_accumulator_value = 1e-3
    return config


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
    config = default_config()
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
    config.model.word_dropout = 0.05
    config.training.epochs = 12
    config.training.clip_norm = 5.0
    config.training.l2 = 0.0
    config.training.optimizer.name = "adam"
    config.training.optimizer.learning_rate = 2e-3
    config.training.optimizer.schedule = "linear"
    if features != "words":
        _spelling(config, filters=50 if features == "characters" else 100)
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
                "bidirectional": True,
            }
        )
        config.pipeline.schedule = config_dict.ConfigDict({"name": "joint"})
    return config


def _spelling(config: config_dict.ConfigDict, filters: int) -> None:
    """Adds features of characters and casing."""
    config.text.characters.max_word_length = 20
    config.text.casing = True
    config.model.casing_dim = 10
    config.model.characters = config_dict.ConfigDict(
        {"name": "cnn", "dimension": 30, "filters": filters, "width": 3}
    )


def shared_memory(table: str, row: str) -> config_dict.ConfigDict:
    """What the two tables of Liu et al. (2016) share: sizes, rows, batches.

    The paper's sizes (embeddings and hidden states 100, memory 50 x 20),
    Adagrad, batch (16) and parameters drawn within [-0.1, 0.1]. It does not
    say where Adagrad's sums start: from 0.001 they let small word vectors
    grow, which without pretrained ones an LSTM needs to leave chance at
    either learning rate; gradients are clipped at norm 1 for it.

    Args:
        table: the config's name.
        row: one of `SHARED_MEMORY_ROWS`.
    """
    config = default_config()
    config.name = f"{table}_{row}"
    config.train_separately = row in ("lstm", "me_lstm", "nbow")
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
    return config


def _memory(name: str, **options) -> dict:
    return {
        "name": name,
        "units": 100,
        "memory_slots": 50,
        "memory_width": 20,
        "align": "cosine",
        **options,
        "bidirectional": False,
    }


# Row of a table of Liu et al. (2016) -> its scheme. The paper gives no sizes
# of MT-CNN and MT-DNN: they have its 100 hidden units. Nor does it say how a
# bag of words is made: MT-DNN's is a mean, since the sum of a review's two
# hundred word vectors saturates its hidden layer, which then learns nothing.
SHARED_MEMORY_ROWS = {
    "lstm": {
        "name": "lstm",
        "units": 100,
        "sharing": "shared",
        "bidirectional": False,
    },
    "me_lstm": _memory("me_lstm", sharing="private"),
    "arc_i": _memory("arc_i"),
    "arc_ii": _memory("arc_ii"),
    "mt_cnn": {"name": "mt_cnn", "filters": 100, "widths": (3, 4, 5)},
    "mt_dnn": {"name": "mt_dnn", "units": 100, "bag": "mean"},
    "nbow": {"name": "nbow"},
}


def _text() -> dict:
    return {
        "tokenizer": {"name": "whitespace", "lowercase": True},
        "max_length": 400,
        "min_count": 1,
        "max_size": 0,
        "vectors": "",
        "vocabulary_tasks": (),
        "characters": {"max_word_length": 0, "min_count": 1},
        "casing": False,
        "tokenizers": {},
        "target_max_length": 0,
        "max_ratio": 0.0,
    }


def _pipeline() -> dict:
    return {
        "batch_size": 16,
        "tokens_per_batch": 0,
        "buckets": 5,
        "bucket_multiple": 0,
        "static_shapes": True,
        "schedule": {"name": "uniform"},
        "fractions": {},
    }


def _model() -> dict:
    return {
        "embedding_dim": 200,
        "embedding_private_dim": 0,
        "embedding_trainable": True,
        "dropout": {"embedding": 0.0, "head": 0.0},
        "head": {"hidden_units": 0, "sharing": "private"},
        "init": {},
        "scheme": meta_lstm(),
        "translation": _translation(),
        "tagging": {"decoder": "crf", "constraints": True},
        "characters": {"name": "none"},
        "casing_dim": 0,
        "word_dropout": 0.0,
    }


def _translation() -> dict:
    return {
        "embedding_dim": 256,
        "units": 256,
        "attention_units": 0,
        "readout_units": 0,
        "bias": True,
        "dropout": {"embedding": 0.0, "encoding": 0.0, "readout": 0.0},
        "label_smoothing": 0.0,
        "output": {"name": "full", "samples": 0},
        "init": {},
    }


def _decoding() -> dict:
    return {
        "beam": 10,
        "length_penalty": 0.0,
        "replace_unknown": False,
        "n_best": 1,
        "max_length": 0,
    }


def meta_lstm() -> dict:
    """The Meta-LSTM scheme with the paper's sizes (h 100, m = z = 40)."""
    return {
        "name": "meta_lstm",
        "units": 100,
        "meta_units": 40,
        "meta_vector": 40,
        "bidirectional": False,
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
        "bidirectional": False,
    }


def _training() -> dict:
    return {
        "epochs": 10,
        "steps": 0,
        "steps_per_epoch": 0,
        "optimizer": {
            "name": "adagrad",
            "learning_rate": 0.1,
            "embedding_learning_rate": 0.0,
            "schedule": "constant",
            "warmup_steps": 0,
            "lazy": False,
            "options": {},
        },
        "l2": 1e-5,
        "l2_embeddings": False,
        "clip_norm": 0.0,
        "loss_weighting": "static",
        "gradnorm": {"alpha": 1.5, "learning_rate": 0.025},
        "gradient_surgery": "none",
        "initialize_from": "",
        "freeze": (),
        "evaluate_every": 0,
        "patience": 0,
        "fine_tune": {"epochs": 0, "scope": "private", "learning_rate": 0.0},
        "steps_per_call": 0,
        "checkpoint_seconds": 60.0,
        "jit": True,
        "mixed_precision": "float32",
    }
