"""The MQAN and its ablations: losses, decoding, and what they learn."""

import functools
import random

import keras
import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.special_ids import EOS, OOV
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.answering.question_answering import (
    MODELS,
    build_question_model,
)

SLOW = pytest.mark.slow
VOCABULARY, GENERATIVE = 40, 20
SIZES = {"context": 6, "question": 4, "answer": 5}
LENGTHS = {"context": [6, 2, 4], "question": [4, 3, 1], "answer": [5, 2, 3]}
SMALL = {
    "embedding_dim": 10,
    "units": 8,
    "feed_forward": 7,
    "heads": 2,
    "dropout": 0.0,
    "per_word": False,
    "init": {"range": 0.5},
}


@pytest.fixture(autouse=True)
def not_compiled():
    """For speed: compiling takes longer than a few small steps."""
    with recurrence.options(jit=False):
        yield


def build(name="mqan", ngrams=None, **options):
    config = {**SMALL, **options, "name": name}
    return build_question_model(
        config, VOCABULARY, GENERATIVE, seed=3, ngrams=ngrams
    )


@functools.cache
def made(name):
    """One for all tests: a layer plans its loops when it first runs."""
    return build(name)


def make_batch():
    """Three examples; ids from 40 on are their own unknown words."""
    draw, batch = np.random.default_rng(1), {}
    for name, size in SIZES.items():
        ids = draw.integers(4, VOCABULARY + 5, [3, size])
        ids[np.arange(size) >= np.array(LENGTHS[name])[:, None]] = 0
        batch[name] = ids
    for row, length in enumerate(LENGTHS["answer"]):
        # A word of the context, one of the question, and the end.
        batch["answer"][row, 0] = batch["context"][row, 1]
        batch["answer"][row, length - 2] = batch["question"][row, 0]
        batch["answer"][row, length - 1] = EOS
    return {k: tf.constant(v[None], tf.int32) for k, v in batch.items()}


BATCH = make_batch()
# Two of the models have all parts between them.
NAMES = [
    pytest.param(name, marks=[] if name in ("s2s", "mqan") else SLOW)
    for name in MODELS
]


@pytest.mark.extended
@pytest.mark.parametrize("name", NAMES)
def test_the_loss_of_a_batch_is_that_of_its_examples(name):
    model = made(name)
    together = model(BATCH)
    np.testing.assert_array_equal(together["tokens"], [LENGTHS["answer"]])
    for row in range(3):
        alone = {
            part: ids[:, row : row + 1, : LENGTHS[part][row]]
            for part, ids in BATCH.items()
        }
        np.testing.assert_allclose(
            model(alone)["loss"][0, 0], together["loss"][0, row], rtol=1e-4
        )


@pytest.mark.by_default("s2s-1")
@pytest.mark.parametrize(
    "name, beam",
    [
        ("s2s", 1),
        pytest.param("s2s_self_attention", 1, marks=pytest.mark.slow),
        pytest.param("coattention", 2, marks=pytest.mark.slow),
        pytest.param("mqan", 1, marks=pytest.mark.slow),
        ("mqan", 3),
    ],
)
def test_answers_have_the_score_of_given_ones(name, beam):
    model = made(name)
    found = model.answer(
        BATCH["context"][0], BATCH["question"][0], 6, beam, n_best=beam
    )
    assert found["tokens"].shape[:2] == (3, beam)
    assert np.all(np.diff(found["score"]) <= 0)
    for best in range(beam):
        lengths = found["length"][:, best].numpy()
        target = np.zeros([3, 6], np.int32)
        tokens = found["tokens"][:, best].numpy()
        target[:, : tokens.shape[1]] = tokens
        ended = lengths < 6
        target[ended, lengths[ended]] = EOS
        given = {**BATCH, "answer": tf.constant(target[None])}
        whole = model(given, inspect=True)
        np.testing.assert_allclose(
            -whole["loss"][0], found["score"][:, best], rtol=1e-4
        )
        for row, length in enumerate(lengths):
            np.testing.assert_allclose(
                found["sources"][row, best, :length],
                whole["inspect"]["sources"][0, row, :length],
                atol=1e-5,
            )


