"""Which tags may follow each other."""

import numpy as np
import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.crf.constraints import allowed_transitions, span_scheme
from tests.layers.crf_reference import allows

NAMES = {
    "iob1": ["O", "I-X", "B-X", "I-Y", "B-Y"],
    "bio": ["O", "B-X", "I-X", "B-Y", "I-Y"],
    "iobes": ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"],
}


@pytest.mark.parametrize(
    "scheme, sentence, allowed",
    [
        ("bio", "", True),
        ("bio", "O B-X I-X B-X O", True),
        ("bio", "B-X B-Y I-Y", True),
        ("bio", "O I-X", False),
        ("bio", "I-X O", False),
        ("bio", "B-X I-Y", False),
        ("iob2", "I-X", False),
        ("iob1", "I-X I-X B-X I-X O", True),
        ("iob1", "I-X I-Y B-Y", True),
        ("iob1", "B-X I-X", False),
        ("iob1", "O B-X", False),
        ("iob1", "I-X B-Y", False),
        ("iobes", "S-X B-Y I-Y E-Y O B-X E-X", True),
        ("iobes", "B-X I-X", False),
        ("iobes", "B-X O", False),
        ("iobes", "B-X E-Y", False),
        ("iobes", "S-X I-X", False),
        ("iobes", "O E-X", False),
        ("bioes", "E-X", False),
    ],
)
def test_sentences(scheme, sentence, allowed):
    labels = NAMES[{"iob2": "bio", "bioes": "iobes"}.get(scheme, scheme)]
    constraints = allowed_transitions(labels, scheme)
    assert constraints.transitions.shape == (len(labels), len(labels))
    tags = [labels.index(label) for label in sentence.split()]
    assert allows(constraints, tags) == allowed


def test_spans_without_types():
    constraints = allowed_transitions(["B", "I", "O"], "bio")
    np.testing.assert_array_equal(constraints.start, [True, False, True])
    np.testing.assert_array_equal(
        constraints.transitions, [[1, 1, 1], [1, 1, 1], [1, 0, 1]]
    )


def test_the_scheme_is_told_from_the_labels():
    assert span_scheme(NAMES["bio"]) == "bio"
    assert span_scheme(NAMES["iobes"]) == "iobes"
    assert span_scheme(["O", "B-X"]) == "bio"
    assert span_scheme(["NN", "VB", "O"]) is None
    assert span_scheme(["B-X", "I-X"]) is None
    assert span_scheme(["O", "B-X", "L-X"]) is None


def test_wrong_names():
    with pytest.raises(ConfigError, match="did you mean 'bio'"):
        allowed_transitions(["O"], "boi")
    with pytest.raises(ConfigError, match="'E-X' is no label of the scheme"):
        allowed_transitions(["O", "E-X"], "bio")
