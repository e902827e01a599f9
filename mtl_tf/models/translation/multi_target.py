"""Multi-target translation: one encoder and one decoder per target."""

import functools
from collections.abc import Mapping, Sequence

import keras
import tensorflow as tf

from mtl_tf.core.names import look_up
from mtl_tf.core.special_ids import EOS
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.layers.translation.attention_decoder import AttentionDecoder
from mtl_tf.layers.translation.gru_encoder import GRUEncoder
from mtl_tf.models.protocol import TaskModel
from mtl_tf.models.translation import options as translation_options
from mtl_tf.models.translation.search import (
    SearchGraphs,
    TranslationSearch,
    checked_limit,
)


@keras.saving.register_keras_serializable(package="mtl_tf")
class MultiTargetModel(TaskModel):
    """Translates one source language to several target languages.

    Dong et al. (2015), section 3: all pairs share the encoder. Each target has
    its own decoder, alignment, embeddings and output layer. The computation
    depends on the pair's number, which is a Python integer. So there is one
    trace per pair, and only the shared variables and those of that pair have
    gradients.

    Args:
        encoder: the encoder of the source language.
        decoders: one per pair.
        pairs: the pairs' names, such as "en-de".

    Attributes:
        encoder, decoder_0, decoder_1, ...: the parts.

    Input shape: a batch of G groups: one group, or with the key `joint_key` one
        group for every pair, in order. "tokens" int32 `[G, B, S]` and "target"
        int32 `[G, B, U]`, which has the end token's id after the last token. 0
        is padding. Other entries are ignored.
    Output shape: "loss" float32 `[G, B]`, the negative log-likelihood summed
        over a text's tokens; "tokens" float32 `[G, B]`, the number of tokens;
        "losses" and "inspect" as in other models.
    Masking: padding tokens, also whole rows of them, change nothing.

    Example:
        ```python
        model = build_translation_model(
            {"units": 256}, 8000, {"de": 8000, "fr": 9000}, ["en-de", "en-fr"]
        )
        loss = model(batch, key=1)["loss"]
        best = model.translate(tokens, key=1, beam=10)["tokens"]
        ```
    """

    def __init__(
        self,
        encoder: GRUEncoder,
        decoders: Sequence[AttentionDecoder],
        pairs: Sequence[str],
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.encoder = encoder
        self.pairs = tuple(pairs)
        # Attributes, not a list: tf.train.Checkpoint does not look into the
        # lists and dictionaries of Keras layers.
        for number, decoder in enumerate(decoders):
            setattr(self, f"decoder_{number}", decoder)
        self._graphs = SearchGraphs()

    @classmethod
    def build_again(cls, **arguments) -> "MultiTargetModel":
        """See `build_translation_model`."""
        return build_translation_model(**arguments)

    @property
    def decoders(self) -> list[AttentionDecoder]:
        """The decoders in the order of the pairs."""
        return [getattr(self, f"decoder_{n}") for n in range(len(self.pairs))]

    # The `key` of batches that have one group for every pair.
    joint_key = "joint"

    def key_of(self, task: int) -> int | None:
        """The `key` that `call` needs for batches of a pair."""
        return task if len(self.pairs) > 1 else None

    def decoder(self, key: int | None) -> AttentionDecoder:
        """The decoder of a pair.

        Args:
            key: the pair's number; None if there is only one.

        Raises:
            ConfigError: there is no such pair.
        """
        if key is None and len(self.pairs) == 1:
            key = 0
        known = {str(n): decoder for n, decoder in enumerate(self.decoders)}
        return look_up(str(key), known, "number of a pair")

    def build(self, input_shape=None):
        """Makes all weights."""
        self.encoder.build()
        units = self.encoder.units
        encoded = {
            "annotations": (None, None, None, 2 * units),
            "first": (None, None, units),
        }
        for decoder in self.decoders:
            decoder.build(None, encoded)
        self.built = True

    def call(
        self,
        batch,
        training: bool = False,
        seed=None,
        inspect: bool = False,
        key: int | str | None = None,
    ) -> dict:
        """The likelihood of the targets.

        Args:
            batch: see the class.
            training: whether a gradient will be taken. If so, the loss has
                dropout, label smoothing and a sampled output layer.
            seed: int32 `[2]`, for dropout and samples.
            inspect: fill "inspect" with the "attention" `[G, B, U, S]`.
            key: the pair's number, or `joint_key`; needed if there are several
                pairs.
        """
        joint = key == self.joint_key
        decoders = self.decoders if joint else [self.decoder(key)]
        options = {"training": training, "seed": seed}
        tokens = at_least_one_step(batch["tokens"], 2)
        target = at_least_one_step(batch["target"], 2)
        encoded = self.encoder(tokens, **options)
        decoded = [
            decoder(
                target[n : n + 1],
                {name: value[n : n + 1] for name, value in encoded.items()},
                inspect=inspect,
                **options,
            )
            for n, decoder in enumerate(decoders)
        ]
        losses = tf.concat([output["losses"] for output in decoded], 0)
        inspected = {}
        if inspect:
            attention = [output["attention"] for output in decoded]
            inspected["attention"] = tf.concat(attention, 0)
        real = tf.cast(tf.not_equal(target, 0), tf.float32)
        return {
            "loss": tf.reduce_sum(losses, -1),
            "tokens": tf.reduce_sum(real, -1),
            "losses": {},
            "inspect": inspected,
        }

    def log_likelihoods(
        self, tokens: tf.Tensor, target: tf.Tensor, key: int | None = None
    ) -> tf.Tensor:
        """The log-likelihood of each token of given translations.

        Nothing is compiled with XLA, so any shapes are possible.

        Args:
            tokens: int32 `[B, S]`, the sources; 0 is padding.
            target: int32 `[B, U]`, with the end token's id after the last
                token.
            key: the pair's number; needed if there are several pairs.

        Returns:
            float32 `[B, U]`, 0 at padding. For a source without tokens, which
            `translate` translates to nothing, an immediate end has the
            log-likelihood 0.

        Raises:
            ConfigError: there is no such pair.
        """
        tokens, target = (
            at_least_one_step(tf.cast(ids, tf.int32), 1)
            for ids in (tokens, target)
        )
        with recurrence.options(jit=False, shards=1):
            encoded = self.encoder(tokens[None])
            losses = self.decoder(key)(target[None], encoded)["losses"][0]
        has_words = tf.reduce_any(encoded["mask"][0], -1)
        is_empty = ~has_words & tf.equal(target[:, 0], EOS)
        return tf.where(is_empty[:, None], 0.0, -losses)

    def translate(
        self,
        tokens: tf.Tensor,
        key: int | None = None,
        beam: int = 10,
        max_length: int | tuple[float, int] = (2, 10),
        length_penalty: float = 0.0,
        n_best: int = 1,
        attention: bool = False,
    ) -> dict:
        """Translates sources by beam search, in one graph.

        Nothing is compiled with XLA, so any shapes are possible and the graph
        can be exported. When called outside of a graph, it makes one graph per
        setting. It is fastest with many sources of about the same length. A
        source without tokens gets one translation, the empty one, with the
        score 0.

        Args:
            tokens: int32 `[B, S]`, 0 is padding.
            key: the pair's number; needed if there are several pairs.
            beam: hypotheses per source; 1 is greedy search.
            max_length: maximum tokens of a translation, with its end: `(a, b)`
                for `a * source tokens + b`, or one number for all.
            length_penalty: see `BeamSearch`.
            n_best: number of translations returned per source.
            attention: whether to return "attention".

        Returns:
            "tokens" int32 `[B, n, U]` without the end, "length" int32 `[B, n]`,
            "score" float32 `[B, n]`, "aligned" int32 `[B, n, U]`, the source
            token with the highest attention for each token (it can replace an
            unknown word), and "attention" `[B, n, U, S]`.

        Raises:
            ConfigError: a value is wrong.
        """
        search = TranslationSearch(
            beam=beam,
            limit=checked_limit(max_length),
            length_penalty=float(length_penalty),
            n_best=n_best,
            attention=attention,
        )
        parts = self.encoder, self.decoder(key)
        if tf.executing_eagerly():
            return self._graphs(search, *parts, tokens)
        return search(*parts, tokens)

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that belong to single targets."""
        return [v for d in self.decoders for v in d.trainable_variables]

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable word vectors of all languages."""
        parts = [self.encoder, *self.decoders]
        return [v for p in parts for v in p.embedding.trainable_variables]


def build_translation_model(
    model_config: Mapping,
    source_vocabulary_size: int,
    target_vocabulary_sizes: Mapping[str, int],
    pairs: Sequence[str],
    seed: int = 0,
    dtype: str | None = None,
) -> MultiTargetModel:
    """Builds a model with all its weights.

    A language's decoder starts from the same weights whichever other pairs
    there are. A single-pair model therefore differs in nothing else.

    Args:
        model_config: all optional: "name" ("multi_target"), "embedding_dim" and
            "units" (256 each), "attention_units" and "readout_units" (0: as
            many as units), "bias" (True), "dropout" ({"embedding", "encoding",
            "readout"}), "label_smoothing", "output" ({"name": "full" or
            "sampled", "samples"}) and "init" (see `layers.base.check_init`).
        source_vocabulary_size: number of source tokens, including special ones.
        target_vocabulary_sizes: the same by target language.
        pairs: the pairs in the order of their numbers, such as "en-de".
        seed: seed of the initial weights, which depend on it alone.
        dtype: Keras's policy, such as "mixed_bfloat16"; None for its default.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    model = _make(
        model_config,
        source_vocabulary_size,
        target_vocabulary_sizes,
        pairs,
        seed,
        dtype,
    )
    model.build()
    model.remember(
        model_config=model_config,
        source_vocabulary_size=source_vocabulary_size,
        target_vocabulary_sizes=target_vocabulary_sizes,
        pairs=list(pairs),
        seed=seed,
        dtype=dtype,
    )
    return model


def check_translation_model(model_config: Mapping) -> None:
    """Checks what can be checked before the vocabularies are built.

    Args:
        model_config: as for `build_translation_model`.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    # Constructors check their arguments but make no weights.
    _make(model_config, 8, {"b": 8}, ["a-b"], 0, None)


def _make(
    model_config: Mapping,
    source_vocabulary_size: int,
    target_vocabulary_sizes: Mapping[str, int],
    pairs: Sequence[str],
    seed: int,
    dtype: str | None,
) -> MultiTargetModel:
    """The model without weights; see `build_translation_model`."""
    config = translation_options.checked(model_config)
    targets = translation_options.targets(pairs, target_vocabulary_sizes)
    dropout = config["dropout"]
    embedding = {"embedding": dropout["embedding"]}
    sizes = {
        "embedding_dim": config["embedding_dim"],
        "units": config["units"],
        "bias": config["bias"],
        "init": {"seed": seed} | dict(config["init"] or {}),
        "dtype": dtype,
    }
    encoder = GRUEncoder(
        source_vocabulary_size,
        dropout=embedding | {"encoding": dropout["encoding"]},
        name="encoder",
        **sizes,
    )
    make = functools.partial(
        AttentionDecoder,
        attention_units=config["attention_units"],
        readout_units=config["readout_units"],
        dropout=embedding | {"readout": dropout["readout"]},
        label_smoothing=config["label_smoothing"],
        samples=config["output"]["samples"],
        **sizes,
    )
    decoders = [
        make(target_vocabulary_sizes[language], name=f"decoder_{language}")
        for language in targets
    ]
    return MultiTargetModel(encoder, decoders, pairs, name="multi_target")
