"""Every config field: default, rule and sentence, once.

The fields of the model stand in `model_fields`, those of the training in
`training_fields`, those of scoring in `evaluation_fields`, those that only one
task type has in `task_types`. What is printed of them, for `--help_config` and
docs/config_fields.md, comes from `fields_page`.
"""

import functools
import importlib.util
from collections.abc import Iterator
from typing import Any

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.evaluation_fields import EVALUATION
from mtl_tf.config_fields.field import Field, Fields, Group
from mtl_tf.config_fields.model_fields import MODEL
from mtl_tf.config_fields.training_fields import TRAINING
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError

_EXPERIMENT: Fields = {
    "name": Field("", rules.TEXT, "Name of the experiment, for reports."),
    "seed": Field(
        0,
        rules.INTEGER,
        "Seed of all random draws. It does not change which examples a run "
        "has: folds, held-out parts and pipeline.fractions are the same for "
        "every seed.",
    ),
    "tasks": Field(
        ("sample_reviews",),
        rules.TASKS,
        "Tasks to train: names of groups (fdu_mtl) or of tasks "
        "(fdu_mtl/books), and dicts for your own files (docs/add_a_task.md).",
    ),
    "train_separately": Field(
        False,
        rules.BOOLEAN,
        "Whether to train one model per task instead of one model for all "
        "tasks.",
    ),
}

_TEXT: Fields = {
    "text": Group("How texts become numbers."),
    "text.tokenizer": Group(
        "The tokenizer, with its options.",
        open=True,
    ),
    "text.tokenizer.name": Field(
        "whitespace",
        rules.NAME,
        "Name of the tokenizer: whitespace, treebank (splits raw English like "
        "the Penn Treebank), regex (option pattern), reversible (options "
        "plain_words, split_unspaced), sentencepiece, or FILE.py:CLASS of your "
        "own (docs/own_code.md).",
    ),
    "text.tokenizer.lowercase": Field(
        True, rules.BOOLEAN, "Whether to lower-case texts."
    ),
    "text.max_length": Field(
        400,
        rules.NOT_NEGATIVE_INTEGER,
        "Maximum number of tokens of a text; longer texts are cut. 0 keeps "
        "all tokens. Translation pairs with a longer source are not cut but "
        "left out of training.",
    ),
    "text.min_count": Field(
        1,
        rules.POSITIVE_INTEGER,
        "Minimum number of occurrences of a word in the vocabulary.",
    ),
    "text.max_size": Field(
        0,
        rules.VOCABULARY_SIZE,
        "Maximum size of the vocabulary, including the entries for padding "
        "and unknown words. 0 keeps all words; sentencepiece then learns "
        "8,000 pieces.",
    ),
    "text.vectors": Field(
        "",
        rules.TEXT,
        'File of pretrained word vectors; "" for none. The vocabulary then '
        "also has the words of other splits that are in this file. This uses "
        "no labels.",
    ),
    "text.vocabulary_tasks": Field(
        (),
        rules.ANY_TASKS,
        "Tasks whose training texts the vocabulary is built on, with entries "
        "as in tasks. () takes the trained tasks; with train_separately, all "
        "of them.",
    ),
    "text.characters": Group(
        "The characters of words. They keep their case, even if the tokenizer "
        "lower-cases texts."
    ),
    "text.characters.max_word_length": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Maximum number of characters that are read of a word. A longer word "
        "loses its middle. 0 reads no characters.",
    ),
    "text.characters.min_count": Field(
        1,
        rules.POSITIVE_INTEGER,
        "Minimum number of occurrences of a character; rarer characters are "
        "unknown.",
        needs=("text.characters.max_word_length",),
    ),
    "text.casing": Field(
        False,
        rules.BOOLEAN,
        "Whether the model reads the casing of words. It is that of the "
        "original text, even if the tokenizer lower-cases texts.",
    ),
}

