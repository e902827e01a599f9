"""Every config field: default, rule and sentence, once.

Fields that only one task type has stand in `task_types`. What is printed of
them, for `--help_config` and docs/config_fields.md, comes from `fields_page`.
"""

import functools
import importlib.util
from collections.abc import Mapping
from typing import Any

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Group
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError

Fields = Mapping[str, Field | Group]

_EXPERIMENT: Fields = {
    "name": Field("", rules.TEXT, "The name of the experiment, for reports."),
    "seed": Field(
        0, rules.INTEGER, "Whatever is drawn at random is drawn from it."
    ),
    "tasks": Field(
        ("sample_reviews",),
        rules.TASKS,
        "Names of groups (fdu_mtl) or tasks (fdu_mtl/books), and dicts for "
        "your own files (docs/add_a_task.md).",
    ),
    "train_separately": Field(
        False, rules.BOOLEAN, "One model per task, each on its own."
    ),
}

_TEXT: Fields = {
    "text": Group("How texts become numbers."),
    "text.tokenizer": Group(
        "What splits texts, with the options of the one that is named.",
        open=True,
    ),
    "text.tokenizer.name": Field("whitespace", rules.NAME, "Which tokenizer."),
    "text.tokenizer.lowercase": Field(
        True, rules.BOOLEAN, "Whether texts are lower-cased."
    ),
    "text.max_length": Field(
        400,
        rules.NOT_NEGATIVE_INTEGER,
        "Tokens kept of a text; 0 keeps all. Pairs with a longer source are "
        "not cut but left out of the training.",
    ),
    "text.min_count": Field(
        1,
        rules.POSITIVE_INTEGER,
        "How often a word of the vocabulary occurs at least.",
    ),
    "text.max_size": Field(
        0, rules.NOT_NEGATIVE_INTEGER, "Words in the vocabulary; 0 keeps all."
    ),
    "text.vectors": Field(
        "", rules.TEXT, 'File of pretrained word vectors; "" for none.'
    ),
    "text.vocabulary_tasks": Field(
        (),
        rules.ANY_TASKS,
        "Entries as of tasks, whose training texts the vocabulary is built "
        "on; () for the tasks themselves.",
    ),
    "text.characters": Group(
        "What models read of words as they are written, whether or not the "
        "tokenizer lower-cases them."
    ),
    "text.characters.max_word_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Characters of a word that models read, from both its ends; 0 for "
        "none.",
    ),
    "text.characters.min_count": Field(
        1,
        rules.POSITIVE_INTEGER,
        "How often a known character occurs at least.",
    ),
    "text.casing": Field(
        False,
        rules.BOOLEAN,
        "Whether models read the casing of words as they are written.",
    ),
}

_PIPELINE: Fields = {
    "pipeline": Group("How examples make up batches and steps."),
    "pipeline.batch_size": Field(
        16, rules.POSITIVE_INTEGER, "Examples of one task in a batch."
    ),
    "pipeline.tokens_per_batch": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "If not 0, cells of a batch, in place of batch_size: the longer the "
        "texts, the fewer of them.",
    ),
    "pipeline.buckets": Field(
        5,
        rules.POSITIVE_INTEGER,
        "How many padded lengths are chosen for the training texts.",
    ),
    "pipeline.bucket_multiple": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "The padded lengths are multiples of it; 0: of 8, and of 4 for pairs "
        "of texts.",
    ),
    "pipeline.static_shapes": Field(
        True,
        rules.BOOLEAN,
        "Pad to the bucket's length (for XLA), or only to the longest text of "
        "each batch.",
    ),
    "pipeline.mixing": Group(
        "Which task's batch comes at which step, with the options of the "
        "mixing that is named.",
        open=True,
    ),
    "pipeline.mixing.name": Field("uniform", rules.NAME, "Which mixing."),
    "pipeline.fractions": Group(
        "By task, how much of its training data is used, such as 0.15.",
        open=True,
    ),
}

