"""The encoder of the question answering model."""

from collections.abc import Mapping
from typing import NamedTuple

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import OOV
from mtl_tf.layers.answering.coattention import DualCoattention
from mtl_tf.layers.answering.self_attentive_encoder import (
    BidirectionalLSTM,
    SelfAttentiveEncoder,
)
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.inputs.embedding import Embedding
from mtl_tf.layers.inputs.ngram_embedding import NgramEmbedding
from mtl_tf.layers.task_dense import TaskDense
from mtl_tf.models.protocol import TaskModel


class Parts(NamedTuple):
    """The parts of a model in table 2 of McCann et al. (2018).

    Attributes:
        self_attention: self-attention in encoder and decoder.
        coattention: context and question are two texts with coattention;
            otherwise they are read as one text.
        question_pointer: words are also copied from the question.
    """

    self_attention: bool
    coattention: bool
    question_pointer: bool


class QuestionReader(TaskModel):
    """The reading half of a model: turns words into the decoder's memory.

    McCann et al. (2018), section 3. A subclass adds the decoder. All weights
    are attributes of one model, because checkpoints use their names.

    Args:
        name: the model's name.
        parts: the parts of the model.
        vocabulary_size: number of words with a vector.
        options: the fields of `build_question_model` except the name.
        ngrams: see `build_question_model`.
        dtype: the dtype policy of the layers.
    """

    def __init__(
        self,
        name: str,
        parts: Parts,
        vocabulary_size: int,
        options: Mapping,
        ngrams: tuple[int, np.ndarray] | None = None,
        dtype: str = "float32",
    ):
        super().__init__(autocast=False, name=name)
        self.vocabulary_size = checks.positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.units, self.rate = options["units"], options["dropout"]
        self._shared_options = {"init": options["init"], "dtype": dtype}
        self.coattended = parts.coattention
        # Without a pointer into the question, the decoder sees it only through
        # the context, to which it was aligned.
        self.encoded = ("context",)
        if parts.question_pointer:
            self.encoded += ("question",)
        self.embedding = Embedding(
            vocabulary_size,
            options["embedding_dim"],
            name="embedding",
            **self._shared_options,
        )
        self.ngram_embedding = None
        if ngrams is not None:
            count, of_words = ngrams
            self.ngram_embedding = NgramEmbedding(
                count,
                options["ngram_dim"],
                of_words,
                name="ngram_embedding",
                **self._shared_options,
            )
        self._add_projection("text")
        if self.coattended:
            self.independent = BidirectionalLSTM(
                self.units,
                self.rate,
                name="independent",
                **self._shared_options,
            )
            self.coattention = DualCoattention(
                self.units, name="coattention", **self._shared_options
            )
        for text in self.encoded:
            encoder = SelfAttentiveEncoder(
                self.units,
                options["blocks"] if parts.self_attention else 0,
                options["heads"],
                options["feed_forward"],
                self.rate,
                name=f"{text}_encoder",
                **self._shared_options,
            )
            setattr(self, f"{text}_encoder", encoder)

    def _add_projection(self, side: str) -> None:
        """The `x W` of equation 2 or 15, without a bias, and its dropout."""
        name = f"{side}_projection"
        layer = TaskDense(
            self.units, 0, use_bias=False, name=name, **self._shared_options
        )
        setattr(self, name, layer)
        dropout = Dropout(self.rate, salt=name, short=True)
        setattr(self, f"{name}_dropout", dropout)

    @property
    def embedded_size(self) -> int:
        """The size of a word's vector, including that of its n-grams."""
        if self.ngram_embedding is None:
            return self.embedding.dimension
        return self.embedding.dimension + self.ngram_embedding.dimension

    def build(self, input_shape=None):
        """Makes the weights of the reading half."""
        self.embedding.build()
        if self.ngram_embedding is not None:
            self.ngram_embedding.build()
        self.text_projection.build((None, None, None, self.embedded_size))
        size = self.units
        if self.coattended:
            self.independent.build((None, None, None, size))
            self.coattention.build()
            size *= 4
        for text in self.encoded:
            encoder = getattr(self, f"{text}_encoder")
            encoder.build((None, None, None, size))

    def embed(self, ids: tf.Tensor, own_vectors: tf.Tensor | None) -> tf.Tensor:
        """The vectors of words, `[G, B, L, E]`.

        Args:
            ids: int32 `[G, B, L]`; this and `own_vectors` may both lack G.
            own_vectors: float32 `[G, B, O, N]`, the mean n-gram vectors of the
                examples' unknown words, if the model has n-grams.
        """
        x = self.embedding(tf.where(ids < self.vocabulary_size, ids, OOV))
        if self.ngram_embedding is None:
            return x
        return tf.concat(
            [x, self.ngram_embedding.look_up(ids, own_vectors)], -1
        )

    def project(
        self, side: str, ids, own_vectors, training: bool = False, seed=None
    ) -> tf.Tensor:
        """The projected vectors of words, `[G, B, L, D]`.

        Args:
            side: which projection, "text" or "answer".
            ids: see `embed`.
            own_vectors: see `embed`.
            training: whether to apply dropout.
            seed: int32 `[2]`, for dropout.
        """
        name = f"{side}_projection"
        x = getattr(self, name)(self.embed(ids, own_vectors), None)
        dropout = getattr(self, f"{name}_dropout")
        return dropout(x, training=training, seed=seed)

    def read(
        self, context, question, own_words=None, training=False, seed=None
    ) -> dict[str, tf.Tensor]:
        """What the decoder reads of both texts; see `PointerDecoder`.

        Args:
            context: int32 `[G, B, L]`, 0 is padding.
            question: int32 `[G, B, M]`.
            own_words: the n-grams of the examples' unknown words, int32
                `[G, B, O, K]`, if the model has n-grams.
            training: whether to apply dropout.
            seed: int32 `[2]`, for dropout.

        Returns:
            "context" `[G, B, L, D]`, "context_mask" bool and "context_ids"
            int32 `[G, B, L]`; the same for "question" if its words can be
            copied; and "own_words" `[G, B, O, N]`, the mean vectors of their
            n-grams.
        """
        call = {"training": training, "seed": seed}
        context = at_least_one_step(context, 2)
        question = at_least_one_step(question, 2)
        # Computed once for both texts and the whole answer.
        texts, own_vectors = {}, None
        if self.ngram_embedding is not None and own_words is not None:
            texts["own_words"] = own_vectors = self.ngram_embedding.means(
                own_words
            )
        if self.coattended:
            return texts | self._coattend(context, question, own_vectors, call)
        # Padding between the two texts is as harmless as padding after them.
        ids = tf.concat([context, question], 2)
        mask = tf.not_equal(ids, 0)
        x = self.project("text", ids, own_vectors, **call)
        x = self.context_encoder(x, mask, **call)
        return texts | {"context": x, "context_mask": mask, "context_ids": ids}

    def _coattend(self, context, question, own_vectors, call):
        """Reads two texts, each with attention to the other."""
        ids = {"context": context, "question": question}
        masks = {name: tf.not_equal(x, 0) for name, x in ids.items()}
        projected = {
            name: self.project("text", x, own_vectors, **call)
            for name, x in ids.items()
        }
        independent = {
            name: self.independent(x, masks[name], **call)
            for name, x in projected.items()
        }
        coattended = self.coattention(
            independent["context"],
            masks["context"],
            independent["question"],
            masks["question"],
        )
        texts = {}
        for name, (summary, back) in zip(self.encoded, coattended):
            x = tf.concat(
                [projected[name], independent[name], summary, back], -1
            )
            encoder = getattr(self, f"{name}_encoder")
            texts[name] = encoder(x, masks[name], **call)
            texts[f"{name}_mask"] = masks[name]
            texts[f"{name}_ids"] = ids[name]
        return texts

    def private_variables(self) -> list[keras.Variable]:
        """Empty, because all tasks share all weights."""
        return []

    def embedding_variables(self) -> list[keras.Variable]:
        """The trainable vectors of words and of n-grams."""
        variables = list(self.embedding.trainable_variables)
        if self.ngram_embedding is not None:
            variables += self.ngram_embedding.trainable_variables
        return variables