_PIPELINE: Fields = {
    "pipeline": Group("How examples become batches and steps."),
    "pipeline.batch_size": Field(
        16,
        rules.POSITIVE_INTEGER,
        "Examples per batch. All of them belong to one task.",
    ),
    "pipeline.tokens_per_batch": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "If not 0, the maximum number of tokens in a batch, including "
        "padding. It replaces batch_size: batches of longer texts have fewer "
        "examples.",
    ),
    "pipeline.token_weights": Group(
        "Weights of tokens in tokens_per_batch, by time axis, such as answer. "
        "The default weight is 1; axes with weight 0 are not counted.",
        open=True,
    ),
    "pipeline.buckets": Field(
        5,
        rules.POSITIVE_INTEGER,
        "Number of lengths to which training texts are padded. The lengths "
        "are chosen from the training texts.",
    ),
    "pipeline.buckets_per_task": Field(
        False,
        rules.BOOLEAN,
        "Whether each task has this number of lengths, chosen from its own "
        "texts. This needs less padding if tasks differ in length, but more "
        "shapes are compiled. Not for joint steps.",
    ),
    "pipeline.bucket_multiple": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Padded lengths are multiples of this number. 0 takes 8, or 4 for "
        "pairs of texts.",
    ),
    "pipeline.static_shapes": Field(
        True,
        rules.BOOLEAN,
        "Whether to pad each batch to the length of its bucket (for XLA). If "
        "False, to its longest text.",
    ),
    "pipeline.storage": Field(
        "auto",
        rules.one_of("auto", "memory", "disk"),
        "Where encoded examples are kept. disk keeps them in files in the run "
        "directory, so that memory does not grow with them. auto takes the "
        "disk above 200,000 examples. Results are the same.",
    ),
    "pipeline.service": Field(
        "",
        rules.SERVICE,
        "Address of the dispatcher of a tf.data service "
        "(launch.data_service), whose workers make the training batches; '' "
        "for none. Results are the same.",
    ),
    "pipeline.mixing": Group(
        "The task mixing: which task has its batch at which step. With the "
        "options of the named mixing.",
        open=True,
    ),
    "pipeline.mixing.name": Field(
        "uniform",
        rules.NAME,
        "Name of the mixing, or FILE.py:CLASS of your own (docs/own_code.md).",
    ),
    "pipeline.fractions": Group(
        "Fraction of the training data to use, by task, such as 0.15.",
        open=True,
    ),
}

#: Groups whose fields are names of tasks. Each may be set, also if the config
#: does not have it.
BY_TASK = (
    "pipeline.fractions",
    "pipeline.mixing.weights",
    "training.loss_weights",
)

#: Of the fields of a config. 2: where a scheme's options do not say it, forget
#: gates start at 1, and ASP's penalty is the paper's; before, without a
#: version, they started at 0, and the penalty was divided by n squared. 3: the
#: loss of a tagged sentence is that of a token. 4: the defaults of model and
#: training are for one's own data; before, they were a paper's. 5: validation
#: examples choose shares of the encoder. 6: the words of a context of several
#: questions count once.
VERSION = 6

#: What fields and groups were called before: old path -> path. Configs of
#: run directories are renamed when they are read (`config_fields.older`).
RENAMED = {"pipeline.schedule": "pipeline.mixing"}


@functools.cache
def by_task_type() -> dict[str, Fields]:
    """The fields, by dotted path, by the task type that alone has them.

    Those of no one type are the fields of "".
    """
    common = (_EXPERIMENT, _TEXT, _PIPELINE, MODEL, TRAINING, EVALUATION)
    declared = {
        "": {
            path: field
            for declarations in common
            for path, field in declarations.items()
        }
    }
    package = "mtl_tf.config_fields.task_types"
    for name in task_types.NAMES:
        if importlib.util.find_spec(f"{package}.{name}"):
            declared[name] = task_types.find(package, name)
    return declared


@functools.cache
def every() -> Fields:
    """All fields and groups by dotted path, a group before its fields."""
    return {
        path: field
        for fields in by_task_type().values()
        for path, field in fields.items()
    }


def names_of(path: str) -> list[str]:
    """The parts of a path; a task's name is one, whatever it holds."""
    for group in BY_TASK:
        if path.startswith(f"{group}."):
            return [*group.split("."), path[len(group) + 1 :]]
    return path.split(".")


def is_open(path: str) -> bool:
    """Whether a group may have fields that are not among `every()`."""
    group = every().get(path)
    return isinstance(group, Group) and group.open


def defaults(path: str = "", version: int = 2**31) -> dict[str, Any]:
    """The defaults of all fields, or of those of a group, as nested dicts.

    Args:
        path: of the group, "" for all.
        version: of the configs that they complete; today's by default.
    """
    tree: dict[str, Any] = {}
    for name, field in every().items():
        *parents, last = name.split(".")
        branch = tree
        for parent in parents:
            branch = branch[parent]
        group = isinstance(field, Group)
        branch[last] = {} if group else field.default_of(version)
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


def namesakes(path: str, config: Any = None) -> list[str]:
    """Where fields are that have the last name of a path.

    Args:
        path: of a field that does not exist.
        config: a config, whose choices may have options that are no fields
            by themselves.

    Returns:
        Whole names, those first that share the most of the path.
    """
    last, parts = path.rpartition(".")[2], set(path.split("."))
    names = {**every(), **dict.fromkeys(_paths("", config))}
    matches = [n for n in names if n.rpartition(".")[2] == last and n != path]
    return sorted(matches, key=lambda n: -len(parts & set(n.split("."))))


def _paths(path: str, config: Any) -> Iterator[str]:
    """All names in a mapping or a ConfigDict."""
    for name, value in config.items() if hasattr(config, "items") else ():
        whole = f"{path}.{name}" if path else str(name)
        yield whole
        yield from _paths(whole, value)