@pytest.mark.extended
def test_given_answers_are_scored_word_by_word():
    model = made("mqan")
    texts = [BATCH[name][0] for name in ("context", "question", "answer")]
    found, words = model.log_likelihoods(*texts)
    loss = model(BATCH)["loss"][0]
    np.testing.assert_allclose(-tf.reduce_sum(found, -1), loss, rtol=1e-5)
    assert np.all(found.numpy()[texts[2] == 0] == 0)
    is_same = np.array(words == texts[2])
    assert np.all(np.array(words)[~is_same] == OOV) and not is_same.all()
    # Neither company nor padding changes anything.
    for row in range(3):
        alone, _ = model.log_likelihoods(
            *(
                text[row : row + 1, : LENGTHS[name][row]]
                for name, text in zip(("context", "question", "answer"), texts)
            )
        )
        np.testing.assert_allclose(
            alone[0], found[row, : LENGTHS["answer"][row]], atol=1e-5
        )


@pytest.mark.extended
def test_a_loss_per_word_is_the_mean_of_an_answers_words():
    sums, means = made("mqan")(BATCH), build(per_word=True)(BATCH)
    np.testing.assert_allclose(
        means["loss"] * means["tokens"], sums["loss"], rtol=1e-5
    )
    assert sorted(set(means["tokens"].numpy().ravel())) == [2, 3, 5]


@pytest.mark.extended
def test_own_words_are_told_apart_and_read_as_unknown():
    model = made("mqan")
    # Which number an own word has means nothing, as long as equal words have
    # equal ones.
    renamed = {
        name: tf.where(ids >= VOCABULARY, 99 - ids, ids)
        for name, ids in BATCH.items()
    }
    np.testing.assert_allclose(
        model(renamed)["loss"], model(BATCH)["loss"], rtol=1e-5
    )
    same = {
        name: tf.where(ids >= VOCABULARY, VOCABULARY, ids)
        for name, ids in BATCH.items()
    }
    assert np.any(np.abs(model(same)["loss"] - model(BATCH)["loss"]) > 1e-3)
    np.testing.assert_array_equal(
        model.embed(tf.constant([VOCABULARY + 2]), None),
        model.embed(tf.constant([OOV]), None),
    )


def draw_ngrams(*shape):
    """Distinct n-grams, 1 to 29, of words that have one to five."""
    draw = np.random.default_rng(5)
    rows = np.zeros([*shape, 5], np.int32)
    for index in np.ndindex(*shape):
        size = draw.integers(1, 6)
        rows[index][:size] = draw.choice(np.arange(1, 30), size, replace=False)
    return rows


def with_ngrams(name):
    """A model that reads them, and a batch of own words' n-grams."""
    of_words = draw_ngrams(VOCABULARY)
    of_words[:4] = 0
    model = build(name, (30, of_words), ngram_dim=6)
    return model, {**BATCH, "own_words": draw_ngrams(1, 3, 5)}, of_words


@pytest.mark.extended
@pytest.mark.parametrize("name", ["s2s", pytest.param("mqan", marks=SLOW)])
def test_ngrams_stand_beside_words_and_are_all_that_own_words_have(name):
    model, batch, of_words = with_ngrams(name)
    vectors = model.ngram_embedding.vectors.numpy()
    ids = np.array([[7, VOCABULARY + 2, OOV], [3, 0, VOCABULARY]])
    own = batch["own_words"][0, :2]
    rows = [[of_words[7], own[0, 2], []], [[], [], own[1, 0]]]
    means = model.ngram_embedding.means(tf.constant(own))
    found = model.embed(tf.constant(ids, tf.int32), means).numpy()
    for place in np.ndindex(2, 3):
        ngrams = [n for n in rows[place[0]][place[1]] if n]
        expected = vectors[ngrams].mean(0) if ngrams else np.zeros(6)
        np.testing.assert_allclose(found[place][10:], expected, rtol=1e-5)
    np.testing.assert_array_equal(found[0, 1, :10], found[0, 2, :10])
    loss = model(batch)["loss"][0].numpy()
    for row in range(3):
        alone = {
            part: ids[:, row : row + 1, : LENGTHS.get(part, [5] * 3)[row]]
            for part, ids in batch.items()
        }
        np.testing.assert_allclose(model(alone)["loss"][0], loss[row], 1e-4)
    # Only the second example's words are others.
    other = {**batch, "own_words": batch["own_words"].copy()}
    other["own_words"][0, 1] = draw_ngrams(7)[2:]
    moved = np.abs(model(other)["loss"][0].numpy() - loss) > 1e-5
    np.testing.assert_array_equal(moved, [False, True, False])