_MODEL: Fields = {
    "model": Group("The model."),
    "model.embedding_dim": Field(
        200, rules.POSITIVE_INTEGER, "Size of word vectors."
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
    "model.casing_dim": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Size of vectors of how words are written (text.casing); 0 for none.",
    ),
    "model.dropout": Group("Rates of dropout."),
    "model.dropout.embedding": Field(0.0, rules.FRACTION, "On word vectors."),
    "model.dropout.head": Field(
        0.0, rules.FRACTION, "On what a head reads, above its hidden layer."
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
    "model.init": Group(
        "How weights are drawn: name (glorot, uniform or normal) and range.",
        open=True,
    ),
    "model.scheme": Group(
        "The sharing scheme, with the options of the one that is named; the "
        "default is the Meta-LSTM with the paper's sizes.",
        open=True,
    ),
    "model.scheme.name": Field("meta_lstm", rules.NAME, "Which scheme."),
    "model.scheme.units": Field(
        100, rules.POSITIVE_INTEGER, "Units of the encoder's states."
    ),
    "model.scheme.meta_units": Field(
        40, rules.POSITIVE_INTEGER, "Units of the Meta-LSTM, which is shared."
    ),
    "model.scheme.meta_vector": Field(
        40,
        rules.POSITIVE_INTEGER,
        "Size of the vector that weights are generated from.",
    ),
    "model.scheme.bidirectional": Field(
        False, rules.BOOLEAN, "Whether texts are read in both directions."
    ),
    "model.characters": Group(
        "Features of a word's characters: none, cnn (filters, width) or lstm "
        "(units), both with dimension.",
        open=True,
    ),
    "model.characters.name": Field("none", rules.NAME, "Which features."),
}

_TRAINING: Fields = {
    "training": Group("How the model is trained."),
    "training.epochs": Field(
        10, rules.POSITIVE_INTEGER, "Epochs of the joint training."
    ),
    "training.steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "If not 0, where to stop, in place of epochs.",
    ),
    "training.steps_per_epoch": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "What counts as an epoch of the joint training; 0 for a pass over the "
        "data.",
    ),
    "training.evaluate_every": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps between evaluations; 0 for once an epoch.",
    ),
    "training.patience": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Evaluations without a better score before training stops; 0 never "
        "stops it early.",
    ),
    "training.l2": Field(
        1e-5, rules.NOT_NEGATIVE, "Factor of the L2 penalty on weights."
    ),
    "training.l2_embeddings": Field(
        False, rules.BOOLEAN, "Whether word vectors have the penalty, too."
    ),
    "training.clip_norm": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Greatest norm of the whole gradient; 0 does not clip.",
    ),
    "training.loss_weighting": Field(
        "static",
        rules.NAME,
        "How the tasks' losses are weighted: static, uncertainty, or gradnorm "
        "with the options of training.gradnorm, in joint steps.",
    ),
    "training.gradient_surgery": Field(
        "none", rules.NAME, "none, or pcgrad in joint steps."
    ),
    "training.initialize_from": Field(
        "",
        rules.TEXT,
        'A run directory whose best weights a new run starts from; "" for '
        "none. Weights are matched by path, word vectors by word and stacked "
        "ones by the tasks' names.",
    ),
    "training.freeze": Field(
        (),
        rules.NAMES,
        "What is not trained: shared, private, embedding, scheme, heads, or "
        "patterns of weights' paths such as scheme/*/meta_*.",
    ),
    "training.mixed_precision": Field(
        "float32",
        rules.NAME,
        "float32, mixed_bfloat16 or mixed_float16: what the layers of a "
        "Transformer compute in, on float32 weights. mixed_float16 scales the "
        "loss, on one replica.",
    ),
    "training.jit": Field(
        True,
        rules.BOOLEAN,
        "Compile recurrences with XLA: slower to start, faster from then on.",
    ),
    "training.steps_per_call": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps of one call of the compiled function; 0 chooses by itself. It "
        "does not change the result.",
    ),
    "training.checkpoint_seconds": Field(
        60.0,
        rules.POSITIVE,
        "Time between checkpoints within an evaluation period. It does not "
        "change the result.",
    ),
    "training.optimizer": Group("What changes the weights."),
    "training.optimizer.name": Field("adagrad", rules.NAME, "Which optimizer."),
    "training.optimizer.learning_rate": Field(
        0.1, rules.POSITIVE, "The learning rate, before its schedule."
    ),
    "training.optimizer.embedding_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "That of word vectors; 0 for the same as the other parameters.",
    ),
    "training.optimizer.schedule": Field(
        "constant",
        rules.NAME,
        "How the learning rate goes on after the warm-up: constant, linear, "
        "cosine or inverse_sqrt.",
    ),
    "training.optimizer.warmup_steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps in which the learning rate comes from 0 to its value.",
    ),
    "training.optimizer.lazy": Field(
        False,
        rules.BOOLEAN,
        "Change only the word vectors of words that a step has read.",
    ),
    "training.optimizer.options": Group(
        "Options of the named optimizer itself, such as beta_1.", open=True
    ),
    "training.gradnorm": Group("Options of the loss weighting gradnorm."),
    "training.gradnorm.alpha": Field(
        1.5,
        rules.NOT_NEGATIVE,
        "How strongly tasks that learn slowly are favoured.",
    ),
    "training.gradnorm.learning_rate": Field(
        0.025, rules.POSITIVE, "Learning rate of the tasks' weights."
    ),
    "training.fine_tune": Group("Training per task after the joint one."),
    "training.fine_tune.epochs": Field(
        0, rules.NOT_NEGATIVE_INTEGER, "Epochs for each task; 0 for none."
    ),
    "training.fine_tune.scope": Field(
        "private",
        rules.NAME,
        "private (only the tasks' own parameters: one model remains) or all "
        "(a copy of the model for each task).",
    ),
    "training.fine_tune.learning_rate": Field(
        0.0, rules.NOT_NEGATIVE, "0 for that of the joint training."
    ),
}

