"""The case of the benchmark about CRFs; no test looks at a clock."""

import pytest

from mtl_tf.benchmarks import crf
from tests.benchmarks.benchmark_testing import SMALL


@pytest.mark.slow
def test_crf_compares_the_two_decoders_with_the_stated_target():
    result = crf.crf(SMALL, 2)
    assert [row["decoder"] for row in result["rows"]] == ["crf", "softmax"]
    with_crf, softmax = result["rows"]
    assert softmax["times_softmax"] == 1.0
    assert len(with_crf["samples_ms"]) == 2
    [target] = result["targets"]
    assert target["value"] == with_crf["times_softmax"]
    assert (target["rule"], target["limit"]) == ("at most", 1.3)
