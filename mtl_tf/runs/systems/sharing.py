"""A sharing scheme with a head for each task type."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mtl_tf.core import own_functions
from mtl_tf.core.errors import DataError
from mtl_tf.core.task_types import NAMES
from mtl_tf.layers.pretrained.encoder_adapters import Adapting
from mtl_tf.models import own_layers
from mtl_tf.models.multi_task import MultiTaskModel, build_model
from mtl_tf.models.registry import make_characters, make_scheme
from mtl_tf.pipelines.examples import encoding, piece_examples
from mtl_tf.pipelines.examples.encoding import ExampleEncoder
from mtl_tf.runs import systems
from mtl_tf.runs.system import Config, Pretrained, System, TaskDict
from mtl_tf.tasks.features import Feature
from mtl_tf.tasks.task import Task
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.encoding.pieces import PieceEncoder
from mtl_tf.text.pretrained import preset_layers, presets
from mtl_tf.training import precision

Text = TextEncoder | PieceEncoder


class Sharing(System):
    """See the module; the text is a `TextEncoder`.

    With `model.encoder` it is a `PieceEncoder`.
    """

    def check(self, config: Config) -> None:
        """Makes the parts that have options, and checks those of an encoder."""
        model = config["model"]
        parts = {"init": model["init"], "dtype": precision.policy(config)}
        make_scheme(model["scheme"], 1, **parts)
        if own_functions.is_own(name := model["scheme"]["name"]):
            own_layers.check_layers(
                name,
                lambda seed: make_scheme(
                    model["scheme"], 1, {**model["init"], "seed": seed}
                ),
            )
        make_characters(model["characters"], parts)
        preset, encoder = preset_of(model), model.get("encoder", {})
        if preset:
            names = [field.name for field in dataclasses.fields(Adapting)]
            Adapting(**{n: encoder[n] for n in names if n in encoder})
            preset_layers.check_frozen(preset, encoder.get("frozen_layers", 0))

    def check_files(self, config: Config) -> None:
        """Also the preset of an encoder; see `System.check_files`."""
        super().check_files(config)
        if preset := preset_of(config["model"]):
            presets.check(preset)

    def build_text(
        self,
        tasks: Sequence[Task],
        text_config: Config,
        pretrained: Pretrained | None = None,
        model_config: Config | None = None,
    ) -> Text:
        """One vocabulary for all tasks."""
        preset = preset_of(model_config or {})
        if preset:
            return piece_examples.build_encoder(tasks, text_config, preset)
        return encoding.build_encoder(tasks, text_config, pretrained)

    def load_text(
        self, path: str, config: Config, tasks: Sequence[TaskDict]
    ) -> Text:
        """See `System.load_text`."""
        if preset_of(config["model"]):
            return PieceEncoder.load(path, config["text"]["max_length"])
        return TextEncoder.of_run(path, config["text"])

    def example_encoder(
        self, text: Text, task: str, features: Sequence[Feature]
    ) -> ExampleEncoder:
        """See `System.example_encoder`."""
        return piece_examples.examples_of(text, features)

    def build_model(
        self,
        config: Config,
        text: Text,
        tasks: Sequence[TaskDict],
        vectors: np.ndarray | None,
        seed: int,
    ) -> MultiTaskModel:
        """See `System.build_model`."""
        return build_model(
            model_config(config),
            text.size,
            tasks,
            vectors,
            seed=seed,
            dtype=precision.policy(config),
            rare_from=text.rare_from,
            backbone=_backbone(text),
        )

    def model_without_words(
        self, config: Config, tasks: Sequence[TaskDict]
    ) -> MultiTaskModel | None:
        """None with a pretrained encoder; see `System.model_without_words`."""
        if preset_of(config["model"]):
            return None
        return build_model(model_config(config), 2, tasks)

    def set_pretrained(
        self, model: MultiTaskModel, config: Config, text: Text
    ) -> None:
        """Loads the weights of the encoder from its preset."""
        preset = preset_of(config["model"])
        if not preset:
            return
        backbone = presets.load_backbone(preset)
        try:
            model.embedding.set_pretrained(backbone)
        except ValueError as error:
            raise DataError(
                f"{presets.FIELD}: {preset!r} is another encoder than when "
                f"the run's vocabulary was built: {error}. Name another "
                "--model_dir, or restore it"
            )

    def words_of(self, text: Text) -> dict[str, Sequence[str]]:
        """The words, and the characters of character vectors.

        For a pretrained encoder, its pieces.
        """
        if isinstance(text, PieceEncoder):
            return {"encoder/token_embedding/": text.pieces[1:]}
        words = {"embedding/": text.vocabulary.tokens}
        if text.characters:
            words["characters/vectors"] = text.characters.vocabulary.tokens
        return words


def preset_of(model: Config) -> str:
    """The preset of the encoder in the config's `model`, or ""."""
    return model.get("encoder", {}).get("preset", "")


def _backbone(text: Text) -> dict[str, Any] | None:
    if not isinstance(text, PieceEncoder):
        return None
    return {"config": text.backbone, "specials": text.specials.to_json()}


def model_config(config: Config) -> dict[str, Any]:
    """The config's `model` without the fields that only others read."""
    others = {f for n in NAMES for f in systems.of_type(n).model_fields}
    return {k: v for k, v in config["model"].items() if k not in others}


def shares_encoder(encoder: Mapping[str, Any]) -> bool:
    """Whether tasks share trainable weights of a pretrained encoder.

    Args:
        encoder: the config's `model.encoder`.
    """
    adapters = ("adapter_units", "lora_rank", "projected_attention_units")
    are_shared = encoder["adapter_sharing"] == "shared" and any(
        encoder[name] for name in adapters
    )
    if not encoder["preset"] or not (are_shared or encoder["trainable"]):
        return False
    layers = preset_layers.layers_of(encoder["preset"])
    return are_shared or layers is None or encoder["frozen_layers"] < layers


SYSTEM = Sharing()
