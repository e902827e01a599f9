"""Beam search on toy decoders, beside exhaustive search."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.special_ids import BOS, EOS, OOV, PAD
from mtl_tf.layers.beam_search import BeamSearch, Candidates

WORDS = 6  # four special ids and two words


def make_table(seed, sources=3, ends=0.0):
    """Logits of the next token by source, step's parity and last token."""
    draw = np.random.default_rng(seed)
    table = draw.normal(size=(sources, 2, WORDS, WORDS)).astype("float32")
    table[..., EOS] += ends
    return table


def all_tokens(log_probabilities):
    """Every id is a candidate."""
    shape = tf.shape(log_probabilities)
    ids = tf.broadcast_to(tf.range(shape[1]), shape)
    return Candidates(log_probabilities, ids)


def make_search(table, **options):
    """A search of a decoder that looks its logits up in a table."""
    table = tf.constant(table)

    def step(tokens, state, places):
        source, parity = state["source"][..., 0], state["parity"][..., 0]
        rows = tf.gather_nd(tf.stack([source, parity, tokens], -1), places)
        log_probabilities = tf.nn.log_softmax(tf.gather_nd(table, rows))
        # It looks at the source token that has the last token's number.
        attention = tf.one_hot(tokens % 4, 4)
        state = {"source": state["source"], "parity": 1 - state["parity"]}
        return state, all_tokens(log_probabilities), attention

    return BeamSearch(step, **options)


def run(table, limit, sources=None, **options):
    sources = np.arange(len(table)) if sources is None else sources
    source = tf.constant(np.reshape(sources, [-1, 1]), tf.int32)
    start = {"source": source, "parity": tf.zeros_like(source)}
    search = tf.function(make_search(table, **options), autograph=False)
    found = search(start, tf.constant(limit, tf.int32))
    return {name: value.numpy() for name, value in found.items()}


def exhaustive(table, limit, penalty=0.0):
    """All finished sequences of at most `limit` tokens, best first."""
    logs = table - np.log(np.exp(table).sum(-1, keepdims=True))
    found = []
    for size in range(limit):
        for words in itertools.product([OOV, 4, 5], repeat=size):
            tokens, last, total = (*words, EOS), BOS, 0.0
            for t, token in enumerate(tokens):
                total += logs[t % 2, last, token]
                last = token
            divisor = ((5 + len(tokens)) / 6) ** penalty
            found.append((total / divisor, words))
    return sorted(found, reverse=True)


def check(found, row, wanted):
    for n, (score, words) in enumerate(wanted):
        np.testing.assert_allclose(found["score"][row, n], score, atol=1e-5)
        length = found["length"][row, n]
        assert tuple(found["tokens"][row, n, :length]) == words
        assert not found["tokens"][row, n, length:].any()


@pytest.mark.by_default("1.2-3")
@pytest.mark.parametrize("penalty, n_best", [(0.0, 1), (0.0, 4), (1.2, 3)])
def test_a_wide_beam_finds_what_exhaustive_search_finds(penalty, n_best):
    table, limit = make_table(0), [4, 2, 3]
    found = run(table, limit, beam=40, n_best=n_best, length_penalty=penalty)
    for row, most in enumerate(limit):
        wanted = exhaustive(table[row], most, penalty)[:n_best]
        check(found, row, wanted)


def test_a_beam_of_one_takes_the_best_token_each_time():
    table = make_table(1, sources=8)
    found = run(table, [9] * 8, beam=1)
    for row, logits in enumerate(table):
        last, words = BOS, []
        for t in range(9):
            ranked = np.argsort(-logits[t % 2, last])
            last = next(i for i in ranked if i not in (PAD, BOS))
            if last == EOS:
                break
            words.append(last)
        assert found["length"][row, 0] == len(words)
        assert list(found["tokens"][row, 0, : len(words)]) == words


def reference_beam(table, limit, beam):
    """Beam search on one source with lists: ended ones keep their places."""
    logs = table - np.log(np.exp(table).sum(-1, keepdims=True))
    beams = [(0.0, (BOS,))]
    for t in range(limit):
        grown = [b for b in beams if b[1][-1] == EOS]
        for score, words in beams:
            if words[-1] != EOS:
                for token in (OOV, EOS, 4, 5):
                    gained = logs[t % 2, words[-1], token]
                    grown.append((score + gained, (*words, token)))
        beams = sorted(grown, reverse=True)[:beam]
    ended = [b for b in beams if b[1][-1] == EOS]
    rest = [b for b in beams if b[1][-1] != EOS]
    return [(s, w[1:-1]) for s, w in ended] + [(s, w[1:]) for s, w in rest]