_EVALUATION: Fields = {
    "evaluation": Group("How the trained model is scored."),
    "evaluation.splits": Field(
        ("test",), rules.SOME_NAMES, "On which splits; results name the first."
    ),
    "evaluation.batch_size": Field(
        64, rules.POSITIVE_INTEGER, "Examples at a time."
    ),
    "evaluation.group": Field(
        (),
        rules.ANY_TASKS,
        "Entries as of tasks: a test text that is among the training texts of "
        "any of them is not in the clean part; () for the tasks themselves.",
    ),
    "cross_validation": Group(
        "Folds in place of the corpora's own splits (mtl_tf/tasks/folds.py)."
    ),
    "cross_validation.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "In how many folds the examples are divided; 0 for none.",
    ),
    "cross_validation.fold": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Which fold is tested, from 0; the others are trained on.",
    ),
    "sweep": Group("What launch.sweep tries. Training itself ignores it."),
    "sweep.grid": Field(
        "",
        rules.TEXT,
        "Fields and their values, such as training.l2=0,1e-5;"
        "training.optimizer.learning_rate=0.1,0.01.",
    ),
    "sweep.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Folds of cross-validation, a run each; 0 for none.",
    ),
    "sweep.seeds": Field(
        1, rules.POSITIVE_INTEGER, "How many seeds, from seed on."
    ),
}


#: What fields and groups were called before: old path -> path. Configs of
#: run directories are renamed when they are read (`runs.upgrading`).
RENAMED = {"pipeline.schedule": "pipeline.mixing"}


@functools.cache
def by_task_type() -> dict[str, Fields]:
    """The fields, by dotted path, by the task type that alone has them.

    Those of no one type are the fields of "".
    """
    common = (_EXPERIMENT, _TEXT, _PIPELINE, _MODEL, _TRAINING, _EVALUATION)
    found = {
        "": {path: field for part in common for path, field in part.items()}
    }
    package = "mtl_tf.configs.task_types"
    for name in task_types.NAMES:
        if importlib.util.find_spec(f"{package}.{name}"):
            found[name] = task_types.find(package, name)
    return found


@functools.cache
def every() -> Fields:
    """All fields and groups by dotted path, a group before its fields."""
    return {
        path: field
        for fields in by_task_type().values()
        for path, field in fields.items()
    }


def is_open(path: str) -> bool:
    """Whether a group may have fields that are not among `every()`."""
    group = every().get(path)
    return isinstance(group, Group) and group.open


def defaults(path: str = "") -> dict[str, Any]:
    """The defaults of all fields, or of those of a group, as nested dicts."""
    tree: dict[str, Any] = {}
    for name, field in every().items():
        *parents, last = name.split(".")
        here = tree
        for parent in parents:
            here = here[parent]
        here[last] = {} if isinstance(field, Group) else field.default
    for name in filter(None, path.split(".")):
        tree = tree[name]
    return tree


def check_renamed(path: str) -> None:
    """Refuses the name that a field, or the group it is in, had before.

    Raises:
        ConfigError: it has another name by now, which the message says.
    """
    for old, new in RENAMED.items():
        if f"{path}.".startswith(f"{old}."):
            raise ConfigError(
                f"the config field {path} is called "
                f"{new}{path.removeprefix(old)} by now"
            )
