"""The benchmark case about question answering."""

import functools
from collections.abc import Callable, Sequence

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.benchmarks import contestants, memory
from mtl_tf.benchmarks.made_data import draw_words
from mtl_tf.benchmarks.reference_question_model import KerasQuestionModel
from mtl_tf.benchmarks.result_rows import (
    Result,
    check_same,
    make_row,
    make_target,
)
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import Run, compete
from mtl_tf.core import random
from mtl_tf.core.special_ids import EOS
from mtl_tf.models.answering.question_answering import (
    QuestionAnsweringModel,
    build_question_model,
)
from mtl_tf.training.distribution.strategies import make_strategy
from mtl_tf.training.loss_weighting import make_loss_weighting
from mtl_tf.training.optimizers.optimizers import make_optimizer
from mtl_tf.training.trainer import Trainer

_BATCHES = 8
# Percentage of a context's words that are the example's own.
_OWN_PERCENT = 3
_CLIP_NORM = 1.0
# The paper's highest learning rate.
_LEARNING_RATE = 2.5e-3
_WORK = ("training step", "decoding")


def mqan(sizes: Sizes, rounds: int) -> Result:
    """A training step and greedy decoding, compared with Keras's layers."""
    result = {"rows": [], "targets": [], "notes": [_note(sizes)]}
    for work in _WORK:
        logging.info("%s", work)
        timings = compete(
            _contestants(sizes, work), rounds, sizes.round_seconds
        )
        if work == "decoding":
            check_same([timing.first for timing in timings.values()])
        for name, timing in timings.items():
            row = make_row(
                timing, timings["mtl_tf"], work=work, contestant=name
            )
            examples = sizes.mqan_batch / timing.median
            row |= {"examples_per_s": examples, "peak_mb": 0.0}
            result["rows"].append(row)
        description = f"{work}: time of keras over mtl_tf's"
        times = row["times_ours"]
        result["targets"].append(
            make_target(description, times, "at least", 2.0)
        )
    for row in result["rows"]:
        row["peak_mb"] = memory.peak_mb_of(
            run_alone, sizes, row["work"], row["contestant"]
        )
    description = "training step: peak memory of mtl_tf in MB"
    peak = result["rows"][0]["peak_mb"]
    result["targets"].append(make_target(description, peak, "at most", 8000.0))
    return result


def tokens_of_a_batch(sizes: Sizes) -> int:
    """Context, question and five times the answer, as the paper counts."""
    words = sizes.mqan_context + sizes.mqan_question + 5 * sizes.mqan_answer
    return sizes.mqan_batch * words


def _note(sizes: Sizes) -> str:
    return (
        f"{tokens_of_a_batch(sizes):,} tokens a batch, context, question and "
        f"five times the answer: {sizes.mqan_batch} examples of "
        f"{sizes.mqan_context}, {sizes.mqan_question} and "
        f"{sizes.mqan_answer} words; the same weights, whose losses without "
        "dropout agree, and the same Adam; peak memory is that of a process "
        "that takes a contestant's steps alone, TensorFlow and compiling "
        "included; decoding: greedy, as many words as answers have"
    )


def run_alone(sizes: Sizes, work: str, name: str) -> None:
    """Runs some steps of one contestant, to measure its memory."""
    ours = name == "mtl_tf"
    model = make_model(sizes)
    other = None if ours else KerasQuestionModel(model)
    if not ours:
        # Its weights would count as those of the other contestant.
        del model
        model = None
    _run_of(sizes, work, model, other)(2)


def _contestants(sizes: Sizes, work: str) -> dict[str, Run]:
    model = make_model(sizes)
    # Copied now, because our first steps change the initial values.
    other = KerasQuestionModel(model)
    batch = next(iter(batches(sizes)))
    losses = [
        tf.function(lambda b, m=m: m(b), autograph=False)(batch)
        for m in (model, other)
    ]
    check_same(
        [float(tf.reduce_sum(x)) for x in (losses[0]["loss"], losses[1])]
    )
    return {
        "mtl_tf": _run_of(sizes, work, model, None),
        "keras": _run_of(sizes, work, None, other),
    }


def _run_of(
    sizes: Sizes,
    work: str,
    ours: QuestionAnsweringModel | None,
    other: KerasQuestionModel | None,
) -> Run:
    if work == "decoding":
        return _answers(sizes, ours or other)
    if other is None:
        return contestants.trainer_run(_trainer(ours), batches(sizes))
    return _keras_steps(other, batches(sizes))


