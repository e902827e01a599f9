"""The MQAN as a Keras user would write it first, for comparison."""

import keras
import tensorflow as tf

from mtl_tf.benchmarks.reference_question_layers import (
    Block,
    Coattention,
    Encoder,
    PointerCell,
    bidirectional,
    dense,
)
from mtl_tf.core.special_ids import BOS, EOS, OOV
from mtl_tf.models.answering.question_answering import QuestionAnsweringModel

_TEXTS = ("context", "question")
_NOTHING = 1e-30


class KerasQuestionModel(keras.Model):
    """McCann et al. (2018) in Keras's layers, in the form of their own code.

    It computes the same as our model, from the same weights. As in the authors'
    code, it makes the distribution over the generative vocabulary and all other
    words of the batch for every word of every answer, and then takes the
    target's value. The decoder is a loop over words. When it decodes greedily,
    it keeps the inputs of each layer, but computes keys and values from them at
    every step.

    Args:
        ours: an "mqan", whose parameters are copied.

    Input shape: a batch of one group, see `QuestionAnsweringModel`. All words
        of the answers must be generative or copyable.
    Output shape: the summed negative log-likelihoods `[B]`.
    """

    def __init__(self, ours: QuestionAnsweringModel):
        super().__init__()
        # Imported here, because only this case needs it.
        import keras_nlp

        self.units = ours.units
        self.words = ours.vocabulary_size
        self.generative = ours.pointer.output_layer.vocabulary_size
        self.embedding = keras.layers.Embedding(
            self.words, ours.embedding.dimension
        )
        self.embedding.build()
        self.embedding.embeddings.assign(ours.embedding.vectors)
        self.project_text = dense(ours.text_projection.kernel)
        self.project_answer = dense(ours.answer_projection.kernel)
        self.independent = bidirectional(ours.independent)
        self.coattention = Coattention(ours.coattention)
        self.encoders = {
            name: Encoder(getattr(ours, f"{name}_encoder")) for name in _TEXTS
        }
        self.blocks = [Block(block) for block in ours.answer_blocks]
        self.positions = keras_nlp.layers.SinePositionEncoding()
        self.cell = PointerCell(ours.pointer)
        kernel = ours.pointer.output_layer.kernel
        self.output_layer = dense(
            tf.transpose(kernel.value), activation="softmax"
        )
        self.dropout = keras.layers.Dropout(ours.rate)
        self.built = True

    def call(self, batch, training=False):
        """The losses of a batch's answers."""
        ids = {name: batch[name][0] for name in (*_TEXTS, "answer")}
        texts, masks = self._encode(ids, training)
        numbers, words = self._numbered(ids)
        answer = ids["answer"]
        begin = tf.fill([tf.shape(answer)[0], 1], BOS)
        x = self._answers(tf.concat([begin, answer[:, :-1]], 1), training)
        x += self.positions(x)
        for block in self.blocks:
            x = block(
                x,
                answer != 0,
                texts["context"],
                masks["context"],
                training=training,
            )
        x = self.dropout(x, training=training)
        state, steps = self._begin(x), []
        for place in tf.unstack(x, axis=1):
            out, state = self.cell(place, state, texts, masks)
            steps.append(out)
        outputs = [tf.stack(parts, 1) for parts in zip(*steps)]
        outputs[0] = self.dropout(outputs[0], training=training)
        probabilities = self._extended(outputs, numbers, words)
        p = tf.gather(probabilities, numbers["answer"], batch_dims=2)
        losses = -tf.math.log(tf.maximum(p, _NOTHING))
        return tf.reduce_sum(tf.where(answer != 0, losses, 0.0), 1)

    def answer(
        self, context: tf.Tensor, question: tf.Tensor, max_length: int
    ) -> dict[str, tf.Tensor]:
        """Greedy search, to be called in a `tf.function`.

        Args:
            context: int32 `[B, L]`.
            question: int32 `[B, M]`.
            max_length: maximum number of words in an answer, with its end
                token.

        Returns:
            "tokens" int32 `[B, U]` with the end, "score" float32 `[B]`.
        """
        ids = {"context": context, "question": question}
        texts, masks = self._encode(ids, False)
        numbers, words = self._numbered(ids)
        rows = tf.shape(context)[0]
        whole = tf.zeros([1, max_length, self.units])
        positions = self.positions(whole)

        def step(t, tokens, before, state, ended, score):
            x = self._answers(tokens[:, -1:], False) + positions[:, t : t + 1]
            extended = []
            for block, places in zip(self.blocks, before):
                x, places = block.next_place(
                    x, places, texts["context"], masks["context"]
                )
                extended.append(places)
            out, state = self.cell(x[:, 0], state, texts, masks)
            p = self._extended([y[:, None] for y in out], numbers, words)[:, 0]
            best = tf.argmax(p, -1, output_type=tf.int32)
            gained = tf.math.log(tf.reduce_max(p, -1))
            # From the batch's numbering back to word ids.
            copied = tf.gather(words, tf.maximum(best - self.generative, 0))
            token = tf.where(best < self.generative, best, copied)
            token = tf.where(ended, 0, token)
            score += tf.where(ended, 0.0, gained)
            tokens = tf.concat([tokens, token[:, None]], 1)
            return t + 1, tokens, extended, state, ended | (token == EOS), score

        start = (
            tf.constant(0),
            tf.fill([rows, 1], BOS),
            [tf.zeros([rows, 0, self.units]) for _ in self.blocks],
            self._begin(texts["context"]),
            tf.zeros([rows], tf.bool),
            tf.zeros([rows]),
        )
        grows = [tf.TensorShape([None, None, self.units]) for _ in self.blocks]
        shapes = tf.nest.map_structure(lambda x: x.shape, start)
        shapes = (shapes[0], tf.TensorShape([None, None]), grows, *shapes[3:])
        _, tokens, _, _, _, score = tf.while_loop(
            lambda t, tokens, before, state, ended, score: (
                (t < max_length) & ~tf.reduce_all(ended)
            ),
            step,
            start,
            shape_invariants=shapes,
        )
        return {"tokens": tokens[:, 1:], "score": score}

    def _embed(self, ids):
        return self.embedding(tf.where(ids < self.words, ids, OOV))

    def _answers(self, ids, training):
        x = self.project_answer(self._embed(ids))
        return self.dropout(x, training=training) * self.units**0.5

    def _begin(self, like):
        zeros = tf.zeros_like(like[:, 0])
        return zeros, zeros, zeros

    def _encode(self, ids, training):
        """Both texts as the decoder reads them, and their masks, by name."""
        masks = {name: ids[name] != 0 for name in _TEXTS}
        projected, read = {}, {}
        for name in _TEXTS:
            x = self.project_text(self._embed(ids[name]))
            projected[name] = x = self.dropout(x, training=training)
            x = self.dropout(x, training=training)
            read[name] = self.independent(x, mask=masks[name])
        coattended = self.coattention(list(read.values()), list(masks.values()))
        texts = {}
        for name, coattended_text in zip(_TEXTS, coattended):
            x = tf.concat([projected[name], read[name], coattended_text], -1)
            texts[name] = self.encoders[name](x, masks[name], training=training)
        return texts, masks

    def _numbered(self, ids):
        """Numbers the batch's words after the generative vocabulary.

        Returns:
            The numbers for the ids, by name, and the words `[N]` whose numbers
            start at the size of the generative vocabulary.
        """
        flat = tf.concat([tf.reshape(x, [-1]) for x in ids.values()], 0)
        words, places = tf.unique(tf.where(flat < self.generative, 0, flat))
        flat = tf.where(flat < self.generative, flat, self.generative + places)
        parts = tf.split(flat, [tf.size(x) for x in ids.values()])
        shaped = (
            tf.reshape(n, tf.shape(x)) for n, x in zip(parts, ids.values())
        )
        return dict(zip(ids, shaped)), words

    def _extended(self, outputs, numbers, words):
        """The distributions `[B, U, generative + N]` (equation 13)."""
        state, shares, *weights = outputs
        written = shares[..., :1] * self.output_layer(state)
        distribution = tf.pad(written, [[0, 0], [0, 0], [0, tf.size(words)]])
        for number, (name, weight) in enumerate(zip(_TEXTS, weights), 1):
            shape = tf.shape(weight)
            rows, places, _ = tf.meshgrid(
                *(tf.range(size) for size in tf.unstack(shape)), indexing="ij"
            )
            at = tf.broadcast_to(numbers[name][:, None], shape)
            distribution = tf.tensor_scatter_nd_add(
                distribution,
                tf.stack([rows, places, at], -1),
                shares[..., number, None] * weight,
            )
        return distribution
