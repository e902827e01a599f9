"""Translation from one source language to several target languages."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.translation.multi_target import (
    MultiTargetModel,
    build_translation_model,
    check_translation_model,
)
from mtl_tf.pipelines.examples import pairs
from mtl_tf.pipelines.examples.encoded_split import EncodedSplit
from mtl_tf.prediction.translating import Decoding, Translator
from mtl_tf.runs.system import (
    Config,
    Pretrained,
    System,
    TaskDict,
    refuse_unused,
)
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoding.translation import (
    PairEncoder,
    TranslationText,
    languages_of,
    source_of,
)
from mtl_tf.training import precision

# As many words as the special ones.
_HARDLY_ANY = 8


class MultiTarget(System):
    """See the module; the text is a `TranslationText`."""

    model_fields = ("translation",)
    buckets_for_validation = False

    def check(self, config: Config) -> None:
        """Refuses vectors, parts of words and encoders.

        The values of other options are checked.
        """
        refuse_unused(
            config,
            "translation tasks have",
            "translation",
            {"text.vectors": bool(config["text"]["vectors"])},
        )
        pairs.PairFilter.of_config(config["text"])
        Decoding.of_config(config)
        check_translation_model(config["model"]["translation"])

    def check_group(self, tasks: Sequence[str], group: Sequence[str]) -> None:
        """See `System.check_group`; each target language has a vocabulary."""
        source_of([*tasks, *group])
        known = {languages_of(name)[1] for name in group}
        for name in tasks:
            if (language := languages_of(name)[1]) not in known:
                raise ConfigError(
                    "text.vocabulary_tasks has no pair with the target "
                    f"language {language!r} of the task {name}, only "
                    f"{', '.join(group)}: add one, such as that task"
                )

    def build_text(
        self,
        tasks: Sequence[Task],
        text_config: Config,
        pretrained: Pretrained | None = None,
        model_config: Config | None = None,
    ) -> TranslationText:
        """A vocabulary for each language; no pretrained vectors."""
        return pairs.build_text(tasks, text_config)

    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> TranslationText:
        """See `System.load_text`."""
        return TranslationText.load(path, [task["name"] for task in tasks])

    def example_encoder(
        self, text: TranslationText, task: str, features: Sequence[Feature]
    ) -> PairEncoder:
        """See `System.example_encoder`."""
        return text.pair(task)

    def for_training(
        self, split: EncodedSplit, text_config: Config
    ) -> tuple[EncodedSplit, dict[str, int]]:
        """Pairs that are neither too long nor too unequal in length."""
        return pairs.PairFilter.of_config(text_config).apply(split)

    def build_model(
        self,
        config: Config,
        text: TranslationText,
        tasks: Sequence[TaskDict],
        vectors: np.ndarray | None,
        seed: int,
    ) -> MultiTargetModel:
        """See `System.build_model`; it takes no vectors."""
        return build_translation_model(
            config["model"]["translation"],
            len(text.source.vocabulary),
            text.target_sizes,
            [task["name"] for task in tasks],
            seed=seed,
            dtype=precision.policy(config),
        )

    def model_without_words(
        self, config: Config, tasks: Sequence[TaskDict]
    ) -> MultiTargetModel:
        """See `System.model_without_words`."""
        pairs = [task["name"] for task in tasks]
        sizes = {languages_of(pair)[1]: _HARDLY_ANY for pair in pairs}
        return build_translation_model(
            config["model"]["translation"], _HARDLY_ANY, sizes, pairs
        )

    def words_of(self, text: TranslationText) -> dict[str, Sequence[str]]:
        """The words of the encoder, and of each decoder and its output."""
        words = {"encoder/encoder_embedding/": text.source.vocabulary.tokens}
        for language, encoder in text.targets.items():
            decoder = f"decoder_{language}"
            for part in ("embedding", "output"):
                path = f"{decoder}/{decoder}_{part}/"
                words[path] = encoder.vocabulary.tokens
        return words

    def make_decoder(
        self,
        model: MultiTargetModel,
        text: TranslationText,
        config: Config,
        **changes: Any,
    ) -> Translator:
        """A `Translator`."""
        # Changes may hide errors in the config. Without this check a run would
        # train before they are found.
        Decoding.of_config(config)
        return Translator(model, text, Decoding.of_config(config, **changes))

    def quick_decoding(self) -> dict[str, Any]:
        """Greedy search."""
        return {"beam": 1, "n_best": 1, "replace_unknown": False}


SYSTEM = MultiTarget()