@functools.cache
def _strategy() -> tf.distribute.Strategy:
    """The trainer's strategy, in whose scope its model is made."""
    return make_strategy("one_device")


def make_model(sizes: Sizes) -> QuestionAnsweringModel:
    """Our model, with the paper's sizes by default."""
    config = {
        "embedding_dim": sizes.mqan_embedding,
        "units": sizes.mqan_units,
        "feed_forward": sizes.mqan_feed_forward,
        "heads": sizes.mqan_heads,
        "blocks": sizes.mqan_blocks,
        "per_word": False,
    }
    with _strategy().scope():
        return build_question_model(
            config, sizes.mqan_vocabulary, sizes.mqan_generative
        )


def _adam(
    variables: Sequence[keras.Variable],
) -> keras.optimizers.Optimizer:
    """The paper's optimizer, for all contestants."""
    options = {"beta_2": 0.98, "epsilon": 1e-9}
    optimizer = make_optimizer(
        {"name": "adam", "options": options}, _LEARNING_RATE
    )
    optimizer.configure(variables, clip_norm=_CLIP_NORM)
    return optimizer


def _trainer(model: QuestionAnsweringModel) -> Trainer:
    variables = model.trainable_variables
    with _strategy().scope():
        optimizer = _adam(variables)
    weighting = make_loss_weighting("static", [1.0])
    return Trainer(model, optimizer, weighting, variables, _strategy(), 1)


def _keras_steps(model: KerasQuestionModel, dataset: tf.data.Dataset) -> Run:
    variables = model.trainable_variables
    optimizer = _adam(variables)
    return contestants.plain_run(
        lambda batch: model(batch, training=True),
        variables,
        optimizer,
        dataset,
    )


def _answers(sizes: Sizes, model: keras.Model) -> Run:
    """Decodes the same batch again and again."""
    batch = next(iter(batches(sizes)))
    answer: Callable = tf.function(
        functools.partial(model.answer, max_length=sizes.mqan_answer),
        autograph=False,
    )

    def run(steps: int) -> float:
        for _ in range(steps):
            answers = answer(batch["context"][0], batch["question"][0])
            score = float(tf.reduce_sum(answers["score"]))
        return score

    return run


def batches(sizes: Sizes) -> tf.data.Dataset:
    """The same batches, repeated forever; only answers differ in length.

    An answer takes its words in turn from its context, its question and the
    generative vocabulary, and has an end.
    """
    draw = random.generator(0, "mqan")
    words, rows = sizes.mqan_vocabulary, (_BATCHES, 1, sizes.mqan_batch)
    shape = (*rows, sizes.mqan_context)
    context = _words(draw, words, shape)
    context_words = draw.integers(
        words, words + sizes.mqan_context, shape, np.int32
    )
    chosen = draw.random(shape) < _OWN_PERCENT / 100
    context = np.where(chosen, context_words, context)
    question = _words(draw, words, (*rows, sizes.mqan_question))
    answer = _words(draw, sizes.mqan_generative, (*rows, sizes.mqan_answer))
    for source, text in ((0, context), (1, question)):
        places = answer[..., source::3].shape
        at = draw.integers(0, text.shape[-1], places)
        answer[..., source::3] = np.take_along_axis(text, at, -1)
    # At least one word and the end, at most all positions.
    ends = draw.integers(1, sizes.mqan_answer, (*rows, 1))
    at = np.arange(sizes.mqan_answer)
    answer = np.where(at < ends, answer, np.where(at == ends, EOS, 0))
    columns = {
        "task": np.zeros(rows[:2], np.int32),
        "context": context,
        "question": question,
        "answer": answer.astype(np.int32),
        "weight": np.ones(rows, np.float32),
        "normalizer": np.full(rows[:2], sizes.mqan_batch, np.float32),
        "step": np.arange(_BATCHES, dtype=np.int64),
    }
    return tf.data.Dataset.from_tensor_slices(columns).repeat().prefetch(2)


def _words(draw, vocabulary: int, shape: tuple[int, ...]) -> np.ndarray:
    """Words that are neither the start nor the end token."""
    drawn = draw_words(draw, vocabulary - 2, int(np.prod(shape)))
    return drawn.reshape(shape) + 2