@pytest.mark.parametrize("beam", [2, 3])
def test_ended_hypotheses_compete_with_open_ones(beam):
    table = make_table(2, sources=100)
    table *= 2.0  # sure tokens let an open one overtake late
    found = run(table, [6] * 100, beam=beam, n_best=2)
    for row in range(100):
        wanted = reference_beam(table[row], 6, beam)[:2]
        check(found, row, wanted)


def test_an_ended_hypothesis_waits_for_an_open_one_that_may_overtake():
    table = np.full([1, 2, WORDS, WORDS], -30.0, np.float32)
    table[0, 0, 2, [EOS, 4]] = np.log([0.45, 0.55])
    table[0, 1, 4, [EOS, 5]] = np.log([0.9, 0.1])
    found = run(table, [5], beam=2)
    check(found, 0, [(np.log(0.55 * 0.9), (4,))])


def test_a_source_is_decoded_as_if_it_were_alone():
    table, limit = make_table(3, ends=-1.5), [3, 8, 5]
    options = {"beam": 3, "n_best": 2, "length_penalty": 0.7}
    together = run(table, limit, **options)
    for row in range(3):
        alone = run(table, limit[row : row + 1], [row], **options)
        score = together["score"][row]
        np.testing.assert_allclose(alone["score"][0], score, atol=1e-5)
        size = alone["tokens"].shape[-1]
        got = together["tokens"][row]
        np.testing.assert_array_equal(got[:, :size], alone["tokens"][0])
        assert not got[:, size:].any()


def test_what_never_ends_is_cut_and_comes_after_what_ends():
    table = make_table(4, sources=2)
    table[..., EOS] = -30.0
    table[1, :, 4, EOS] = 0.0
    table[1, :, :, 4] = -4.0
    found = run(table, [5, 5], beam=3, n_best=3)
    np.testing.assert_array_equal(found["length"][0], [5, 5, 5])
    assert (np.diff(found["score"]) <= 0)[0].all()
    ended = found["length"][1] < 5
    assert list(ended) == sorted(ended, reverse=True)


def test_attention_follows_the_hypothesis_that_was_chosen():
    table = make_table(5, ends=-2.0)
    found = run(table, [6] * 3, beam=3, n_best=2, attention=True)
    steps = found["tokens"].shape[-1]
    assert found["attention"].shape == (3, 2, steps, 4)
    for row, n in np.ndindex(3, 2):
        length = found["length"][row, n]
        assert length
        before = np.array([2, *found["tokens"][row, n, : length - 1]]) % 4
        np.testing.assert_array_equal(found["aligned"][row, n, :length], before)
        got = found["attention"][row, n]
        np.testing.assert_array_equal(got[:length], np.eye(4)[before])
        assert not got[length:].any()


def test_no_source_and_wrong_values():
    found = run(make_table(0), [], sources=[], beam=2)
    assert found["tokens"].shape[:2] == found["score"].shape == (0, 1)
    with pytest.raises(ConfigError, match=r"n_best must be at most beam \(2\)"):
        make_search(make_table(0), beam=2, n_best=3)
    with pytest.raises(ConfigError, match="length_penalty must be zero or"):
        make_search(make_table(0), length_penalty=-1.0)


# Ids of each source's own words


def copy_step(lengths, first_word=0.0):
    """A decoder that copies its source backwards, place by place.

    The ids from `WORDS` on are places of a hypothesis's own source. Its only
    memory is the last token: it needs to get that back as it was.

    Args:
        lengths: of the sources.
        first_word: probability that the first token is the word 4, after
            which the decoder is lost: all that it can write is as likely.
    """
    longest = max(lengths)
    lengths = tf.constant(lengths)

    def step(tokens, state, places):
        length = tf.gather(lengths, places[:, 0])
        last = tf.gather_nd(tokens, places)
        before = tf.where(last == BOS, WORDS + length, last) - 1
        right = tf.where(last == WORDS, EOS, before)
        width = WORDS + longest
        known = tf.sequence_mask(WORDS + length, width, tf.float32)
        lost = tf.logical_and(last < WORDS, last != BOS)
        sure = tf.where(lost, 0.0, 0.9)[:, None]
        word = tf.where(last == BOS, first_word, 0.0)[:, None]
        probability = (
            sure * (1 - word) * tf.one_hot(right, width)
            + sure * word * tf.one_hot(4, width)
            + (1 - sure) * known / tf.reduce_sum(known, -1, keepdims=True)
        )
        attention = tf.one_hot(tokens - WORDS, longest)
        return state, all_tokens(tf.math.log(probability)), attention

    return step


