"""Question answering over contexts: the MQAN and its ablations."""

from collections.abc import Mapping

import keras
import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import completed, look_up
from mtl_tf.core.special_ids import BOS
from mtl_tf.layers.answering.answer_block import AnswerBlock
from mtl_tf.layers.answering.pointer_decoder import PointerDecoder
from mtl_tf.layers.base import at_least_one_step
from mtl_tf.layers.beam_search import BeamSearch
from mtl_tf.layers.inputs.positions import Positions
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.answering.decoding import Answering
from mtl_tf.models.answering.question_reader import Parts, QuestionReader

#: The models of table 2, each of which adds a part to the previous one.
MODELS: Mapping[str, Parts] = {
    "s2s": Parts(False, False, False),
    "s2s_self_attention": Parts(True, False, False),
    "coattention": Parts(True, True, False),
    "mqan": Parts(True, True, True),
}

_DEFAULTS = {
    "name": "mqan",
    "embedding_dim": 300,
    "ngram_dim": 100,
    "units": 200,
    "feed_forward": 150,
    "heads": 3,
    "blocks": 2,
    "dropout": 0.2,
    "per_word": True,
    "init": {},
}


@keras.saving.register_keras_serializable(package="mtl_tf")
class QuestionAnsweringModel(QuestionReader):
    """Generates an answer to a question about a context.

    McCann et al. (2018), section 3 and appendix C, and the models of its table
    2. Each adds a part to the previous one: "s2s" reads context and question as
    one text, "s2s_self_attention" adds self-attention to encoder and decoder,
    "coattention" reads two texts with coattention, and "mqan" can also copy
    from the question.

    Words are numbered by frequency. The ids below `generative` are the words
    that can be generated without being copied. Ids from `vocabulary_size` on
    are the example's unknown words: equal words of its context, question and
    answer have equal ids.

    Args:
        name: one of `MODELS`.
        vocabulary_size: number of words with a vector.
        generative: how many of them, the first ones, can be generated.
        options: the fields of `build_question_model` except the name.
        ngrams: see `build_question_model`.
        dtype: the dtype policy of the layers.

    Input shape: a batch of G groups: "context" int32 `[G, B, L]`, "question"
        `[G, B, M]` and "answer" `[G, B, U]`, which has the end token's id after
        the last word; 0 is padding. With n-grams also "own_words"
        `[G, B, O, K]`, the n-grams of the examples' unknown words.
    Output shape: "loss" float32 `[G, B]`, the negative log-likelihood of an
        answer's words (their mean with `per_word`, otherwise their sum);
        "tokens" float32 `[G, B]`, the number of words; "losses"; and "inspect"
        with "sources" `[G, B, U, 3]`, the shares of vocabulary, context and
        question.
    Masking: padding changes nothing.

    Example:
        ```python
        model = build_question_model({"name": "mqan"}, 100_000, 50_000)
        loss = model(batch)["loss"]
        best = model.answer(context, question, max_length=50)["tokens"]
        ```
    """

    def __init__(
        self,
        name: str,
        vocabulary_size: int,
        generative: int,
        options: Mapping,
        ngrams: tuple[int, np.ndarray] | None = None,
        dtype: str = "float32",
    ):
        parts = look_up(name, MODELS, "model")
        super().__init__(name, parts, vocabulary_size, options, ngrams, dtype)
        checks.positive_integer("generative vocabulary", generative)
        if generative > vocabulary_size:
            raise ConfigError(
                "the generative vocabulary must be a part of all "
                f"{vocabulary_size} words, got {generative}"
            )
        self.per_word = options["per_word"]
        self._add_projection("answer")
        self.positions = Positions(
            "sinusoidal", name="positions", **self._shared_options
        )
        self.block_count = options["blocks"] if parts.self_attention else 0
        # Attributes, because tf.train.Checkpoint does not look into lists.
        for number in range(self.block_count):
            block = AnswerBlock(
                self.units,
                options["heads"],
                options["feed_forward"],
                self.rate,
                name=f"answer_block_{number}",
                **self._shared_options,
            )
            setattr(self, f"answer_block_{number}", block)
        self.pointer = PointerDecoder(
            generative,
            self.units,
            parts.question_pointer,
            self.rate,
            name="pointer",
            **self._shared_options,
        )

    @classmethod
    def build_again(cls, ngrams=None, **arguments) -> "QuestionAnsweringModel":
        """See `build_question_model`."""
        if ngrams is not None:
            ngrams = ngrams[0], np.array(ngrams[1], np.int32)
        return build_question_model(ngrams=ngrams, **arguments)

    @property
    def answer_blocks(self) -> list[AnswerBlock]:
        """The decoder's self-attention layers."""
        numbers = range(self.block_count)
        return [getattr(self, f"answer_block_{n}") for n in numbers]

    def build(self, input_shape=None):
        """Makes all weights."""
        super().build()
        self.answer_projection.build((None, None, None, self.embedded_size))
        self.positions.build((None, None, None, self.units))
        for block in self.answer_blocks:
            block.build((None, None, self.units))
        self.pointer.build()
        self.built = True

    def call(
        self,
        batch,
        training: bool = False,
        seed=None,
        inspect: bool = False,
        key=None,
    ) -> dict:
        """The likelihood of the answers; see the class."""
        del key
        call = {"training": training, "seed": seed}
        target = at_least_one_step(batch["answer"], 2)
        names = ("context", "question", "own_words")
        texts = self.read(*map(batch.get, names), **call)
        target = self.pointer.reachable(target, texts)
        outputs = self._of_answers(target, texts, call, inspect)
        real = tf.cast(tf.not_equal(target, 0), tf.float32)
        loss, tokens = (
            tf.reduce_sum(outputs["losses"], -1),
            tf.reduce_sum(real, -1),
        )
        if self.per_word:
            # Otherwise a summary of sixty words would outweigh sixty labels.
            loss /= tf.maximum(tokens, 1.0)
        return {
            "loss": loss,
            "tokens": tokens,
            "losses": {},
            "inspect": {"sources": outputs["sources"]} if inspect else {},
        }

    def log_likelihoods(
        self,
        context: tf.Tensor,
        question: tf.Tensor,
        answer: tf.Tensor,
        own_words: tf.Tensor | None = None,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The log-likelihood of each word of given answers.

        Args:
            context, question, own_words: as in `answer`.
            answer: int32 `[B, U]`, with the end token's id after the last word.

        Returns:
            float32 `[B, U]`, 0 at padding; and the scored words, int32
            `[B, U]`, where OOV replaces words that can be neither generated nor
            copied.
        """
        answer = at_least_one_step(answer, 1)
        with recurrence.options(jit=False, shards=1):
            grouped = None if own_words is None else own_words[None]
            texts = self.read(context[None], question[None], grouped)
            words = self.pointer.reachable(answer[None], texts)
            losses = self._of_answers(words, texts, {})["losses"]
        return -losses[0], words[0]

    def answer(
        self,
        context: tf.Tensor,
        question: tf.Tensor,
        max_length: int = 100,
        beam: int = 1,
        n_best: int = 1,
        length_penalty: float = 0.0,
        own_words: tf.Tensor | None = None,
    ) -> dict:
        """Generates answers in one exportable graph; see `Answering`.

        Args:
            context: int32 `[B, L]`, 0 is padding.
            question: int32 `[B, M]`.
            max_length: maximum number of words in an answer, with its end
                token.
            beam: hypotheses per example; 1 is greedy search, as in the paper.
            n_best: number of answers returned per example.
            length_penalty: see `BeamSearch`.
            own_words: the n-grams of the examples' unknown words, int32
                `[B, O, K]`, if the model has n-grams.

        Returns:
            "tokens" int32 `[B, n, U]` without the end, where unknown words have
            the ids of context and question; "length" int32 `[B, n]`, "score"
            and "log_probability" float32 `[B, n]` (see `BeamSearch`), and
            "sources" `[B, n, U, 3]`.

        Raises:
            ConfigError: a value is wrong.
        """
        checks.positive_integer("max_length", max_length)
        with recurrence.options(jit=False, shards=1):
            grouped = None if own_words is None else own_words[None]
            texts = self.read(context[None], question[None], grouped)
        texts = {name: value[0] for name, value in texts.items()}
        answering = Answering(self, texts, beam, max_length)
        search = BeamSearch(
            answering.step,
            beam=beam,
            n_best=n_best,
            length_penalty=length_penalty,
            attention=True,
        )
        rows = tf.shape(texts["context"])[0]
        answers = search(
            answering.start(), tf.fill(tf.stack([rows]), max_length)
        )
        return {
            "tokens": answering.words(answers["tokens"]),
            "length": answers["length"],
            "score": answers["score"],
            "log_probability": answers["log_probability"],
            "sources": answers["attention"],
        }

    def project_answers(self, ids, own_vectors=None, **call):
        """Projected vectors of answer words, before positions, `[G, B, U, D]`.

        Args:
            ids: int32 `[G, B, U]`; this and `own_vectors` may both lack G.
            own_vectors: see `embed`.
            **call: `training` and `seed`, for dropout.
        """
        x = self.project("answer", ids, own_vectors, **call)
        return x * self.units**0.5 if self.answer_blocks else x

    def _of_answers(self, target, texts, call, inspect=False):
        """The pointer's outputs for given answers, for all words at once."""
        before = tf.concat(
            [tf.fill(tf.shape(target[:, :, :1]), BOS), target[:, :, :-1]], -1
        )
        answers = self._represent(before, target, texts, call)
        return self.pointer(answers, target, texts, inspect=inspect, **call)

    def _represent(self, before, target, texts, call):
        """(A_self)_(t-1) of given answers, `[G, B, U, D]` (equations 2-6)."""
        x = self.project_answers(before, texts.get("own_words"), **call)
        if not self.answer_blocks:
            return x
        shape, static = tf.shape(x), x.shape
        x = _rows(self.positions(x))
        mask = _rows(tf.not_equal(target, 0))
        context = _rows(texts["context"])
        context_mask = _rows(texts["context_mask"])
        for block in self.answer_blocks:
            x = block(x, mask, context, context_mask, **call)
        return tf.ensure_shape(tf.reshape(x, shape), static)


def _rows(x: tf.Tensor) -> tf.Tensor:
    """Reshapes `[G, B, ...]` to `[G * B, ...]`."""
    shape = tf.concat([[-1], tf.shape(x)[2:]], 0)
    return tf.ensure_shape(tf.reshape(x, shape), [None, *x.shape[2:]])


def check_question_model(model_config: Mapping) -> None:
    """Checks what can be checked before the vocabulary is built.

    Args:
        model_config: as for `build_question_model`.

    Raises:
        ConfigError: a field, a name or a value is wrong.
    """
    # Constructors check their arguments but make no weights.
    _make(model_config, 8, 8, 0, None, "float32")


def _make(
    model_config: Mapping,
    vocabulary_size: int,
    generative: int,
    seed: int,
    ngrams: tuple[int, np.ndarray] | None,
    dtype: str,
) -> QuestionAnsweringModel:
    """The model without weights; see `build_question_model`."""
    config = completed("model", model_config, _DEFAULTS)
    name = checks.one_of("model.name", config.pop("name"), list(MODELS))
    config["init"] = {"seed": seed} | dict(config["init"] or {})
    checks.positive_integer("model.blocks", config["blocks"])
    return QuestionAnsweringModel(
        name, vocabulary_size, generative, config, ngrams, dtype
    )


def build_question_model(
    model_config: Mapping,
    vocabulary_size: int,
    generative: int,
    seed: int = 0,
    vectors: np.ndarray | None = None,
    ngrams: tuple[int, np.ndarray] | None = None,
    dtype: str = "float32",
) -> QuestionAnsweringModel:
    """Builds a model with all its weights.

    Args:
        model_config: all optional: "name" ("mqan"; see `MODELS`),
            "embedding_dim" (300), "ngram_dim" (100, size of n-gram vectors),
            "units" (200), "feed_forward" (150), "heads" (3), "blocks" (2
            self-attention layers), "dropout" (0.2), "per_word" (True) and
            "init" (see `layers.base.check_init`).
        vocabulary_size: number of words with a vector, including special ones.
        generative: how many of them, the first ones, can be generated.
        seed: seed of the initial weights, which depend on it alone.
        vectors: pretrained word vectors, float32
            `[vocabulary_size, embedding_dim]`; None for random ones.
        ngrams: the number of ids of character n-grams, and the ids of each
            word, int32 `[vocabulary_size, K]`, see `NgramEmbedding`. The mean
            of their vectors is appended to the word's vector. None for no
            n-grams.
        dtype: the dtype policy of the layers, such as "mixed_bfloat16".
            Weights, losses and scores are always float32.

    Raises:
        ConfigError: a field or a value is wrong.
    """
    model = _make(
        model_config, vocabulary_size, generative, seed, ngrams, dtype
    )
    model.build()
    model.remember(
        model_config=model_config,
        vocabulary_size=vocabulary_size,
        generative=generative,
        seed=seed,
        ngrams=ngrams,
        dtype=dtype,
    )
    if vectors is not None:
        model.embedding.set_vectors(vectors)
    return model
