"""The multi-task model: embedding, sharing scheme, a head per kind of task."""

from collections.abc import Mapping, Sequence

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed, hint, look_up
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.embedding import Embedding
from mtl_tf.layers.task_dense import TaskDense
from mtl_tf.models.registry import HEADS, make_scheme
from mtl_tf.models.scheme import SharingScheme

_FIELDS = (
    "embedding_dim",
    "embedding_private_dim",
    "embedding_trainable",
    "dropout",
    "head",
    "init",
    "scheme",
)


class MultiTaskModel(keras.Model):
    """Embeds, encodes and scores a batch of several tasks' texts.

    Args:
        embedding: looks the tokens up.
        scheme: encodes the texts.
        heads: by kind of task.
        embedding_dropout: rate of dropout on the embedded tokens.
        head_dropout: rate of dropout on what a head reads.
        hidden: a layer whose positive part the heads read in place of what
            the scheme returns, or None: with it a head is a perceptron with
            one hidden layer.

    Input shape: a batch: "task" int32 `[G]`, "tokens" int32 `[G, B, T]` (0 is
        padding), maybe "label"; other entries are ignored.
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
        hidden: TaskDense | None = None,
        **kwargs,
    ):
        super().__init__(autocast=False, **kwargs)
        self.embedding = embedding
        self.scheme = scheme
        # Attributes, not a dictionary: tf.train.Checkpoint does not look into
        # the lists and dictionaries of Keras layers.
        self._kinds = tuple(heads)
        for kind, head in heads.items():
            setattr(self, f"{kind}_head", head)
        self.embedding_dropout = Dropout(embedding_dropout, salt="embedding")
        self.head_dropout = Dropout(head_dropout, salt="head")
        self.hidden = hidden

    @property
    def heads(self) -> dict[str, keras.layers.Layer]:
        """The heads by kind of task."""
        return {kind: getattr(self, f"{kind}_head") for kind in self._kinds}

    def build(self, input_shape=None):
        """Makes all weights."""
        self.embedding.build()
        embedded = (None, None, None, self.embedding.dimension)
        self.scheme.build(embedded)
        units = self.scheme.output_units
        if self.hidden is not None:
            self.hidden.build((None, None, units))
            units = self.hidden.units
        encoded = {"summary": (None, None, units)}
        for head in self.heads.values():
            head.build(encoded)
        self.built = True

    def call(
        self,
        batch,
        training: bool = False,
        seed=None,
        inspect: bool = False,
        kind: str | None = None,
    ) -> dict:
        """Scores a batch.

        Args:
            batch: see the class.
            training: whether a gradient will be taken.
            seed: int32 `[2]`, for dropout.
            inspect: fill "inspect" with what figures show.
            kind: of the batch's tasks; needed where there are several kinds.
        """
        head = self._head(kind)
        tokens = at_least_one_step(batch["tokens"])
        # A distributed iterator forgets the number of groups of one of them.
        task = tf.ensure_shape(batch["task"], tokens.shape[:1])
        embedded = self.embedding_dropout(
            self.embedding(tokens, task), training=training, seed=seed
        )
        asked = {name: batch.get(name) for name in self.scheme.batch_entries}
        encoded = self.scheme(
            embedded,
            self.embedding.mask(tokens),
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
        output = head(encoded | {head.reads: read}, batch)
        return output | {
            "losses": encoded["losses"],
            "inspect": encoded["inspect"],
            "diagnostics": encoded.get("diagnostics", {}),
        }

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
        return look_up(kind, self.heads, "kind of task")


def build_model(
    model_config: Mapping,
    vocabulary_size: int,
    tasks: Sequence[Mapping],
    vectors: np.ndarray | None = None,
    seed: int = 0,
) -> MultiTaskModel:
    """Builds a model with all its weights.

    Args:
        model_config: "scheme" (its "name" and options), "embedding_dim",
            and optionally "embedding_private_dim" (how many of them come from
            a table of the task's own), "embedding_trainable", "dropout"
            ({"embedding", "head"}), "head" ({"hidden_units", "sharing"}: a
            hidden layer below the heads, none if 0, as the S-P of Sun 2019
            has it; whether hidden layer and head are "private", one for each
            task, or "shared") and "init" (see `layers.base.check_init`).
        vocabulary_size: number of tokens, with padding and unknown.
        tasks: "name", "kind" and "labels" of each, in the order of their
            numbers in a batch.
        vectors: float32 `[vocabulary_size, embedding_dim -
            embedding_private_dim]`, or None to draw them.
        seed: of the initial weights, which are a pure function of it.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    config = _checked(model_config)
    if not tasks:
        raise ConfigError("tasks must name at least one task")
    init = {"seed": seed} | dict(config.get("init") or {})
    dropout = _checked_dropout(config.get("dropout"))
    scheme = make_scheme(config["scheme"], len(tasks), init)
    head = _checked_head(config.get("head"))
    heads = _make_heads(tasks, head["sharing"], init)
    _check_reading(heads, scheme, config["scheme"]["name"])
    model = MultiTaskModel(
        embedding=_make_embedding(config, vocabulary_size, len(tasks), init),
        scheme=scheme,
        heads=heads,
        embedding_dropout=dropout["embedding"],
        head_dropout=dropout["head"],
        hidden=_make_hidden(head, len(tasks), init),
        name="multi_task_model",
    )
    model.build()
    if vectors is not None:
        model.embedding.set_vectors(vectors)
    return model


def _make_embedding(
    config: Mapping, vocabulary_size: int, tasks: int, init: Mapping
) -> Embedding:
    private = config.get("embedding_private_dim", 0)
    trainable = bool(config.get("embedding_trainable", True))
    if private and not trainable:
        raise ConfigError(
            "embedding_private_dim must be 0 where embedding_trainable is "
            f"False, got {private}: tables of the tasks' own are drawn at "
            "random and would never learn"
        )
    return Embedding(
        vocabulary_size,
        config.get("embedding_dim", 200),
        private_dimension=private,
        tasks=tasks,
        trainable=trainable,
        init=init,
        name="embedding",
    )


def _make_heads(tasks: Sequence[Mapping], sharing: str, init: Mapping) -> dict:
    """The head of the tasks' kind."""
    kinds = sorted({task["kind"] for task in tasks})
    if len(kinds) > 1:
        raise ConfigError(f"tasks must be of one kind, got {kinds}")
    head = look_up(kinds[0], HEADS, "kind of task")
    counts = [len(task["labels"]) for task in tasks]
    made = head(counts, sharing=sharing, init=init, name=kinds[0])
    return {kinds[0]: made}


def _make_hidden(head: Mapping, tasks: int, init: Mapping) -> TaskDense | None:
    """The hidden layer below the heads, if there is one."""
    if not head["hidden_units"]:
        return None
    count = 0 if head["sharing"] == "shared" else tasks
    return TaskDense(head["hidden_units"], count, init=init, name="hidden")


def _check_reading(heads: Mapping, scheme: SharingScheme, name: str) -> None:
    for kind, head in heads.items():
        if head.reads == "sequence" and not scheme.has_sequence:
            raise ConfigError(
                f"the scheme {name!r} has no sequence, which tasks of the "
                f"kind {kind!r} need: choose another model.scheme"
            )


def _checked(config: Mapping) -> dict:
    for field in config:
        if field not in _FIELDS:
            raise ConfigError(
                f"model has no field {field!r}; {hint(field, _FIELDS)}"
            )
    if "scheme" not in config:
        raise ConfigError("model.scheme must name a sharing scheme")
    return dict(config)


def _checked_dropout(dropout: Mapping | None) -> dict:
    return completed("model.dropout", dropout, {"embedding": 0.0, "head": 0.0})


def _checked_head(head: Mapping | None) -> dict:
    default = {"hidden_units": 0, "sharing": "private"}
    head = completed("model.head", head, default)
    checks.not_negative_integer("head.hidden_units", head["hidden_units"])
    return head


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
