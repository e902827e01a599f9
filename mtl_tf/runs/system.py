"""What a run asks of the kind of model that it trains."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.protocol import TaskModel
from mtl_tf.pipelines.encoded_split import EncodedSplit
from mtl_tf.pipelines.encoding import ExampleEncoder
from mtl_tf.pipelines.vocabulary_building import Pretrained
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task

Config = Mapping[str, Any]
#: What a run knows of a task: its name, type, labels and settings.
TaskDict = Mapping[str, Any]


class System(abc.ABC):
    """Texts, model and decoding of the task types that train together.

    Attributes:
        model_fields: fields of the config's `model` that only this system
            reads.
        buckets_for_validation: whether texts of validation splits have a part
            in the choice of buckets; else longer ones are only scored.
    """

    model_fields: tuple[str, ...] = ()
    buckets_for_validation = True

    def check(self, config: Config) -> None:
        """Refuses options that are wrong or that this system would pass over.

        It is called before any data are read.

        Raises:
            ConfigError: there is one.
        """
        del config

    def check_group(self, tasks: Sequence[str], group: Sequence[str]) -> None:
        """Refuses `text.vocabulary_tasks` that lack texts of the tasks' kinds.

        Args:
            tasks: names of the run's tasks.
            group: those of the tasks whose texts the vocabulary is built on.

        Raises:
            ConfigError: a task has texts, as of a language, that none of the
                group has.
        """
        del tasks, group

    @abc.abstractmethod
    def build_text(
        self,
        tasks: Sequence[Task],
        text_config: Config,
        pretrained: Pretrained | None = None,
        model_config: Config | None = None,
    ) -> Any:
        """Builds what turns the texts of tasks into ids.

        Args:
            tasks: whose training splits are read.
            text_config: the config's `text`.
            pretrained: says which of some words a file of word vectors has;
                None without such a file.
            model_config: the config's `model`, which may name an encoder that
                has texts of its own.

        Returns:
            An object with `save(directory)`, `size`, the number of its words,
            and `tables`, what an export has to track.

        Raises:
            MtlError: a wrong field, or wrong data.
        """

    @abc.abstractmethod
    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> Any:
        """Reads what `build_text` returned and was saved.

        Raises:
            MtlError: a file is missing or damaged.
        """

    @abc.abstractmethod
    def example_encoder(
        self, text: Any, task: str, features: Sequence[Feature]
    ) -> ExampleEncoder:
        """What turns the examples of a task into numbers."""

    def for_training(
        self, split: EncodedSplit, text_config: Config
    ) -> tuple[EncodedSplit, dict[str, int]]:
        """The examples that are trained on, and why others are left out.

        Returns:
            The split, all of it by default, and how many by reason.
        """
        del text_config
        return split, {}

    @abc.abstractmethod
    def build_model(
        self,
        config: Config,
        text: Any,
        tasks: Sequence[TaskDict],
        vectors: np.ndarray | None,
        seed: int,
    ) -> TaskModel:
        """Builds the model of a run with all its weights; see `building`."""

    def set_pretrained(
        self, model: TaskModel, config: Config, text: Any
    ) -> None:
        """Gives the model of a new run pretrained weights but word vectors.

        Raises:
            MtlError: a file cannot be used.
        """
        del model, config, text

    def word_ids(self, split: EncodedSplit, text: Any) -> np.ndarray:
        """The ids of all words of an encoded split, integers [n]."""
        del text
        return split.columns["tokens"].values

    @abc.abstractmethod
    def words_of(self, text: Any) -> dict[str, Sequence[str]]:
        """The words that rows of weights stand for, by beginnings of paths."""

    def make_decoder(
        self, model: TaskModel, text: Any, config: Config, **changes: Any
    ) -> Any:
        """What writes texts with the model; None where it writes none.

        Args:
            model, text: of the run.
            config: the run's.
            **changes: options of decoding in place of the config's.

        Raises:
            ConfigError: an option is wrong.
        """
        del model, text, config, changes

    def quick_decoding(self) -> dict[str, Any]:
        """Options of decoding that tell checkpoints apart, and quickly."""
        return {}


def refuse_unused(
    config: Config, whose: str, starter: str, more: Mapping[str, bool]
) -> None:
    """Refuses fields that only models with a sharing scheme read.

    Args:
        config: the run's.
        whose: what such tasks are called, with the verb: "translation has".
        starter: the argument of the config `starter` for them.
        more: further fields, and whether the config uses them.

    Raises:
        ConfigError: the config uses one.
    """
    text, model = config["text"], config["model"]
    precision = config["training"]["mixed_precision"]
    fields = {
        "text.characters": text["characters"]["max_word_length"] > 0,
        "text.casing": text["casing"],
        "model.encoder": bool(model["encoder"]["preset"]),
        "model.wide": model["wide"]["buckets"] > 0,
        "training.mixed_precision": precision != "float32",
        **more,
    }
    for name, is_used in fields.items():
        if is_used:
            raise ConfigError(
                f"{whose} no use for {name}; a config without it is "
                f"--config=starter:{starter}, in a file "
                f"starter.get_config({starter!r})"
            )
