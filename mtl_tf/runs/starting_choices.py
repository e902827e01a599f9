"""Whether a config's choices have right options, and what it starts from."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from mtl_tf.runs import initializing, systems, teacher_kinds
from mtl_tf.tasks.task import Task
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.training.optimizers import freezing
from mtl_tf.training.optimizers.learning_rates import WarmupThen
from mtl_tf.training.optimizers.optimizers import make_optimizer


def check(config: Mapping[str, Any], types: Collection[str]) -> None:
    """Refuses wrong choices; it reads no data.

    Args:
        config: the plain config.
        types: the types of its tasks.

    Raises:
        ConfigError: an option is wrong.
        MtlError: what the run would start from cannot be used.
    """
    for system in {systems.of_type(name) for name in types}:
        system.check(config)
        system.check_files(config)
    if source := config["training"]["initialize_from"]:
        initializing.check_source(source)
    for teacher in config["training"]["teachers"]:
        list(teacher_kinds.teachers_of(teacher))
    optimizer = config["training"]["optimizer"]
    rate = WarmupThen(optimizer["learning_rate"], optimizer["schedule"])
    make_optimizer(optimizer, rate)
    text = config["text"]
    for tokenizer in (text["tokenizer"], *text["tokenizers"].values()):
        make_tokenizer(tokenizer)


def check_weights(config: Mapping[str, Any], tasks: Sequence[Task]) -> None:
    """Refuses names of weights that no model of the config has.

    It reads no texts. The model of a pretrained encoder is not looked at: its
    weights are known once its preset is loaded.

    Args:
        config: the plain config.
        tasks: the tasks of its `tasks`.

    Raises:
        ConfigError: `training.freeze` or `training.initialize_only` has one.
    """
    training = config["training"]
    if not (training["freeze"] or training["initialize_only"]):
        return
    described = [task.to_json() for task in tasks]
    groups = [described]
    if config["train_separately"]:
        # Models of tasks of one type have weights of the same names.
        groups = [[task] for task in {t["type"]: t for t in described}.values()]
    for group in groups:
        system = systems.of_type(group[0]["type"])
        model = system.model_without_words(config, group)
        if model is not None:
            freezing.frozen(model, training["freeze"])
            freezing.taken(model, training["initialize_only"])
