"""The multi-task model: embedding, sharing scheme, a head per kind of task."""

from collections.abc import Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed, look_up
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.character_features import CharacterFeatures
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.embedding import Embedding
from mtl_tf.layers.task_dense import TaskDense
from mtl_tf.layers.word_dropout import WordDropout
from mtl_tf.models import components
from mtl_tf.models.heads import TAGGING, make_heads
from mtl_tf.models.registry import make_characters, make_scheme
from mtl_tf.models.scheme import SharingScheme

# Entries of a batch that have a time axis, the third one.
_TIMED = ("tokens", "tags", "characters", "casing")


class MultiTaskModel(keras.Model):
    """Embeds, encodes and scores a batch of several tasks' texts.

    Args:
        embedding: looks the tokens up.
        scheme: encodes the texts.
        heads: by kind of task.
        embedding_dropout: rate of dropout on the embedded tokens.
        head_dropout: rate of dropout on what a head reads.
        word_dropout: rate at which tokens become the unknown one in training.
        characters: features of a word's characters, or None.
        casing: looks up vectors of how words are written, or None.
        hidden: a layer whose positive part the heads read in place of what
            the scheme returns, or None: with it a head is a perceptron with
            one hidden layer.
        kinds: the kind of each task; needed where there are several.

    Input shape: a batch: "task" int32 `[G]`, "tokens" int32 `[G, B, T]` (0 is
        padding), with character features also "characters" int32
        `[G, B, T, W]`, with casing "casing" int32 `[G, B, T]`, and what the
        heads read, such as "label" or "tags"; other entries are ignored.
    Output shape: the head's outputs, and "losses", "inspect" and
        "diagnostics" as `SharingScheme` describes them.
    Masking: padding tokens, also whole rows of them, change nothing.

    Example:
        ```python
        model = build_model(config.model, len(vocabulary), tasks)
        scores = model({"task": task, "tokens": tokens})["scores"]
        ```
    """

    def __init__(
        self,
        embedding: Embedding,
        scheme: SharingScheme,
        heads: Mapping[str, keras.layers.Layer],
        embedding_dropout: float = 0.0,
        head_dropout: float = 0.0,
        word_dropout: float = 0.0,
        characters: CharacterFeatures | None = None,
        casing: Embedding | None = None,
        hidden: TaskDense | None = None,
        kinds: Sequence[str] = (),
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.embedding = embedding
        self.characters = characters
        self.casing = casing
        self.scheme = scheme
        # Attributes, not a dictionary: tf.train.Checkpoint does not look into
        # the lists and dictionaries of Keras layers.
        self._kinds, self._kinds_of_tasks = tuple(heads), tuple(kinds)
        for kind, head in heads.items():
            setattr(self, f"{kind}_head", head)
        self.embedding_dropout = Dropout(embedding_dropout, salt="embedding")
        self.head_dropout = Dropout(head_dropout, salt="head")
        self.word_dropout = WordDropout(word_dropout)
        self.hidden = hidden

    @property
    def heads(self) -> dict[str, keras.layers.Layer]:
        """The heads by kind of task."""
        return {kind: getattr(self, f"{kind}_head") for kind in self._kinds}

    @property
    def static_shapes(self) -> bool:
        """Whether batches should have few shapes; see `SharingScheme`."""
        return self.scheme.static_shapes

    def kind_of(self, task: int) -> str:
        """The kind of a task, by its number."""
        return (
            self._kinds_of_tasks[task]
            if self._kinds_of_tasks[1:]
            else (self._kinds[0])
        )

    def key_of(self, task: int) -> str | None:
        """The `key` that `call` needs for batches of a task."""
        return self.kind_of(task) if len(self._kinds) > 1 else None

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
        self.scheme.build((None, None, None, size))
        units = self.scheme.output_units
        if self.hidden is not None:
            self.hidden.build((None, None, units))
            units = self.hidden.units
        encoded = {
            "summary": (None, None, units),
            "sequence": (None, None, None, units),
        }
        for head in self.heads.values():
            head.build(encoded)
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
            inspect: fill "inspect" with what figures show.
            key: the kind of the batch's tasks, as `key_of` gives it; None
                where all tasks are of one kind.
        """
        head = self._head(key)
        batch = _at_least_one_step(batch)
        tokens = batch["tokens"]
        # A distributed iterator forgets the number of groups of one of them.
        task = tf.ensure_shape(batch["task"], tokens.shape[:1])
        mask = self.embedding.mask(tokens)
        embedded = self.embedding_dropout(
            self._embed(batch, task, training, seed),
            training=training,
            seed=seed,
        )
        asked = {name: batch.get(name) for name in self.scheme.batch_entries}
        encoded = self.scheme(
            embedded,
            mask,
            task,
            training=training,
            seed=seed,
            inspect=inspect,
            sequence=head.reads == "sequence",
            **asked,
        )
        read = encoded[head.reads]
        if self.hidden is not None:
            read = tf.nn.relu(self.hidden(read, task))
        read = self.head_dropout(read, training=training, seed=seed)
        output = head(encoded | {head.reads: read, "mask": mask}, batch)
        return output | {
            "losses": encoded["losses"],
            "inspect": encoded["inspect"],
            "diagnostics": encoded.get("diagnostics", {}),
        }

    def _embed(self, batch, task, training, seed) -> tf.Tensor:
        """What the scheme reads of the words, side by side."""
        tokens = self.word_dropout(
            batch["tokens"], training=training, seed=seed
        )
        found = [self.embedding(tokens, task)]
        for name, options in (
            ("characters", {"training": training}),
            ("casing", {}),
        ):
            layer = getattr(self, name)
            if layer and name not in batch:
                raise ValueError(
                    f"the model reads {name!r}, but the batch has only "
                    f"{', '.join(sorted(batch))}"
                )
            if layer:
                found.append(layer(batch[name], **options))
        return tf.concat(found, -1) if len(found) > 1 else found[0]

    def private_variables(self) -> list[keras.Variable]:
        """The trainable weights that are stacked by task."""
        return [
            v
            for v in self.trainable_variables
            if getattr(v, "is_private", False)
        ]

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable word vectors, if they are trained."""
        return list(self.embedding.trainable_variables)

    def _head(self, kind: str | None) -> keras.layers.Layer:
        if kind is None and len(self.heads) == 1:
            return next(iter(self.heads.values()))
        if kind is None:
            raise ValueError(
                "a model of several kinds of task needs the batch's kind: one "
                f"of {', '.join(self.heads)}"
            )
        return look_up(kind, self.heads, "kind of task")


def _at_least_one_step(batch: Mapping[str, tf.Tensor]) -> dict:
    """Pads a batch of no steps to one."""
    return dict(batch) | {
        name: at_least_one_step(batch[name], 2)
        for name in _TIMED
        if name in batch
    }


def build_model(
    model_config: Mapping,
    vocabulary_size: int,
    tasks: Sequence[Mapping],
    vectors: np.ndarray | None = None,
    seed: int = 0,
    dtype: str = "float32",
) -> MultiTaskModel:
    """Builds a model with all its weights.

    Args:
        model_config: "scheme" (its "name" and options), "embedding_dim",
            and optionally "embedding_private_dim" (how many of them come from
            a table of the task's own), "embedding_trainable", "dropout"
            ({"embedding", "head"}), "head" ({"hidden_units", "sharing"}: a
            hidden layer below the heads, none if 0, as the S-P of Sun 2019
            has it; whether hidden layer and head are "private", one for each
            task, or "shared"),
            "word_dropout", "characters" ("name":
            "none", "cnn" or "lstm", and options of
            `layers.character_features`), "casing_dim" (0 for none), "tagging"
            (see `heads.make_heads`) and "init" (see
            `layers.base.check_init`).
        vocabulary_size: number of tokens, with padding and unknown.
        tasks: "name", "kind" and "labels" of each, in the order of their
            numbers in a batch.
        vectors: float32 `[vocabulary_size, embedding_dim -
            embedding_private_dim]`, or None to draw them.
        seed: of the initial weights, which are a pure function of it.
        dtype: the dtype policy of its layers, such as "mixed_bfloat16".
            Weights, losses and scores are float32 in any case.

    Raises:
        ConfigError: a field, a name or a value is wrong, or the scheme does
            not compute in `dtype`.
    """
    config = components.checked(model_config)
    if not tasks:
        raise ConfigError("tasks must name at least one task")
    init = {"seed": seed} | dict(config.get("init") or {})
    dropout = components.checked_dropout(config.get("dropout"))
    options = {"init": init, "dtype": dtype}
    scheme = make_scheme(config["scheme"], len(tasks), **options)
    head = components.checked_head(config.get("head"))
    tagging = completed("model.tagging", config.get("tagging"), TAGGING)
    heads = make_heads(tasks, head["sharing"], tagging, options)
    components.check_reading(heads, scheme, config["scheme"]["name"])
    model = MultiTaskModel(
        embedding=components.make_embedding(
            config, vocabulary_size, len(tasks), options
        ),
        scheme=scheme,
        heads=heads,
        embedding_dropout=dropout["embedding"],
        head_dropout=dropout["head"],
        word_dropout=config.get("word_dropout", 0.0),
        characters=make_characters(config.get("characters"), options),
        casing=components.make_casing(config.get("casing_dim", 0), options),
        hidden=components.make_hidden(head, len(tasks), options),
        kinds=[task["kind"] for task in tasks],
        name="multi_task_model",
    )
    model.build()
    if vectors is not None:
        model.embedding.set_vectors(vectors)
    return model


def count_parameters(
    model: keras.Model, include_embedding: bool = False
) -> int:
    """Number of trainable parameters, as the papers' tables count them.

    Args:
        model: a built model of this room.
        include_embedding: count the word vectors too, if they are trained.
    """
    vectors = {id(v) for v in model.embedding_variables()}
    return sum(
        int(np.prod(v.shape))
        for v in model.trainable_variables
        if include_embedding or id(v) not in vectors
    )
