import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import IOB1, IOB2, IOBES, Entities

from mtl_tf.core.errors import ConfigError
from mtl_tf.text import span_schemes
from mtl_tf.text.span_schemes import SCHEMES, Span, convert, detect, spans

# One sentence in every scheme: two touching spans of a type, a single token,
# and a span that touches one of another type.
IN_EACH = {
    "iob1": "I-PER I-PER B-PER O I-LOC I-ORG I-ORG I-ORG",
    "iob2": "B-PER I-PER B-PER O B-LOC B-ORG I-ORG I-ORG",
    "iobes": "B-PER E-PER S-PER O S-LOC B-ORG I-ORG E-ORG",
}
SPANS = [
    Span("PER", 0, 2),
    Span("PER", 2, 3),
    Span("LOC", 4, 5),
    Span("ORG", 5, 8),
]
ANY_TAGS = st.lists(
    st.sampled_from(["O", *(f"{x}-{t}" for x in "BIES" for t in ("X", "Y-Z"))]),
    max_size=12,
)


@pytest.mark.parametrize("before", SCHEMES)
@pytest.mark.parametrize("after", SCHEMES)
def test_hand_case(before, after):
    tags = IN_EACH[before].split()
    assert spans(tags) == SPANS
    assert convert(tags, after) == IN_EACH[after].split()


def test_wrong_sequences_are_read_as_conlleval_reads_them():
    assert convert(["O", "I-X", "I-X", "I-Y"], "iob2") == [
        "O",
        "B-X",
        "I-X",
        "B-Y",
    ]
    assert spans(["E-X", "E-X", "I-X", "S-X"]) == [
        Span("X", 0, 1),
        Span("X", 1, 2),
        Span("X", 2, 3),
        Span("X", 3, 4),
    ]
    assert spans([]) == [] and convert([], "iobes") == []


@settings(max_examples=200, deadline=None)
@given(ANY_TAGS)
def test_spans_are_those_of_seqeval(tags):
    found = [(s.type, s.start, s.stop - 1) for s in spans(tags)]
    assert found == get_entities(list(tags))
    for scheme in SCHEMES:
        # Another scheme is another spelling of the same spans.
        assert spans(convert(tags, scheme)) == spans(tags)
        assert convert(convert(tags, scheme), scheme) == convert(tags, scheme)


@settings(max_examples=100, deadline=None)
@given(ANY_TAGS)
def test_what_is_written_is_strictly_right(tags):
    judges = {"iob1": IOB1, "iob2": IOB2, "iobes": IOBES}
    for scheme, judge in judges.items():
        strict = Entities([convert(tags, scheme)], judge).entities[0]
        found = [Span(e.tag, e.start, e.end) for e in strict]
        assert found == spans(tags)


def test_spans_without_a_type():
    assert convert(["I", "I", "O", "B"], "iobes") == ["B", "E", "O", "S"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert get_entities(["B", "I"]) == [("_", 0, 1)]


def test_what_is_no_tag_of_a_span():
    with pytest.raises(ValueError, match="'NN' is no tag of a span"):
        spans(["O", "NN"])
    with pytest.raises(ConfigError, match="unknown scheme 'bio'"):
        convert(["O"], "bio")
    assert span_schemes.are_span_tags(["O", "B-X"])
    assert not span_schemes.are_span_tags(["O", "B-X", "BX"])
    assert not span_schemes.are_span_tags(["O"])


def test_detect():
    for scheme in SCHEMES:
        assert detect([["O"], IN_EACH[scheme].split()]) == scheme
    assert detect([["O", "O"], []]) == "iob2"
    # One slip of an annotator does not make another scheme of a corpus.
    assert detect([["B-X", "I-X"], ["O", "B-Y"], ["I-Y"]]) == "iob2"


def test_tag_set():
    types = span_schemes.types_of(["O", "I-Y", "B-X", "B-Y"])
    assert types == ["X", "Y"]
    assert span_schemes.tag_set(types, "iob2") == (
        "O",
        "B-X",
        "I-X",
        "B-Y",
        "I-Y",
    )
