"""A sharing scheme below a head for each task type."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.core.task_types import NAMES
from mtl_tf.models.multi_task import MultiTaskModel, build_model
from mtl_tf.pipelines import encoding
from mtl_tf.pipelines.text_examples import TextExamples
from mtl_tf.runs import systems
from mtl_tf.runs.system import Config, Pretrained, System, TaskDict
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.training import precision


class Sharing(System):
    """See the module; the text is a `TextEncoder`."""

    def build_text(
        self,
        tasks: Sequence[Task],
        text_config: Config,
        pretrained: Pretrained | None = None,
    ) -> TextEncoder:
        """One vocabulary for all tasks."""
        return encoding.build_encoder(tasks, text_config, pretrained)

    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> TextEncoder:
        """See `System.load_text`."""
        return TextEncoder.of_run(path, config["text"])

    def example_encoder(
        self, text: TextEncoder, task: str, features: Sequence[Feature]
    ) -> TextExamples:
        """See `System.example_encoder`."""
        return TextExamples(text, features)

    def build_model(
        self,
        config: Config,
        text: TextEncoder,
        tasks: Sequence[TaskDict],
        vectors: np.ndarray | None,
        seed: int,
    ) -> MultiTaskModel:
        """See `System.build_model`."""
        return build_model(
            model_config(config),
            len(text.vocabulary),
            tasks,
            vectors,
            seed=seed,
            dtype=precision.policy(config),
            rare_from=text.rare_from,
        )

    def words_of(self, text: TextEncoder) -> dict[str, Sequence[str]]:
        """Words, and of the vectors of characters the characters."""
        words = {"embedding/": text.vocabulary.tokens}
        if text.characters:
            words["characters/vectors"] = text.characters.vocabulary.tokens
        return words


def model_config(config: Config) -> dict[str, Any]:
    """The config's `model` without what other systems read of it."""
    others = {f for n in NAMES for f in systems.of_type(n).model_fields}
    return {k: v for k, v in config["model"].items() if k not in others}


SYSTEM = Sharing()
