"""The benchmark's cases about translation, with small sizes."""

import pytest

from mtl_tf.benchmarks import translation
from tests.benchmarks.benchmark_testing import SMALL, check_form, column


@pytest.mark.slow
def test_a_step_is_timed_beside_the_cell_that_computes_the_same():
    result = translation.translation(SMALL, 2)
    check_form(result)
    assert column(result, "contestant") == ["mtl_tf", "keras_rnn"]
    [target] = result["targets"]
    assert (target["rule"], target["limit"]) == ("at least", 1.15)
    assert target["value"] == result["rows"][1]["times_ours"]


def test_beam_search_translates_all_sentences_to_their_limits():
    result = translation.beam_search(SMALL, 1)
    [row] = result["rows"]
    lengths = map(len, translation._sentences(SMALL))
    assert row["tokens"] == sum(lengths) + 2 * row["sentences"]
    assert row["sentences"] == 70
    [target] = result["targets"]
    assert (target["rule"], target["limit"]) == ("at most", 40.0)
