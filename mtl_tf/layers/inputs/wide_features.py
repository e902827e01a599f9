"""Wide features: hashed n-grams of words and of their characters."""

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.special_ids import OOV
from mtl_tf.core.weight_marks import mark
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout

# Multipliers of a 64-bit hash. Any large odd numbers would do.
_FACTOR = -7046029254386353131
_MIX = -4417276706812531889
# Using all of the summary comes first, so it wins ties.
_SHARES = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)
# Greater than all code points.
_BEGIN, _END = 1 << 21, (1 << 21) + 1


@keras.saving.register_keras_serializable(package="mtl_tf")
class WideFeatures(StackedLayer):
    """The summed vectors of a text's n-grams, both shared and per task.

    `x = sum over f of w_f (s_f + p_f^(k)) / sqrt(sum over f of w_f^2)` for a
    text of task k with the n-grams f of words and, if requested, of their
    characters. The weight w_f is 1 or the n-gram's inverse document frequency
    (Sparck Jones 1972; `set_document_counts`).

    With a linear map above it, this is a linear classifier on n-grams that has
    a shared copy of each feature and one per task (Daume 2007), factored into
    vectors (Joulin et al. 2017). Combined with an encoder it is the wide part
    of Cheng et al. (2016). N-grams are hashed, so some share their vectors.

    Vectors start at zero, so that a feature of no training text has no effect.

    Args:
        buckets: number of vectors. The memory is `buckets` times `dimension`,
            once for all tasks and once for each.
        tasks: number of tasks.
        dimension: size D of a vector; at least the number of labels of a task.
        word_ngrams: maximum number of words in an n-gram. N-grams with unknown
            words are left out.
        character_ngrams: maximum number of characters in an n-gram within a
            word; the minimum is three. The ends of a word count as characters.
            0 for none.
        rate: dropout rate for whole n-grams.
        alone: fraction of the texts for which `beside` returns only n-grams in
            training.
        encoder_alone: fraction of the texts for which it returns only the
            summary in training; with `alone` less than 1.
        choose_shares: whether there are `shares`; only with `alone`.
        idf: whether n-grams are weighted by inverse document frequency, which
            `set_document_counts` sets. Until then all weights are 1.
        join_characters: whether words of one character each, such as those
            that a tokenizer makes of scripts without spaces, form n-grams of
            three to `character_ngrams - 1` characters with their neighbours.

    Input shape: `tokens` int32 `[G, B, T]`, 0 is padding; `task` int32 `[G]`;
        with `character_ngrams` also `characters` int32 `[G, B, T, W]`.
    Output shape: `[G, B, D]`, in the policy's compute dtype.
    Masking: padding changes nothing. A text without n-grams has zeros.

    Attributes:
        vectors: float32 `[buckets, D]`.
        private_vectors: float32 `[tasks * buckets, D]`.
        weights_of_ngrams: float32 `[buckets]`, not trained: w. None without
            `idf`.
        shares: float32 `[tasks]`, not trained: the factor of the summary that
            heads read together with the n-grams, outside of training. None if
            nothing is chosen.

    Example:
        ```python
        wide = WideFeatures(1 << 16, tasks=2, dimension=8)
        x = wide(tokens, task)
        ```
    """

    def __init__(
        self,
        buckets: int,
        tasks: int = 1,
        dimension: int = 16,
        word_ngrams: int = 2,
        character_ngrams: int = 0,
        rate: float = 0.0,
        alone: float = 0.0,
        encoder_alone: float = 0.0,
        choose_shares: bool = True,
        idf: bool = False,
        join_characters: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.buckets = checks.positive_integer("wide.buckets", buckets)
        self.tasks = checks.positive_integer("tasks", tasks)
        self.dimension = checks.positive_integer("wide.dimension", dimension)
        self.word_ngrams = checks.positive_integer(
            "wide.word_ngrams", word_ngrams
        )
        self.character_ngrams = checks.not_negative_integer(
            "wide.character_ngrams", character_ngrams
        )
        self.join_characters = checks.boolean(
            "wide.join_characters", join_characters
        )
        self.dropout = Dropout(rate, salt="wide")
        self.beside_dropout = Dropout(alone, salt="beside wide")
        self.encoder_alone = checks.fraction(
            "wide.encoder_alone", encoder_alone
        )
        checks.leave_some(
            {"wide.alone": alone, "wide.encoder_alone": encoder_alone}
        )
        # Of the texts that are not left to the n-grams alone.
        self.wide_dropout = Dropout(encoder_alone / (1 - alone), salt="no wide")
        self.choose_shares = checks.boolean("wide.choose_shares", choose_shares)
        self.idf = checks.boolean("wide.idf", idf)
        self.shares = self.weights_of_ngrams = None

    def build(self, input_shape=None):
        """Makes the vectors."""
        size = self.buckets, self.dimension
        self.vectors = self.add("vectors", *size, limit=0.0)
        self.private_vectors = self.add(
            "private_vectors", self.tasks * size[0], size[1], limit=0.0
        )
        # Stacked by task, like the stacked weights from `add`.
        mark(self.private_vectors, is_private=True)
        for weight in (self.vectors, self.private_vectors):
            mark(weight, is_by_word_id=True, is_wide=True)
        if self.idf:
            self.weights_of_ngrams = self.add_weight(
                name="idf",
                shape=(self.buckets,),
                initializer="ones",
                dtype="float32",
                trainable=False,
                autocast=False,
            )
            mark(
                self.weights_of_ngrams,
                is_by_word_id=True,
                is_parameter=False,
                is_count=True,
            )
        if self.beside_dropout.rate and self.choose_shares:
            self.shares = self.add_weight(
                name="shares",
                shape=(self.tasks,),
                initializer="ones",
                dtype="float32",
                trainable=False,
            )
            mark(self.shares, is_private=True, is_parameter=False)
        self.built = True

    def call(
        self, tokens, task, characters=None, training: bool = False, seed=None
    ):
        """Sums the vectors of the n-grams; see the class."""
        numbers, real = self.ngrams(tokens, characters)
        real = tf.cast(real, tf.float32)
        if self.weights_of_ngrams is not None:
            real *= tf.gather(self.weights_of_ngrams.value, numbers)
        total = tf.reduce_sum(tf.square(real), -1, keepdims=True)
        weights = self.dropout(real, training=training, seed=seed)
        weights /= tf.sqrt(tf.maximum(total, 1.0))
        private_rows = task[:, None, None] * self.buckets + numbers
        vectors = tf.gather(self.vectors.value, numbers)
        vectors += tf.gather(self.private_vectors.value, private_rows)
        return self.cast(tf.einsum("gbf,gbfd->gbd", weights, vectors))

    def ngrams(self, tokens, characters=None) -> tuple[tf.Tensor, tf.Tensor]:
        """The texts' n-grams.

        Args:
            tokens: as in the call.
            characters: as in the call.

        Returns:
            The number of each n-gram's vector, int32 `[G, B, F]`, and whether
            there is such an n-gram, bool `[G, B, F]`.

        Raises:
            ValueError: the layer reads characters, and there are none.
        """
        ngrams = [self._of_words(tokens, n) for n in range(self.word_ngrams)]
        if self.character_ngrams:
            if characters is None:
                raise ValueError(
                    f"{self.name}: n-grams of characters need the words' "
                    "characters, got None"
                )
            marked = _marked(characters)
            for width in range(3, self.character_ngrams + 1):
                ngrams.append(self._of_characters(marked, width))
                # One less, since a word's own have a mark at each end.
                if self.join_characters and width < self.character_ngrams:
                    ngrams.append(self._of_joined(characters, width))
        numbers, real = (tf.concat(part, -1) for part in zip(*ngrams))
        return numbers, real

    def set_document_counts(self, counts: np.ndarray, texts: int) -> None:
        """Sets the weights of n-grams, `ln((1 + texts) / (1 + count)) + 1`.

        N-grams that no text has get 0: no vector has been learnt for them, and
        they would only make a text's other n-grams count less.

        Args:
            counts: `[buckets]`, the number of texts that have an n-gram of this
                bucket.
            texts: the number of all texts.
        """
        weights = np.log((1 + texts) / (1 + counts)) + 1
        self.weights_of_ngrams.assign(np.where(counts > 0, weights, 0.0))

    def beside(
        self,
        summary,
        wide,
        task,
        training: bool = False,
        seed=None,
        share: float | None = None,
    ) -> tf.Tensor:
        """A text's summary, concatenated with the sum of its n-grams.

        An encoder soon memorises a few training texts, and then no gradient
        teaches the n-grams any more. For a fraction `alone` of the texts a head
        therefore reads only n-grams, and other summaries are scaled up. The
        head thus learns both cases. N-grams can be as quick, where only an
        encoder learns what the order of words says. For a fraction
        `encoder_alone` of the texts a head therefore reads only the summary.
        Outside of training it reads the summary times the task's share
        (`shares`). The output of a linear head is then the mean, weighted by
        the share, of its outputs for both inputs and for n-grams alone.

        Args:
            summary: `[G, B, S]`.
            wide: `[G, B, D]`, the result of the call.
            task: int32 `[G]`.
            training: as in the call.
            seed: as in the call.
            share: replaces the tasks' shares.

        Returns:
            `[G, B, S + D]`.
        """
        if share is not None:
            summary *= tf.cast(share, summary.dtype)
        elif self.shares is not None and not training:
            task_share = tf.gather(self.shares.value, task)[:, None, None]
            summary *= tf.cast(task_share, summary.dtype)
        factors = self.beside_dropout(
            tf.ones_like(summary[..., :1]), training=training, seed=seed
        )
        if training and self.encoder_alone:
            others = self.wide_dropout(
                tf.ones_like(factors), training=True, seed=seed
            )
            # No text may lose both.
            kept = tf.where(factors > 0, others > 0, True)
            wide *= tf.cast(kept, wide.dtype) / (1.0 - self.encoder_alone)
        return tf.concat([summary * factors, wide], -1)

    @property
    def choices(self) -> tuple[float, ...]:
        """The shares that a task may have; () if there are none."""
        return () if self.shares is None else _SHARES

    def chosen(self, task: int) -> float:
        """The task's share."""
        return round(float(self.shares.numpy()[task]), 3)

    def choose(self, task: int, choice: int) -> bool:
        """Sets a task's share to one of `choices`, by its number.

        Returns:
            Whether the share changed.
        """
        shares = self.shares.numpy()
        before, shares[task] = shares[task], _SHARES[choice]
        self.shares.assign(shares)
        return shares[task] != before

    def _of_words(self, tokens, more: int):
        """The n-grams of a word and the `more` words after it, `[G, B, T]`."""
        parts = _shifted(tokens, more + 1)
        known = tf.reduce_all(tf.stack(parts) > OOV, 0)
        return self._bucket(parts, more + 1), known

    def _of_joined(self, characters, width: int):
        """The n-grams of `width` words of one character each, `[G, B, T]`."""
        is_one = tf.math.count_nonzero(characters, -1) == 1
        parts = _shifted(tf.where(is_one, characters[..., 0], 0), width)
        real = tf.reduce_all(tf.stack(parts) > 0, 0)
        return self._bucket(parts, -width), real

    def _of_characters(self, marked, width: int):
        """The n-grams of `width` characters, `[G, B, T * (W + 3 - width)]`."""
        places = tf.maximum(tf.shape(marked)[3] - width + 1, 0)
        parts = [marked[..., n : n + places] for n in range(width)]
        shape = tf.concat([tf.shape(marked)[:2], [-1]], 0)
        real = tf.reshape(parts[-1] > 0, shape)
        # A different kind, so that they differ from n-grams of words.
        return tf.reshape(self._bucket(parts, -width), shape), real

    def _bucket(self, parts, kind: int):
        """The bucket of each n-gram, int32."""
        code = tf.constant(kind, tf.int64)
        for part in parts:
            code = tf.bitwise.bitwise_xor(
                code * _FACTOR, tf.cast(part, tf.int64) * _MIX
            )
            high = tf.bitwise.right_shift(code, tf.constant(29, tf.int64))
            code = tf.bitwise.bitwise_xor(code, high)
        return tf.cast(tf.math.floormod(code, self.buckets), tf.int32)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "buckets": self.buckets,
            "tasks": self.tasks,
            "dimension": self.dimension,
            "word_ngrams": self.word_ngrams,
            "character_ngrams": self.character_ngrams,
            "join_characters": self.join_characters,
            "rate": self.dropout.rate,
            "alone": self.beside_dropout.rate,
            "encoder_alone": self.encoder_alone,
            "choose_shares": self.choose_shares,
            "idf": self.idf,
        }


def _shifted(values: tf.Tensor, number: int) -> list[tf.Tensor]:
    """`[G, B, T]` as it is and shifted by 1, 2, ... to the left."""
    padded = tf.pad(values, [[0, 0], [0, 0], [0, number - 1]])
    steps = tf.shape(values)[2]
    return [padded[:, :, n : n + steps] for n in range(number)]


def _marked(characters: tf.Tensor) -> tf.Tensor:
    """The words' characters between two marks, `[G, B, T, W + 2]`."""
    none = [[0, 0]] * 3
    has = tf.cast(characters[..., :1] > 0, characters.dtype)
    marked = tf.concat([has * _BEGIN, characters], -1)
    marked = tf.pad(marked, [*none, [0, 1]])
    before = tf.pad(marked[..., :-1], [*none, [1, 0]])
    return tf.where((marked == 0) & (before > 0), _END, marked)
