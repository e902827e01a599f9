"""Each metric against hand-worked cases of its task's official scorer."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.metrics import answer_metrics
from mtl_tf.evaluation.metrics.answer_metrics import Example

PAIRS = [
    # prediction, references, F1, exact match of SQuAD 1.1
    ("the Eiffel Tower", ("Eiffel tower!",), 1.0, 1),
    ("Eiffel", ("Eiffel tower",), 2 / 3, 0),
    ("in Paris, France", ("London", "Paris"), 2 / 4, 0),
    ("Paris", ("London", "the Paris."), 1.0, 1),
    # Bags of words, not sets.
    ("to to be", ("to be",), 4 / 5, 0),
    ("to be", ("to be to be",), 4 / 6, 0),
    # Nothing is left of either: equal, but F1 is 0.
    ("", ("",), 0.0, 1),
    ("the", ("a!",), 0.0, 1),
    ("", ("Paris",), 0.0, 0),
    ("Paris", ("",), 0.0, 0),
    # Punctuation goes before articles and without a space.
    ("U.S.", ("US",), 1.0, 1),
    ("well-known", ("well known",), 0.0, 0),
    ("a.n apple", ("apple",), 1.0, 1),
    # Punctuation beyond ASCII stays, and so do accents.
    ("“Paris”", ("Paris",), 0.0, 0),
    ("$5", ("5",), 1.0, 1),
    ("€5", ("5",), 0.0, 0),
    ("1990–1995", ("1990-1995",), 0.0, 0),
    ("CAFÉ", ("café",), 1.0, 1),
    ("cafe", ("café",), 0.0, 0),
    # An article inside of a word is none.
    ("theatre", ("atre",), 0.0, 0),
    ("Paris   \n France", ("paris france",), 1.0, 1),
]


def examples(*references):
    return [Example(one) for one in references]


@pytest.mark.parametrize(("said", "right", "f1", "exact"), PAIRS)
def test_squads_f1_and_exact_match(said, right, f1, exact):
    example = examples(right)
    assert answer_metrics.nf1([said], example) == pytest.approx(100 * f1)
    assert answer_metrics.nem([said], example) == 100 * exact


@pytest.mark.parametrize(
    ("said", "right", "score"),
    [
        ("Positive", ("positive",), 100),
        (" positive ", ("positive",), 100),
        # Classes are not normalised as answers of SQuAD are.
        ("the entailment", ("entailment",), 0),
        ("entailment.", ("entailment",), 0),
        ("", ("entailment",), 0),
        ("", ("",), 100),
        ("susan", ("Joan", "Susan"), 100),
    ],
)
def test_plain_exact_match(said, right, score):
    assert answer_metrics.em([said], examples(right)) == score


def test_means_are_over_examples():
    said = ["Paris", "London", "Rome", ""]
    right = examples(("Paris",), ("Paris",), ("in Rome",), ("",))
    assert answer_metrics.nf1(said, right) == pytest.approx(
        100 * (1 + 0 + 2 / 3 + 0) / 4
    )
    assert answer_metrics.em(said, right) == 50
    found = answer_metrics.nf1.statistics(said, right)
    np.testing.assert_allclose(found, [[1], [0], [2 / 3], [0]])


WORDS = st.lists(
    st.sampled_from(["the", "A", "an", "b", "B.", "c", "d,", "–", "!"]),
    max_size=6,
).map(" ".join)


def squad_words(text):
    kept = re.sub(r"[!-/:-@\[-`{-~]", "", text.lower())
    return [w for w in kept.split() if w not in ("a", "an", "the")]


@given(WORDS, st.lists(WORDS, min_size=1, max_size=3))
@settings(max_examples=200, deadline=None)
def test_f1_by_removing_common_words_one_by_one(said, references):
    best = 0.0
    for text in references:
        mine, left = squad_words(said), squad_words(text)
        sizes, common = (len(mine), len(left)), 0
        for word in mine:
            if word in left:
                left.remove(word)
                common += 1
        if common:
            precision, recall = common / sizes[0], common / sizes[1]
            best = max(best, 2 * precision * recall / (precision + recall))
    found = answer_metrics.nf1([said], examples(references))
    assert found == pytest.approx(100 * best)
    exact = any(squad_words(said) == squad_words(t) for t in references)
    assert answer_metrics.nem([said], examples(references)) == 100 * exact


# BLEU


HYPOTHESES = [
    "Ein Mann sieht einen Hund auf der Wiese.",
    "Zwei Kinder spielen in dem Garten.",
    "",
    "Ja.",
]
REFERENCES = [
    ("Ein Mann sieht einen kleinen Hund auf der Wiese.", "Der Hund."),
    ("zwei Kinder spielen im Garten.",),
    ("Der Hund schläft.",),
    ("Ja.", "Ja, bitte.", "Nein."),
]


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [1, 1, 0], [3], [2]])
def test_bleu_of_any_part_is_sacrebleus_corpus_score(rows):
    from sacrebleu.metrics import BLEU

    found = answer_metrics.bleu.statistics(HYPOTHESES, examples(*REFERENCES))
    assert found.shape == (4, 10)
    streams = [
        [(*REFERENCES[n], None, None)[place] for n in rows]
        for place in range(max(len(REFERENCES[n]) for n in rows))
    ]
    wanted = BLEU(lowercase=True).corpus_score(
        [HYPOTHESES[n] for n in rows], streams
    )
    score = answer_metrics.bleu.score(found[rows])
    assert score == pytest.approx(wanted.score)


def test_bleu_minds_no_case_and_ends_at_100():
    texts = ["Zwei Kinder spielen im Garten heute .", "Der Hund schläft dort ."]
    right = examples(*[(text.upper(),) for text in texts])
    assert answer_metrics.bleu(texts, right) == pytest.approx(100)
    assert answer_metrics.bleu(texts, right) <= 100
    assert answer_metrics.bleu(["", ""], right) == 0


# ROUGE


def f1(common, said, right):
    return 2 * common / (said + right) if common else 0.0


def longest_common(one, other):
    if not one or not other:
        return 0
    if one[0] == other[0]:
        return 1 + longest_common(one[1:], other[1:])
    return max(longest_common(one[1:], other), longest_common(one, other[1:]))


LINE = st.lists(st.sampled_from("xyz"), max_size=5)


@given(LINE, st.lists(LINE, min_size=1, max_size=2))
@settings(max_examples=100, deadline=None)
def test_rouge_of_lines_by_brute_force(said, references):
    best = np.zeros(3)
    for right in references:
        pairs = [list(zip(side, side[1:])) for side in (said, right)]
        scores = [
            f1((Counter(a) & Counter(b)).total(), len(a), len(b))
            for a, b in ((said, right), pairs)
        ]
        lcs = longest_common(said, right)
        scores.append(f1(lcs, len(said), len(right)))
        best = np.maximum(best, scores)
    right = examples([" ".join(line) for line in references])
    found = answer_metrics.rouge.statistics([" ".join(said)], right)
    np.testing.assert_allclose(found[0], [best.mean(), *best], atol=1e-12)


def test_rouge_warns_once_of_texts_in_other_scripts(caplog):
    answer_metrics._warn_of_script.cache_clear()
    with caplog.at_level("WARNING", "absl"):
        answer_metrics.rouge(["", "é1"], examples(("", "Yes"), ("é1",)))
        assert not caplog.records
        for text in ("Привет", "你好"):
            assert answer_metrics.rouge([text], examples((text,))) == 0
    (record,) = caplog.records
    assert "without an ASCII letter or digit" in record.getMessage()


def test_rouge_stems_minds_no_case_and_reads_lines_as_sentences():
    right = examples(("The police killed a gunman.\nHe was armed.",))
    assert answer_metrics.rouge([right[0].references[0]], right) == (
        pytest.approx(100)
    )
    assert answer_metrics.rouge(["killing"], examples(("KILLED",))) == (
        pytest.approx(100 * 2 / 3)  # no pairs of words
    )
    # Lin (2004), 3.2: the union of w1 w2 and w1 w3 w5 has 4 of 5 words.
    said = "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"
    found = answer_metrics.rouge.statistics(
        [said], examples(("w1 w2 w3 w4 w5",))
    )
    assert found[0, 3] == pytest.approx(f1(4, 10, 5))
    # decaNLP's scorer ends a sentence at each period.
    said = "w1 w2 w6 w7 w8. w1 w3 w8 w9 w5."
    found = answer_metrics.rouge.statistics(
        [said], examples(("w1 w2 w3 w4 w5.",))
    )
    assert found[0, 3] == pytest.approx(f1(4, 10, 5))
    turned = answer_metrics.rouge.statistics(
        ["He was armed. The police killed him."],
        examples(("The police killed him. He was armed.",)),
    )
    assert turned[0, 3] == pytest.approx(1) and turned[0, 2] < 1
    assert answer_metrics.rouge([""], examples(("",))) == 0


# Corpus F1 with questions without answers


RELATIONS = [
    # prediction, references, (right, answered, answerable)
    ("Paris", ("Paris",), (1, 1, 1)),
    ("in Paris", ("Paris",), (0, 1, 1)),
    ("the Beatles!", ("beatles",), (1, 1, 1)),
    # All references are meant, in any order.
    ("Anna and Bert", ("Bert", "Anna"), (1, 1, 1)),
    ("Anna", ("Bert", "Anna"), (0, 1, 1)),
    # Sets: repetitions do not count.
    ("New New York", ("New York", "York"), (1, 1, 1)),
    ("unanswerable", ("unanswerable",), (0, 0, 0)),
    ("Unanswerable.", ("unanswerable",), (0, 0, 0)),
    ("unanswerable", ("Paris",), (0, 0, 1)),
    ("", ("Paris",), (0, 0, 1)),
    ("Paris", ("unanswerable",), (0, 1, 0)),
    ("", ("unanswerable",), (0, 0, 0)),
    ("", (), (0, 0, 0)),
    ("unanswerable Paris", ("Paris",), (0, 1, 1)),
    ("“Paris”", ("Paris",), (0, 1, 1)),
]


@pytest.mark.parametrize(("said", "right", "counts"), RELATIONS)
def test_relations_by_hand(said, right, counts):
    found = answer_metrics.cf1.statistics([said], examples(right))
    assert found.tolist() == [list(counts)]


def test_corpus_f1_is_of_all_questions_together():
    said, right, counts = zip(*RELATIONS)
    true, answered, answerable = np.sum(counts, 0)
    precision, recall = true / answered, true / answerable
    wanted = 200 * precision * recall / (precision + recall)
    assert answer_metrics.cf1(said, examples(*right)) == pytest.approx(wanted)
    assert answer_metrics.cf1(["", "x"], examples(("x",), ())) == 0
    assert answer_metrics.cf1([""], examples(("unanswerable",))) == 0


# All metrics


def a_case(name):
    scoring = {"dialogue": "d", "header": ["x"], "sel": 0, "agg": 0}
    return Example(("Right",), {**scoring, "conds": [], "turn": 0, "rows": []})


@pytest.mark.parametrize("name", answer_metrics.METRICS)
def test_every_metric_takes_its_reference_and_refuses_other_lengths(name):
    metric = answer_metrics.get(name)
    example = a_case(name)
    score = metric(["right"], [example])
    # A word alone has no pairs, and no n-grams of 4.
    partly = {"rouge": 200 / 3, "bleu": 0}
    assert score == pytest.approx(partly.get(name, 100))
    assert metric([], []) == 0
    with pytest.raises(ValueError, match="2 predictions, but 1 examples"):
        metric(["a", "b"], [example])


@pytest.mark.parametrize("name", sorted({*answer_metrics.METRICS} - {"cf1"}))
def test_an_example_without_references_is_refused(name):
    with pytest.raises(ValueError, match="no reference"):
        answer_metrics.get(name)(["x"], [a_case(name)._replace(references=())])


def test_unknown_names_are_refused():
    with pytest.raises(ConfigError, match="nf1"):
        answer_metrics.get("nf2")