@pytest.mark.extended
def test_answers_with_ngrams_have_the_score_of_given_ones():
    model, batch, _ = with_ngrams("mqan")
    own = batch["own_words"][0]
    found = model.answer(
        BATCH["context"][0], BATCH["question"][0], 4, 2, 2, own_words=own
    )
    tokens, lengths = found["tokens"].numpy(), found["length"].numpy()
    # Its own words are among what it writes, and is read of it.
    assert np.any(tokens >= VOCABULARY)
    for best in range(2):
        target = np.zeros([1, 3, 5], np.int32)
        for row, length in enumerate(lengths[:, best]):
            target[0, row, :length] = tokens[row, best, :length]
            if length < 4:
                target[0, row, length] = EOS
        given = {**batch, "answer": tf.constant(target)}
        np.testing.assert_allclose(
            -model(given)["loss"][0], found["score"][:, best], rtol=1e-4
        )


@pytest.mark.extended
def test_ngrams_are_trained_and_saved(tmp_path):
    (model, batch, _), (other, *_) = with_ngrams("s2s"), with_ngrams("s2s")
    assert any("ngram" in v.path for v in model.embedding_variables())
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(batch, training=True)["loss"])
    weights = model.trainable_variables
    for weight, gradient in zip(weights, tape.gradient(loss, weights)):
        assert gradient is not None, weight.path
    for weight in other.weights:
        weight.assign(weight + tf.ones([], weight.dtype))
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "model"))
    tf.train.Checkpoint(model=other).read(path).assert_consumed()
    for a, b in zip(model.weights, other.weights):
        np.testing.assert_array_equal(a, b)


@pytest.mark.extended
def test_a_target_that_nothing_can_write_is_the_unknown_word():
    model = made("mqan")
    known = tf.constant([[[7, EOS], [7, EOS], [7, EOS]]])
    lost = tf.constant([[[39, EOS], [49, EOS], [7, EOS]]])
    texts = {
        "context": tf.fill([1, 3, 2], 5),
        "question": tf.fill([1, 3, 2], 6),
    }
    found = model({**texts, "answer": lost})["loss"][0].numpy()
    unknown = tf.where(known == 7, OOV, known)
    expected = model({**texts, "answer": unknown})["loss"][0].numpy()
    np.testing.assert_allclose(found[:2], expected[:2], rtol=1e-5)
    assert np.all(np.isfinite(found))
    assert abs(found[2] - expected[2]) > 1e-4


@pytest.mark.extended
@pytest.mark.parametrize("name", NAMES)
def test_every_weight_has_a_gradient_and_a_place_in_a_checkpoint(
    name, tmp_path
):
    model, other = build(name), build(name)
    for weight in other.weights:
        weight.assign(weight + 1.0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(BATCH, training=True)["loss"])
    gradients = tape.gradient(loss, model.trainable_variables)
    assert all(gradient is not None for gradient in gradients)
    path = tf.train.Checkpoint(model=model).write(str(tmp_path / "model"))
    tf.train.Checkpoint(model=other).read(path).assert_consumed()
    for a, b in zip(model.weights, other.weights):
        np.testing.assert_array_equal(a, b)


def test_each_model_adds_to_the_one_before():
    counts = [build(name).count_params() for name in MODELS]
    assert counts == sorted(set(counts))


@pytest.mark.extended
def test_texts_without_words_have_finite_answers():
    model = made("mqan")
    empty = tf.zeros([1, 2, 0], tf.int32)
    words = tf.fill([1, 2, 3], 5)
    answer = tf.constant([[[6, EOS]] * 2])
    for context, question in ((empty, words), (words, empty), (empty, empty)):
        batch = {"context": context, "question": question, "answer": answer}
        assert np.all(np.isfinite(model(batch)["loss"]))
        found = model.answer(context[0], question[0], 3)
        assert np.all(np.isfinite(found["score"]))


@pytest.mark.parametrize("name", ["s2s", "mqan"])
def test_a_batch_without_examples_has_no_answers(name):
    none = tf.zeros([0, 4], tf.int32)
    found = made(name).answer(none, none, 3, beam=2, n_best=2)
    assert found["tokens"].shape[:2] == (0, 2)
    assert found["sources"].shape[0] == 0