@pytest.mark.by_default("1-0.2-*")
@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("beam, first_word", [(1, 0.0), (1, 0.2), (3, 0.6)])
def test_ids_of_a_sources_own_words_come_back_as_they_are(
    beam, first_word, compiled
):
    sources = [["x", "yy", "z"], ["q"], ["a", "b", "c", "d", "e"]]
    lengths = [len(source) for source in sources]
    search = BeamSearch(copy_step(lengths, first_word), beam=beam)
    if compiled:
        search = tf.function(search, autograph=False)
    found = search({}, tf.constant([9] * 3))
    for row, source in enumerate(sources):
        length = int(found["length"][row, 0])
        ids = found["tokens"][row, 0, :length].numpy()
        assert [source[i - WORDS] for i in ids] == source[::-1]
        chosen = 0.9 * (1 - first_word) + 0.1 / (WORDS + len(source))
        rest = 0.9 + 0.1 / (WORDS + len(source))
        score = np.log(chosen) + len(source) * np.log(rest)
        np.testing.assert_allclose(found["score"][row, 0], score, rtol=1e-5)


def test_a_place_that_a_source_does_not_have_is_never_chosen():
    found = BeamSearch(copy_step([1, 5]), beam=20, n_best=20)(
        {}, tf.constant([2, 2])
    )
    real = np.isfinite(found["score"][0].numpy())
    assert found["tokens"][0].numpy()[real].max() == WORDS
    assert found["tokens"][1].numpy().max() == WORDS + 4


def test_only_open_hypotheses_reach_the_output_layer():
    sizes = []

    def step(tokens, state, places):
        sizes.append(len(places))
        return copy_step([1, 4])(tokens, state, places)

    BeamSearch(step, beam=1)({}, tf.constant([9, 9]))
    assert sizes == [2, 2, 1, 1, 1]


def test_there_may_be_fewer_ids_than_hypotheses():
    table = make_table(6)[:, :, :5, :5]
    found = run(table, [4] * 3, beam=8, n_best=2)
    assert (found["tokens"] < 5).all()


def test_candidates_may_be_few_and_in_any_order():
    """The search itself picks the best of them, not the first ones."""
    ids = [[9, EOS, 7, 4, PAD], [4, 7, 9, EOS, PAD]]
    log_p = np.log([[0.2, 0.1, 0.4, 0.05, 0.25], [0.1, 0.1, 0.1, 0.5, 0.2]])

    def step(tokens, state, places):
        row = tf.gather(state["place"][:, 0], places[:, 0])
        candidates = Candidates(
            tf.gather(tf.constant(log_p, tf.float32), row),
            tf.gather(tf.constant(ids), row),
        )
        state = {"place": tf.minimum(state["place"] + 1, 1)}
        return state, candidates, tf.one_hot(tokens, 2)

    found = BeamSearch(step, beam=2, n_best=2)(
        {"place": tf.zeros([1], tf.int32)}, tf.constant([5])
    )
    np.testing.assert_array_equal(found["tokens"][0], [[7], [9]])
    expected = np.log([0.4 * 0.5, 0.2 * 0.5])
    np.testing.assert_allclose(found["score"][0], expected, rtol=1e-5)


def test_attention_as_a_function_gets_the_chosen_tokens():
    """With the hypothesis that each continues, and what each has gained."""
    seen = []

    def step(tokens, state, places):
        _, candidates, attention = copy_step([2, 3], 0.3)(tokens, state, places)

        def look(*chosen):
            seen.append([x.numpy() for x in chosen])
            return attention

        return state, candidates, look

    found = BeamSearch(step, beam=2, n_best=1)({}, tf.constant([9, 9]))
    tokens, parents, gained = seen[0]
    np.testing.assert_array_equal(tokens, [[WORDS + 1, 4], [WORDS + 2, 4]])
    np.testing.assert_array_equal(parents, [[0, 0]] * 2)
    rest = 0.1 / (WORDS + np.array([[2], [3]]))
    chosen = 0.9 * np.array([[0.7, 0.3]])
    np.testing.assert_allclose(gained, np.log(chosen + rest), rtol=1e-5)
    best = sum(gained[0, 0] for *_, gained in seen)
    np.testing.assert_allclose(found["score"][0, 0], best, rtol=1e-5)
