"""Whether a config's choices have right options, and what it starts from."""

from collections.abc import Collection, Mapping
from typing import Any

from mtl_tf.runs import initializing, systems
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
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
    optimizer = config["training"]["optimizer"]
    rate = WarmupThen(optimizer["learning_rate"], optimizer["schedule"])
    make_optimizer(optimizer, rate)
    text = config["text"]
    for tokenizer in (text["tokenizer"], *text["tokenizers"].values()):
        make_tokenizer(tokenizer)
