"""The base class of the kinds of models that a run trains."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.protocol import TaskModel
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.pipelines.examples.encoding import ExampleEncoder
from mtl_tf.pipelines.examples.vocabulary_building import Pretrained
from mtl_tf.prediction.predicting_run import TaskDict
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task
from mtl_tf.text.vectors.vector_files import VectorFile

Config = Mapping[str, Any]


def shared_dimension(model: Mapping[str, Any]) -> int:
    """The size of the vectors that all tasks share, pretrained or not."""
    return model["embedding_dim"] - model["embedding_private_dim"]


class System(abc.ABC):
    """Texts, model and decoding of the task types that train together.

    Attributes:
        model_fields: fields of the config's `model` that only this system
            reads.
        buckets_for_validation: whether buckets are also chosen for the texts of
            validation splits. If not, longer texts are only scored.
    """

    model_fields: tuple[str, ...] = ()
    buckets_for_validation = True

    def check(self, config: Config) -> None:
        """Refuses options that are wrong or that this system would ignore.

        It is called before any data are read.

        Raises:
            ConfigError: there is such an option.
        """
        del config

    def check_files(self, config: Config) -> None:
        """Refuses files that a new run starts from and that cannot be used.

        It is called before any data are read, and not for a resumed run, which
        has its vectors and weights. By default it looks at `text.vectors`.

        Raises:
            MtlError: a file is missing, or its first line is wrong.
        """
        if path := config["text"]["vectors"]:
            VectorFile(path, shared_dimension(config["model"])).check()

    def check_group(self, tasks: Sequence[str], group: Sequence[str]) -> None:
        """Refuses `text.vocabulary_tasks` that lack some of the tasks' texts.

        Args:
            tasks: the names of the run's tasks.
            group: the names of the tasks whose texts build the vocabulary.

        Raises:
            ConfigError: a task has texts, for example in a language, that no
                task of the group has.
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
        """Builds the encoder of the tasks' texts.

        Args:
            tasks: the tasks whose training splits are read.
            text_config: the config's `text`.
            pretrained: tells which of some words have pretrained vectors; None
                without a file of vectors.
            model_config: the config's `model`, which may name an encoder with
                its own text processing.

        Returns:
            An object with `save(directory)`, `size` (the number of its words)
            and `tables` (what an export must track).

        Raises:
            MtlError: a wrong field, or wrong data.
        """

    @abc.abstractmethod
    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> Any:
        """Loads the saved encoder from `build_text`.

        Raises:
            MtlError: a file is missing or damaged.
        """

    @abc.abstractmethod
    def example_encoder(
        self, text: Any, task: str, features: Sequence[Feature]
    ) -> ExampleEncoder:
        """The encoder of a task's examples."""

    def for_training(
        self, split: EncodedSplit, text_config: Config
    ) -> tuple[EncodedSplit, dict[str, int]]:
        """The examples to train on, and why others are left out.

        Returns:
            The split, by default all of it, and the number left out by reason.
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

    @abc.abstractmethod
    def model_without_words(
        self, config: Config, tasks: Sequence[TaskDict]
    ) -> TaskModel | None:
        """The model with hardly any words, before texts are read.

        Its weights have the names of those of the whole model.

        Returns:
            The model; None if it depends on more than the config and the tasks.

        Raises:
            ConfigError: an option is wrong, or the tasks do not go together.
        """

    def set_pretrained(
        self, model: TaskModel, config: Config, text: Any
    ) -> None:
        """Gives a new run's model pretrained weights other than word vectors.

        Raises:
            MtlError: a file cannot be used.
        """
        del model, config, text

    def word_ids(self, split: EncodedSplit, text: Any) -> np.ndarray:
        """The ids of all words in an encoded split, integers [n]."""
        del text
        return split.columns["tokens"].values

    @abc.abstractmethod
    def words_of(self, text: Any) -> dict[str, Sequence[str]]:
        """The words that rows of weights stand for, by prefixes of paths."""

    def make_decoder(
        self, model: TaskModel, text: Any, config: Config, **changes: Any
    ) -> Any:
        """The decoder that writes texts with the model, or None.

        Args:
            model, text: the run's model and encoder.
            config: the run's config.
            **changes: decoding options that replace the config's.

        Raises:
            ConfigError: an option is wrong.
        """
        del model, text, config, changes

    def quick_decoding(self) -> dict[str, Any]:
        """Decoding options that are fast and still tell checkpoints apart."""
        return {}


def refuse_unused(
    config: Config, whose: str, starter: str, more: Mapping[str, bool]
) -> None:
    """Refuses fields that only models with a sharing scheme read.

    Args:
        config: the run's config.
        whose: the name of such tasks, with the verb: "translation has".
        starter: the argument of the config `starter` for them.
        more: further fields, and whether the config uses each.

    Raises:
        ConfigError: the config uses one.
    """
    text, model = config["text"], config["model"]
    fields = {
        "text.characters": text["characters"]["max_word_length"] > 0,
        "text.casing": text["casing"],
        "model.encoder": bool(model["encoder"]["preset"]),
        "model.wide": model["wide"]["buckets"] > 0,
        **more,
    }
    for name, is_used in fields.items():
        if is_used:
            raise ConfigError(
                f"{whose} no use for {name}; a config without it is "
                f"--config=starter:{starter}, in a file "
                f"starter.get_config({starter!r})"
            )
