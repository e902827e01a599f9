"""Decoding of the question answering model, as `BeamSearch` needs it."""

import tensorflow as tf

from mtl_tf.layers.answering import pointer_mixture
from mtl_tf.layers.beam_search import candidates_needed
from mtl_tf.models.protocol import TaskModel

_POINTER = ("hidden", "memory", "context")


class Answering:
    """Generates the answers of B examples, word by word.

    A step computes only what is new at its position. The inputs of the
    decoder's self-attention are cached.

    Args:
        model: a `QuestionAnsweringModel`, which imports this module.
        texts: both texts as the decoder reads them, `[B, ...]`; see
            `PointerDecoder`.
        beam: hypotheses per example, K.
        max_length: maximum number of words in an answer, with its end token.
    """

    def __init__(
        self,
        model: TaskModel,
        texts: dict[str, tf.Tensor],
        beam: int,
        max_length: int,
    ):
        self._model, self._beam = model, beam
        self._max_length = max_length
        self._size = model.pointer.output_layer.vocabulary_size
        self._number(texts)
        self._context = tf.repeat(texts["context"], beam, 0)
        self._mask = tf.repeat(texts["context_mask"], beam, 0)
        self._folded = [block.folded() for block in model.answer_blocks]
        zeros = tf.zeros([1, 1, max_length, model.units])
        self._positions = model.positions(zeros)[0, 0]

    def _number(self, texts) -> None:
        """Numbers non-generative words by the first place where they occur."""
        names = [f"{name}_ids" for name in self._model.pointer.pointers]
        #: The ids at all places of both texts, [B, S].
        self._word_ids = tf.concat([texts[name] for name in names], 1)
        self._first = pointer_mixture.first_places(self._word_ids)
        self._numbered = tf.where(
            self._word_ids < self._size,
            self._word_ids,
            self._size + self._first,
        )
        lengths = [tf.shape(texts[name])[1] for name in names]
        ids = tf.split(self._numbered, lengths, 1)
        self._texts = texts | dict(zip(names, ids))

    def start(self) -> dict[str, tf.Tensor]:
        """The state before the first word, `[B, ...]` by name."""
        rows = tf.shape(self._word_ids)[0]
        state = self._model.pointer.start(rows)
        state = {name: value[:, 0] for name, value in state.items()}
        state["place"] = tf.zeros(tf.stack([rows]), tf.int32)
        for number, block in enumerate(self._model.answer_blocks):
            state[f"written_{number}"] = block.empty(rows, self._max_length)
        return state

    def step(self, last, state, places):
        """A step of `BeamSearch`; its attention is the words' sources."""
        model = self._model
        own_vectors = self._texts.get("own_words")
        x = model.project_answers(self.words(last), own_vectors)
        x = tf.reshape(x, [-1, 1, model.units])
        x, new_state = self._blocks(x, state)
        x = tf.reshape(x, [-1, self._beam, model.units])
        pointer = {name: state[name] for name in _POINTER}
        pointer, mixture = model.pointer.advance(x, pointer, self._texts)
        # The output layer is most of the work, so only open hypotheses use it.
        candidates = model.pointer.candidates(
            {n: tf.gather_nd(value, places) for n, value in mixture.items()},
            tf.gather(self._numbered, places[:, 0]),
            tf.gather(self._first, places[:, 0]),
            candidates_needed(self._beam),
        )

        def sources(words, parents, log_p):
            of_parents = {
                name: tf.gather(value, parents, axis=1, batch_dims=1)
                for name, value in mixture.items()
            }
            return pointer_mixture.sources(
                of_parents, self._texts, words, log_p, self._size
            )

        return new_state | pointer, candidates, sources

    def words(self, tokens: tf.Tensor) -> tf.Tensor:
        """Word ids, as in the texts, for generated ids `[B, ...]`."""
        places = tf.maximum(tokens - self._size, 0)
        copied = tf.gather(self._word_ids, places, axis=1, batch_dims=1)
        return tf.where(tokens < self._size, tokens, copied)

    def _blocks(self, x, state):
        """Applies the blocks to `x` `[B K, 1, D]`; returns their state, too."""
        # The same everywhere; in a batch without examples the first place.
        place = tf.maximum(tf.reduce_max(state["place"]), 0)
        new = {"place": state["place"] + 1}
        blocks = self._model.answer_blocks
        if blocks:
            x += tf.cast(self._positions[place], x.dtype)
        for number, block in enumerate(blocks):
            name = f"written_{number}"
            old = state[name]
            cache = tf.reshape(old, [-1, *old.shape[2:]])
            x, cache = block.advance(
                x,
                place,
                cache,
                self._context,
                self._mask,
                self._folded[number],
            )
            value = tf.reshape(cache, tf.shape(old))
            new[name] = tf.ensure_shape(value, old.shape)
        return x, new
