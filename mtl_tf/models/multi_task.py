"""The multi-task model: embedding, sharing scheme, one head per task type."""

from collections.abc import Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.weight_marks import marks_of
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.character_features import CharacterFeatures
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.inputs.wide_features import WideFeatures
from mtl_tf.layers.inputs.word_dropout import WordDropout
from mtl_tf.layers.pretrained.pretrained_encoder import (
    PretrainedEncoder,
    first_pieces,
)
from mtl_tf.layers.task_dense import TaskDense
from mtl_tf.models import components, own_layers, wide_part
from mtl_tf.models.head_type import HeadType
from mtl_tf.models.headed import HeadedModel
from mtl_tf.models.heads import head_types_of, make_heads
from mtl_tf.models.registry import make_characters, make_scheme
from mtl_tf.models.scheme import SharingScheme

# Distance between the dropout seeds of an example's texts.
_SEED_STEP = 104729


@keras.saving.register_keras_serializable(package="mtl_tf")
class MultiTaskModel(HeadedModel):
    """Embeds, encodes and scores the texts of a batch of several tasks.

    Args:
        embedding: word vectors, or a pretrained encoder that reads pieces.
        scheme: encodes the texts.
        heads: heads by task type.
        embedding_dropout: dropout rate of the embedded tokens.
        head_dropout: dropout rate of the heads' inputs.
        word_dropout: rate at which training replaces tokens by the unknown one.
        rare_word_dropout: the same, for tokens that occur once.
        rare_from: the first id of the tokens that occur once.
        characters: features from the characters of each word, or None.
        casing: vectors for the casing of each word, or None.
        hidden: a layer whose positive part the heads read instead of the
            scheme's outputs, or None. With it, a head is a perceptron with one
            hidden layer.
        wide: features added to the summary that heads read, or None.
        types, head_types: see `HeadedModel.set_heads`.

    Input shape: a batch: "task" int32 `[G]` and "tokens" int32 `[G, B, T]` (0
        is padding). With character features also "characters" int32
        `[G, B, T, W]`; with casing "casing" int32 `[G, B, T]`. A type with
        several texts has the same for each other text, under the names of
        `HeadType`. Also the targets that the heads read. Other entries are
        ignored.
    Output shape: the head's outputs, and "losses", "inspect" and "diagnostics"
        as in `SharingScheme`. With several texts, "losses" and "diagnostics"
        are means over the texts, and "inspect" is that of the first.
    Masking: padding tokens, also whole rows of them, change nothing.

    Example:
        ```python
        model = build_model(config.model, len(vocabulary), tasks)
        scores = model({"task": task, "tokens": tokens})["scores"]
        ```
    """

    def __init__(
        self,
        embedding: Embedding | PretrainedEncoder,
        scheme: SharingScheme,
        heads: Mapping[str, keras.layers.Layer],
        embedding_dropout: float = 0.0,
        head_dropout: float = 0.0,
        word_dropout: float = 0.0,
        rare_word_dropout: float = 0.0,
        rare_from: int = 1,
        characters: CharacterFeatures | None = None,
        casing: Embedding | None = None,
        hidden: TaskDense | None = None,
        wide: WideFeatures | None = None,
        types: Sequence[str] = (),
        head_types: Mapping[str, HeadType] | None = None,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.embedding = embedding
        self.characters = characters
        self.casing = casing
        self.scheme = scheme
        self.set_heads(heads, types, head_types)
        self.embedding_dropout = Dropout(embedding_dropout, salt="embedding")
        self.head_dropout = Dropout(head_dropout, salt="head")
        self.word_dropout = WordDropout(word_dropout)
        self.rare_word_dropout = WordDropout(
            rare_word_dropout, salt="rare words", first=rare_from
        )
        self.hidden = hidden
        self.wide = wide

    @classmethod
    def build_again(cls, **arguments) -> "MultiTaskModel":
        """See `build_model`."""
        return build_model(**arguments)

    @property
    def static_shapes(self) -> bool:
        """Whether batches should have few shapes; see `SharingScheme`."""
        return self.scheme.static_shapes

    @property
    def sums_over_replicas(self) -> bool:
        """See `SharingScheme`."""
        return self.scheme.sums_over_replicas

    def build(self, input_shape=None):
        """Makes all weights."""
        self.embedding.build()
        size = self.embedding.dimension
        if self.characters:
            self.characters.build()
            size += self.characters.units
        if self.casing:
            self.casing.build()
            size += self.casing.dimension
        reads = [head.reads for head in self.heads.values()]
        own_layers.build_scheme(self.scheme, size, reads)
        units = components.units_of(self.scheme)
        if self.hidden is not None:
            self.hidden.build((None, None, units))
            units = self.hidden.units
        if self.wide is not None:
            self.wide.build()
        for name, head in self.heads.items():
            size = units
            if self.wide is not None and head.reads == "summary":
                size += self.wide.dimension
            own_layers.build_head(head, self.head_type(name).units(size))
        self.built = True

    def call(
        self,
        batch,
        training: bool = False,
        seed=None,
        inspect: bool = False,
        key: str | None = None,
    ) -> dict:
        """Scores a batch.

        Args:
            batch: see the class.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for dropout.
            inspect: fill "inspect" with the tensors that figures show.
            key: the type of the batch's tasks, as `key_of` returns it. None if
                all tasks have the same type.
        """
        name = self.type_of(key)
        head, head_type = self.heads[name], self.head_type(name)
        batch = components.at_least_one_step(batch)
        texts = [
            self._encode(batch, prefix, number, head, training, seed, inspect)
            for number, prefix in enumerate(head_type.texts)
        ]
        first = texts[0]

        def scored(share: float | None = None) -> dict:
            read = self._read(texts, head_type, batch, training, seed, share)
            # Keras passes `training` to heads whose call accepts it.
            return head(first | {head.reads: read}, batch)

        output = scored()
        components.check_scored(output, head, training)
        has_choice = self.choices and first["wide"] is not None
        if has_choice and "loss" in output and not training:
            output |= components.by_choice(scored, self.choices)
        return output | {
            "losses": components.means([text["losses"] for text in texts]),
            "inspect": first["inspect"],
            "diagnostics": components.means(
                [t.get("diagnostics", {}) for t in texts]
            ),
        }

    def _encode(
        self, batch, prefix, number, head, training, seed, inspect
    ) -> dict:
        """A text's encoding: the scheme's outputs, "mask", "read" and "wide".

        "read" is the head's input without the wide features, which are in
        "wide" (None if there are none).
        """
        seed = _of_text(seed, number)
        tokens = batch[f"{prefix}tokens"]
        # A distributed iterator loses the number of groups of one of the two.
        task = tf.ensure_shape(batch["task"], tokens.shape[:1])
        mask = self.embedding.mask(tokens)
        embedded = self._embed(batch, prefix, task, training, seed)
        if head.reads == "sequence" and f"{prefix}words" in batch:
            # With word pieces, the state of a word is that of its first piece.
            words = batch[f"{prefix}words"]
            embedded, mask = first_pieces(embedded, words), words > 0
        embedded = self.embedding_dropout(
            embedded, training=training, seed=seed
        )
        entries = {name: batch.get(name) for name in self.scheme.batch_entries}
        encoded = self.scheme(
            embedded,
            mask,
            task,
            training=training,
            seed=seed,
            inspect=inspect,
            sequence=head.reads == "sequence",
            **entries,
        )
        components.check_encoded(encoded, self.scheme, head.reads)
        read, wide = encoded[head.reads], None
        if self.hidden is not None:
            read = tf.nn.relu(self.hidden(read, task))
        if self.wide is not None and head.reads == "summary":
            characters = batch.get(f"{prefix}characters")
            wide = self.wide(
                tokens, task, characters, training=training, seed=seed
            )
        return encoded | {"mask": mask, "read": read, "wide": wide}

    def _read(
        self, texts, head_type, batch, training, seed, share=None
    ) -> tf.Tensor:
        """The head's input from all texts; `share` as for the wide part."""
        read = [text["read"] for text in texts]
        if texts[0]["wide"] is not None:
            read = [
                self.wide.beside(
                    text["read"],
                    text["wide"],
                    batch["task"],
                    training=training,
                    seed=_of_text(seed, number),
                    share=share,
                )
                for number, text in enumerate(texts)
            ]
        combined = head_type.combined(read)
        return self.head_dropout(combined, training=training, seed=seed)

    @property
    def choices(self) -> tuple[float, ...]:
        """The possible shares of the summary, as opposed to the n-grams."""
        return self.wide.choices if self.wide is not None else ()

    def chosen(self, task: int) -> float | None:
        """The task's share; None if its head reads no summary, or all of it."""
        head = self.heads[self.type_of(self.key_of(task))]
        has = self.choices and head.reads == "summary"
        return self.wide.chosen(task) if has else None

    def choose(self, task: int, choice: int) -> bool:
        """Gives a task one of the shares, by its number."""
        return self.wide.choose(task, choice)

    def _embed(self, batch, prefix, task, training, seed) -> tf.Tensor:
        """The scheme's input for a text: all word features, concatenated."""
        tokens = batch[f"{prefix}tokens"]
        if isinstance(self.embedding, PretrainedEncoder):
            return self.embedding(tokens, task, training=training, seed=seed)
        for dropout in (self.word_dropout, self.rare_word_dropout):
            tokens = dropout(tokens, training=training, seed=seed)
        vectors = [self.embedding(tokens, task)]
        features = {"characters": {"training": training}, "casing": {}}
        for name, options in features.items():
            layer, column = getattr(self, name), f"{prefix}{name}"
            if layer and column not in batch:
                raise ValueError(
                    f"the model reads {column!r}, but the batch has only "
                    f"{', '.join(sorted(batch))}"
                )
            if layer:
                vectors.append(layer(batch[column], **options))
        return tf.concat(vectors, -1) if len(vectors) > 1 else vectors[0]

    def adapt(self, batches) -> None:
        """Counts in how many texts n-grams occur, if they are weighted so."""
        if self.wide is not None and self.wide.idf:
            wide_part.count(self, batches)

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that are stacked by task."""
        return [v for v in self.trainable_variables if marks_of(v).is_private]

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable vectors of words, if trained, and of n-grams."""
        variables = []
        if isinstance(self.embedding, Embedding):
            variables += self.embedding.trainable_variables
        if self.wide is not None:
            variables += self.wide.trainable_variables
        return variables


def _of_text(seed, number: int):
    """The dropout seed for one of an example's texts."""
    if not number or seed is None:
        return seed
    return seed + tf.constant([number * _SEED_STEP, 0])


def build_model(
    model_config: Mapping,
    vocabulary_size: int,
    tasks: Sequence[Mapping],
    vectors: np.ndarray | None = None,
    seed: int = 0,
    dtype: str = "float32",
    rare_from: int | None = None,
    backbone: Mapping | None = None,
) -> MultiTaskModel:
    """Builds a model with all its weights.

    Args:
        model_config: "scheme" (its "name" and options), "embedding_dim", and
            optionally "embedding_private_dim" (how many of the dimensions come
            from a table of the task), "embedding_trainable", "dropout"
            ({"embedding", "head"}), "head" ({"hidden_units", "sharing"}: the
            size of a hidden layer below the heads, 0 for none, as the S-P of
            Sun 2019 has it; whether hidden layer and head are "private", one
            per task, or "shared"), "encoder" (options of `PretrainedEncoder`),
            "word_dropout", "rare_word_dropout", "characters" ("name": "none",
            "cnn" or "lstm", and options of `layers.inputs.character_features`),
            "casing_dim" (0 for none), "init" (see `layers.base.check_init`) and
            the fields of task types, such as "tagging" (see
            `mtl_tf.models.task_types`).
        vocabulary_size: number of tokens, including padding and unknown.
        tasks: "name", "type" and "labels" of each task, in the order of their
            numbers in a batch.
        vectors: float32
            `[vocabulary_size, embedding_dim - embedding_private_dim]`, or None
            for random vectors.
        seed: seed of the initial weights, which depend on it alone.
        dtype: the dtype policy of the layers, such as "mixed_bfloat16".
            Weights, losses and scores are always float32.
        rare_from: the first id of the tokens that occur once, for
            "rare_word_dropout"; None if there are none.
        backbone: "config" and "specials" of a pretrained encoder that replaces
            the word vectors, see `PretrainedEncoder`; None for none. The
            options "encoder" in `model_config` say how it is used.

    Raises:
        ConfigError: a field, a name or a value is wrong, or the scheme cannot
            compute in `dtype`.
    """
    config = components.checked(model_config)
    if not tasks:
        raise ConfigError("tasks must name at least one task")
    init = {"seed": seed} | dict(config.get("init") or {})
    dropout = components.checked_dropout(config.get("dropout"))
    options = {"init": init, "dtype": dtype}
    # Without rare tokens nothing needs to be drawn.
    rare = config.get("rare_word_dropout", 0.0) if rare_from else 0.0
    scheme = make_scheme(config["scheme"], len(tasks), **options)
    head = components.checked_head(config.get("head"))
    heads = make_heads(tasks, config | {"head": head}, options)
    components.check_reading(heads, scheme, config["scheme"]["name"])
    model = MultiTaskModel(
        embedding=components.make_reader(
            config, vocabulary_size, len(tasks), options, backbone
        ),
        scheme=scheme,
        heads=heads,
        embedding_dropout=dropout["embedding"],
        head_dropout=dropout["head"],
        word_dropout=config.get("word_dropout", 0.0),
        rare_word_dropout=rare,
        rare_from=rare_from or 1,
        characters=make_characters(config.get("characters"), options),
        casing=components.make_casing(config.get("casing_dim", 0), options),
        hidden=components.make_hidden(head, len(tasks), options),
        wide=wide_part.make(config, tasks, heads, options),
        types=[task["type"] for task in tasks],
        head_types=head_types_of(tasks),
        name="multi_task_model",
    )
    model.build()
    model.remember(
        model_config=model_config,
        vocabulary_size=vocabulary_size,
        tasks=list(tasks),
        seed=seed,
        dtype=dtype,
        rare_from=rare_from,
        backbone=backbone,
    )
    if vectors is not None:
        model.embedding.set_vectors(vectors)
    return model