@pytest.mark.extended
@pytest.mark.parametrize("generative", [4, 6])
def test_a_wide_beam_finds_the_best_of_all_answers(generative):
    # With 4, only the special tokens can be generated; 7 and 8 are unknown.
    config = {**SMALL, "name": "mqan", "init": {"range": 1.5}}
    model = build_question_model(config, 7, generative, seed=3)
    contexts = tf.constant([[7, 5, 7, 4], [4, 0, 0, 0], [0, 0, 0, 0]])
    questions = tf.constant([[8, 7], [0, 0], [5, 8]])
    found = model.answer(contexts, questions, 2, beam=40, n_best=3)
    for row in range(3):
        words = {EOS, OOV, *range(4, generative)}
        words |= {*contexts.numpy()[row], *questions.numpy()[row]} - {0}
        answers = [(word, EOS) for word in sorted(words - {EOS})] + [(EOS, 0)]
        given = tf.constant(answers, tf.int32)
        count = len(answers)
        scores = tf.reduce_sum(
            model.log_likelihoods(
                tf.repeat(contexts[row : row + 1], count, 0),
                tf.repeat(questions[row : row + 1], count, 0),
                given,
            )[0],
            -1,
        ).numpy()
        order = np.argsort(-scores)[:3]
        np.testing.assert_allclose(
            found["score"][row], scores[order], rtol=1e-4
        )
        wanted = [[a for a in answers[n] if a > EOS or a == OOV] for n in order]
        for best, tokens in enumerate(wanted):
            length = found["length"].numpy()[row, best]
            assert found["tokens"].numpy()[row, best, :length].tolist() == [
                *tokens
            ]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"name": "mqa"}, "model.name .*mqan"),
        ({"units": 7}, "units must be even"),
        ({"blocks": 0}, "blocks must be a positive integer"),
        ({"layers": 2}, "layers"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ConfigError, match=message):
        build_question_model({**SMALL, **options}, VOCABULARY, GENERATIVE)


def test_what_is_written_is_a_part_of_the_words():
    with pytest.raises(ConfigError, match="part of all 10 words, got 20"):
        build_question_model(SMALL, 10, 20)


# What the model is for


def toy_examples(draw, count):
    """Three tasks: to copy from either text, and to write a word of one's own.

    Returns:
        A batch, and the task of each example: 0 asks for the two words behind
        13 in the context, 1 for the question's last two words, the last one
        first, 2 whether 14 is in the context (5, else 4).
    """
    context = draw.integers(20, 50, [count, 7])
    question = draw.integers(20, 50, [count, 4])
    answer, task = np.zeros([count, 3], int), draw.integers(0, 3, count)
    question[:, 0] = 10 + task
    for row, number in enumerate(task):
        if number == 0:
            place = draw.integers(0, 5)
            context[row, place] = 13
            answer[row] = [*context[row, place + 1 : place + 3], EOS]
        elif number == 1:
            answer[row] = [*question[row, :1:-1], EOS]
        else:
            found = draw.random() < 0.5
            if found:
                context[row, draw.integers(0, 7)] = 14
            answer[row, :2] = [5 if found else 4, EOS]
    texts = {"context": context, "question": question, "answer": answer}
    return {k: tf.constant(v[None], tf.int32) for k, v in texts.items()}, task


@pytest.mark.slow
def test_tasks_are_learnt_together_each_from_its_own_source():
    seed = random.SystemRandom().randrange(2**31)
    print(f"seed {seed}")
    draw = np.random.default_rng(seed)
    sizes = {"embedding_dim": 24, "units": 32, "feed_forward": 32, "blocks": 1}
    model = build(**sizes)
    optimizer = keras.optimizers.Adam(5e-3, clipnorm=1.0)
    optimizer.build(model.trainable_variables)

    @tf.function(autograph=False)
    def step(batch):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True)["loss"])
        variables = model.trainable_variables
        optimizer.apply(tape.gradient(loss, variables), variables)

    for _ in range(500):
        step(toy_examples(draw, 32)[0])
    batch, task = toy_examples(draw, 300)
    found = model.answer(batch["context"][0], batch["question"][0], 3)
    tokens = found["tokens"][:, 0].numpy()
    tokens = np.pad(tokens, [[0, 0], [0, 3 - tokens.shape[1]]])
    answer = batch["answer"][0].numpy()
    right = np.all(tokens == np.where(answer == EOS, 0, answer), -1)
    first = found["sources"][:, 0, 0].numpy()
    for number, source in enumerate((1, 2, 0)):
        assert right[task == number].mean() > 0.98
        assert first[task == number, source].mean() > 0.9
