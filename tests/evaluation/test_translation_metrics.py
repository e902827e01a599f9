import math
from collections import Counter

import numpy as np
import pytest
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import evaluator, scoring, task_types
from mtl_tf.evaluation.metrics import translation_metrics
from mtl_tf.evaluation.tables import remarks, tables
from mtl_tf.text.encoding.decoding import restricted
from mtl_tf.text.encoding.encoder import TextEncoder
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer
from mtl_tf.text.vocabulary import BOUNDS, Vocabulary

REFERENCES = [
    "Ein Mann sieht einen kleinen Hund auf der Wiese .",
    "Zwei Kinder spielen im Garten .",
    "Der Hund schläft .",
]
HYPOTHESES = [
    "ein Mann sieht einen Hund auf der Wiese .",
    "Zwei Kinder spielen in dem Garten .",
    "Der Hund schläft .",
]


def reference_bleu(hypotheses, references):
    """Papineni et al. (2002) of texts that are tokens."""
    logs, lengths = 0.0, [0, 0]
    for n in range(1, 5):
        right = total = 0
        for said, wanted in zip(hypotheses, references):
            grams = [
                Counter(tuple(t[i : i + n]) for i in range(len(t) - n + 1))
                for t in (said.split(), wanted.split())
            ]
            right += sum((grams[0] & grams[1]).values())
            total += sum(grams[0].values())
        logs += math.log(right / total) / 4
    for said, wanted in zip(hypotheses, references):
        lengths[0] += len(said.split())
        lengths[1] += len(wanted.split())
    return 100 * math.exp(logs + min(0, 1 - lengths[1] / lengths[0]))


def test_bleu_with_and_without_case():
    bleu = translation_metrics.bleu(HYPOTHESES, REFERENCES, "none")
    assert bleu.value == pytest.approx(reference_bleu(HYPOTHESES, REFERENCES))
    assert "case:mixed" in bleu.signature and "tok:none" in bleu.signature
    lower = [[t.lower() for t in side] for side in (HYPOTHESES, REFERENCES)]
    bleu_lc = translation_metrics.bleu_lc(HYPOTHESES, REFERENCES, "none")
    assert bleu_lc.value == pytest.approx(reference_bleu(*lower))
    assert bleu_lc.value > bleu.value
    assert "case:lc" in bleu_lc.signature
    same = translation_metrics.chrf(REFERENCES, REFERENCES)
    assert same.value == 100.0 and "chrF2" not in same.signature


def test_the_tokenizer_is_the_language_s_or_a_given_one():
    real = ["Er schläft im Haus."], ["Er schläft im Haus ."]
    assert "tok:13a" in translation_metrics.bleu(*real, "", "de").signature
    assert translation_metrics.bleu(*real, "", "de").value > 99
    assert translation_metrics.bleu(*real, "none", "de").value < 60
    for language in ("zh", "zh-CN", "zh_TW", "ZH-Hans"):
        score = translation_metrics.bleu(*real, "", language)
        assert "tok:zh" in score.signature
    with pytest.raises(ConfigError, match="did you mean 'none'"):
        translation_metrics.bleu(*real, "nome")
    with pytest.raises(ValueError, match="3 references, but 1 hypotheses"):
        translation_metrics.bleu(["a"], REFERENCES)


def predictions(name, hypotheses=HYPOTHESES, references=REFERENCES, **fields):
    return scoring.TaskPredictions(
        name=name,
        type="translation",
        class_names=(),
        labels=references,
        predictions=hypotheses,
        **{"metrics": ("bleu", "bleu_lc", "chrf"), **fields},
    )


def test_results_of_translation_tasks():
    results = evaluator.evaluate(
        [
            predictions(
                "en-de",
                settings={"bleu_tokenizer": "none"},
                clean=[True, False, False],
                losses=[1.0, 2.0, 3.0],
            ),
            predictions("en-fr", [], [], clean=[]),
        ],
        "test",
    )
    german = results["tasks"]["en-de"]
    assert german["primary"] == "bleu" and german["examples"] == 3
    assert german["bleu"] == pytest.approx(
        reference_bleu(HYPOTHESES, REFERENCES)
    )
    assert german["clean"]["examples"] == 1
    assert german["clean"]["bleu"] == pytest.approx(
        reference_bleu(HYPOTHESES[:1], REFERENCES[:1])
    )
    assert set(german["signatures"]) == {"bleu", "bleu_lc", "chrf"}
    assert "confusion" not in german and "paper_bleu" not in german
    assert results["tasks"]["en-fr"]["bleu"] is None
    assert results["mean"]["translation"] == german["bleu"]
    text = tables.console(results)
    assert "BLEU, no case" in text
    assert f"BLEU of en-de: {german['signatures']['bleu']}" in text
    assert f"chrF: {german['signatures']['chrf']}" in text
    assert f"`{german['signatures']['bleu']}`" in tables.markdown(results)


@pytest.mark.parametrize(
    ("said", "warning"),
    [
        ([""] * 3, "on en-de, 3 of 3 predictions are empty: the model has"),
        (["Der", "Ein", "Der"], "2 of 3 predictions are the same text, 'Der'"),
        (HYPOTHESES, None),
    ],
)
def test_one_translation_of_most_sources_is_told(said, warning):
    results = evaluator.evaluate([predictions("en-de", said)], "test")
    found = remarks.warnings(results)
    assert len(found) == bool(warning)
    if warning:
        assert warning in found[0]
        assert warning in tables.markdown(results)
        assert found[0].endswith("Train longer, or on more examples.")


def test_a_translation_of_most_sources_may_be_right():
    said, right = ["Ja .", "Ja .", "Nein ."], ["Ja .", "Ja .", "Nein ."]
    results = evaluator.evaluate([predictions("en-de", said, right)], "test")
    assert remarks.warnings(results) == []


def test_the_scores_of_a_task_know_case_or_not():
    said = [text.upper() for text in REFERENCES]
    results = evaluator.evaluate([predictions("en-de", said)], "test")
    scores = results["tasks"]["en-de"]
    assert scores["bleu"] < 50
    assert scores["bleu_lc"] == pytest.approx(100)


def test_unequal_numbers_and_unknown_metrics():
    with pytest.raises(ValueError, match="one value for each of the 3"):
        evaluator.evaluate([predictions("en-de", ["a"])], "test")
    with pytest.raises(ValueError, match="restricted must have one value"):
        one = predictions("en-de", variants={"restricted": (HYPOTHESES, ["a"])})
        evaluator.evaluate([one], "test")
    with pytest.raises(ConfigError, match="did you mean 'bleu'"):
        one = predictions("en-de", metrics=("bleux",))
        evaluator.evaluate([one], "test")


def test_scoring_of_the_paper():
    tokenizer = make_tokenizer({"name": "whitespace"})
    known = tf.constant([REFERENCES[1], REFERENCES[2], "<unk>"])
    counts = Vocabulary.count([tokenizer(known)])
    del counts["<unk>"]
    encoder = TextEncoder(
        tokenizer, Vocabulary.from_counts(counts, specials=BOUNDS)
    )
    unknown = translation_metrics.UNKNOWN
    references = restricted(encoder, REFERENCES, unknown)
    assert references[0] == "UNK UNK UNK UNK UNK Hund UNK UNK UNK ."
    assert references[1:] == REFERENCES[1:]
    # A model that writes what it knows, and the unknown word else.
    written = ["<unk> " * 5 + "Hund <unk> <unk> <unk> .", *REFERENCES[1:]]
    hypotheses = restricted(encoder, written, unknown)
    one = predictions(
        "en-de",
        written,
        variants={"restricted": (hypotheses, references)},
        metrics=("bleu",),
    )
    scores = evaluator.evaluate([one], "test")["tasks"]["en-de"]
    assert scores["paper_bleu"] == pytest.approx(100.0)
    assert scores["bleu"] < 70
    assert "case:lc" in scores["signatures"]["paper_bleu"]
    assert restricted(encoder, [], unknown) == []


@pytest.mark.parametrize("lowercase", [False, True])
def test_any_part_has_the_score_that_sacrebleu_gives_it(lowercase):
    draw = np.random.default_rng(3)
    words = ["The", "the", "house", "is", "small", ",", "not", "Big"]
    right, said = (
        [" ".join(draw.choice(words, n)) for n in draw.integers(4, 12, 40)]
        for _ in range(2)
    )
    said = [r if n % 2 else s for n, (r, s) in enumerate(zip(right, said))]
    metric = translation_metrics.SummedBleu("13a", "en", lowercase)
    counts = metric.counts(said, [[text] for text in right])
    rows = draw.integers(0, 40, 60)  # Some are there several times.
    expected = translation_metrics.bleu(
        [said[n] for n in rows],
        [right[n] for n in rows],
        "13a",
        "en",
        lowercase,
    )
    assert 20 < expected.value < 90
    assert metric.score(counts[rows]) == pytest.approx(expected.value)


def test_any_part_has_the_chrf_that_sacrebleu_gives_it():
    draw = np.random.default_rng(3)
    words = ["The", "small", "é", "aaa", ",", "Haus\u00a0tür", "犬", "not  so"]
    right, said = (
        [" ".join(draw.choice(words, n)) for n in draw.integers(1, 9, 40)]
        for _ in range(2)
    )
    said = [r if n % 2 else s for n, (r, s) in enumerate(zip(right, said))]
    # Texts that are too short for some n-grams, on either side and on both.
    said[:5], right[:5] = (
        ["", "abc", "a", "long enough", "ab"],
        [
            "a text",
            "a text",
            "a",
            "lo",
            "abc",
        ],
    )
    metric = translation_metrics.SummedChrf()
    counts = metric.counts(said, [[text] for text in right])
    parts = [[n] for n in range(40)]
    parts += [range(5), [2, 4], draw.integers(0, 40, 60)]
    for rows in parts:
        expected = translation_metrics.chrf(
            [said[n] for n in rows], [right[n] for n in rows]
        )
        found = metric.score(counts[np.asarray(rows)])
        assert found == pytest.approx(expected.value)


def test_chrf_of_a_part_reads_no_text_again(monkeypatch):
    # A bootstrap draws thousands of parts; reading 1,000 texts takes chrF
    # some tenths of a second.
    task = predictions("en-de", metrics=("chrf",))
    scorer = task_types.of("translation").scorer_of(task)
    twice = [HYPOTHESES[0]] * 2, [REFERENCES[0]] * 2
    expected = translation_metrics.chrf(*twice).value
    for part in ("helpers", "chrf"):
        monkeypatch.setattr(
            f"sacrebleu.metrics.{part}.extract_all_char_ngrams", None
        )
    found = scorer.part(np.array([0, 0]))["chrf"]
    assert found == pytest.approx(expected)
