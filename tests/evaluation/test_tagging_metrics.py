import numpy as np
import pytest
import seqeval.metrics
import seqeval.scheme

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.metrics import tagging_metrics
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.tables import tables
from mtl_tf.text.span_schemes import convert

GOLD = [
    ["B-PER", "I-PER", "O", "B-LOC"],
    ["O", "B-LOC", "I-LOC"],
    ["O"],
]
# Right: PER. Wrong: a short LOC, and an I-LOC that nothing opened.
SAID = [
    ["B-PER", "I-PER", "O", "I-LOC"],
    ["O", "B-LOC", "O"],
    ["B-ORG"],
]


def test_token_accuracy():
    assert tagging_metrics.token_accuracy(GOLD, GOLD) == 100
    assert tagging_metrics.token_accuracy(GOLD, SAID) == 100 * 5 / 8
    assert tagging_metrics.token_accuracy([], []) == 0
    # What was cut off was not said.
    assert tagging_metrics.token_accuracy([["A", "A"]], [["A"]]) == 50


def test_a_tag_of_words_called_o_is_not_guessed():
    """Nothing stands for tokens that were not read, not even `O`."""
    gold, predicted = [["V", "O", "O"]], [["V"]]
    score = tagging_metrics.token_accuracy(gold, predicted, "")
    assert score == pytest.approx(100 / 3)
    assert tagging_metrics.by_type(gold, predicted)["O"]["f1"] == 0
    # Nor is it among the tags of those who do not have it.
    assert set(tagging_metrics.by_type([["V", "N"]], predicted)) == {"V", "N"}


def test_span_f1_has_two_modes():
    # conlleval: of 4 predicted and 3 right spans, 2 agree.
    lenient = tagging_metrics.span_f1(GOLD, SAID)
    assert lenient == pytest.approx(100 * 2 * 2 / (4 + 3))
    strict = tagging_metrics.span_f1_strict(GOLD, SAID)
    assert strict == pytest.approx(100 * 2 * 1 / (3 + 3))
    assert tagging_metrics.get("span_f1_strict")(GOLD, SAID, "iob2") == strict
    assert tagging_metrics.span_f1(GOLD, GOLD) == 100


@pytest.mark.parametrize("strict", [False, True])
def test_any_part_has_the_score_that_seqeval_gives_it(strict):
    draw = np.random.default_rng(7)
    tags = ["O", "B-X", "I-X", "B-Y", "I-Y"]
    gold = [list(draw.choice(tags, n)) for n in draw.integers(1, 9, 30)]
    said = [list(draw.choice(tags, len(one))) for one in gold]
    name = "span_f1_strict" if strict else "span_f1"
    metric = tagging_metrics.get(name)
    counts = metric.counts(gold, said)
    rows = draw.integers(0, 30, 50)  # Some are there several times.
    expected = seqeval.metrics.f1_score(
        [gold[n] for n in rows],
        [said[n] for n in rows],
        mode="strict" if strict else None,
        scheme=seqeval.scheme.IOB2 if strict else None,
    )
    assert 0 < expected < 1
    assert metric.score(counts[rows]) == pytest.approx(100 * expected)


def test_the_scheme_of_training_does_not_change_the_score():
    gold, said = (
        [convert(tags, "iobes") for tags in sentences]
        for sentences in (GOLD, SAID)
    )
    assert tagging_metrics.span_f1(gold, said, "iobes") == pytest.approx(
        tagging_metrics.span_f1(GOLD, SAID)
    )
    for metric in (tagging_metrics.span_f1, tagging_metrics.token_accuracy):
        assert metric([["S-X"]], [["B-X"]], "iobes") == 100
    gold, said = [["B-X", "E-X"]], [["B-X", "I-X"]]
    assert tagging_metrics.span_f1(gold, said, "iobes") == 100
    assert tagging_metrics.span_f1_strict(gold, said, "iobes") == 0


def test_no_spans_at_all():
    outside = [["O", "O"], []]
    assert tagging_metrics.span_f1(outside, outside) == 0
    assert tagging_metrics.span_f1([["B-X"]], [["O"]]) == 0
    assert tagging_metrics.span_f1([["O"]], [["B-X"]]) == 0
    assert tagging_metrics.by_type(outside, outside, "iob2") == {}


def test_cut_sentences_miss_their_spans():
    assert tagging_metrics.span_f1([["B-X", "O", "B-X"]], [["B-X"]]) == (
        pytest.approx(100 * 2 / 3)
    )
    with pytest.raises(ValueError, match="1 tokens, but 2 predicted tags"):
        tagging_metrics.span_f1([["O"]], [["O", "O"]])
    with pytest.raises(ValueError, match="2 sentences, but predictions for 1"):
        tagging_metrics.token_accuracy([["O"], ["O"]], [["O"]])


def test_by_type():
    table = tagging_metrics.by_type(GOLD, SAID, "iob2")
    assert list(table) == ["LOC", "ORG", "PER"]
    assert table["LOC"] == {
        "precision": 50.0,
        "recall": 50.0,
        "f1": 50.0,
        "support": 2,
    }
    assert table["ORG"]["support"] == 0 and table["ORG"]["f1"] == 0
    words = tagging_metrics.by_type([["N", "V", "N"]], [["N", "N", "N"]])
    assert words["N"]["precision"] == pytest.approx(100 * 2 / 3)
    assert words["N"]["recall"] == 100 and words["N"]["support"] == 2
    assert words["V"]["f1"] == 0


def test_wrong_metrics():
    with pytest.raises(ConfigError, match="did you mean 'span_f1'"):
        tagging_metrics.get("spanf1")
    with pytest.raises(ConfigError, match="needs tags of spans"):
        tagging_metrics.span_f1([["NN"]], [["NN"]], "")


def test_conll_columns():
    def written(*columns):
        return "".join(tagging_metrics.conll_lines(*columns))

    tokens = [["New York", "is"], ["\u00a0", "x"]]
    gold = [["S-LOC", "O"], ["B-X", "E-X"]]
    said = [["S-LOC", "I-X"], ["O"]]
    assert written(tokens, gold, said, "iobes") == (
        "New_York B-LOC B-LOC\nis O B-X\n\n_ B-X O\nx I-X O\n\n"
    )
    # IOB2 stays as it was said, so that other scorers count it as we do.
    iob2 = written([["a"]], [["B-X"]], [["I-X"]], "iob2")
    assert iob2 == "a B-X I-X\n\n"
    assert written([["a"]], [["NN"]], [["VB"]]) == "a NN VB\n\n"
    assert written([["a"]], [["B-my tag"]], [["O"]]) == "a B-my_tag O\n\n"
    for wrong in (
        ([["a", "b"]], [["O"]], [["O"]]),
        ([["a"]], [["O"], ["O"]], [["O"], ["O"]]),
        ([["a"]], [["O"]], [["O", "O"]]),
    ):
        with pytest.raises(ValueError):
            written(*wrong)


LABELS = ("O", "B-X", "I-X")


def predictions(**changed):
    fields = {
        "name": "chunks",
        "type": "tagging",
        "class_names": LABELS,
        "metrics": ("span_f1", "token_accuracy"),
        "labels": [[1, 2, 0], [0, 1], []],
        "predictions": [[1, 2, 0], [0, 0], []],
        "losses": [0.5, 1.0, 0.0],
        "clean": [True, False, True],
        "settings": {"scheme": "iob2"},
    }
    return TaskPredictions(**(fields | changed))


def test_evaluation_of_a_tagging_task():
    results = evaluate([predictions()], "test")
    task = results["tasks"]["chunks"]
    assert (task["examples"], task["tokens"]) == (3, 5)
    assert task["span_f1"] == pytest.approx(200 / 3)
    assert task["token_accuracy"] == 80
    assert task["loss"] == 0.5
    assert task["clean"] == {
        "examples": 2,
        "tokens": 3,
        "span_f1": 100.0,
        "token_accuracy": 100.0,
    }
    assert task["types"]["X"]["support"] == 2
    assert results["mean"]["tagging"] == task["span_f1"]
    assert "confusion" not in task


def test_tables_of_both_kinds():
    books = TaskPredictions("books", [1, 0], [1, 1], ("neg", "pos"))
    results = evaluate([predictions(), books], "test")
    page = tables.markdown(results)
    assert "span F1" in page and "| chunks | precision | recall" in page
    row = next(x for x in page.splitlines() if x.startswith("| X "))
    assert row.split("|")[2:6] == [
        f" {x} " for x in ("    100.0", "  50.0", "66.7", "      2")
    ]
    first = tables.console(results).splitlines()
    assert first[1].split()[:4] == ["tagging", "n", "span", "F1"]


def test_a_tagging_task_needs_one_prediction_for_each_sentence():
    with pytest.raises(ValueError, match="predictions must have one value"):
        evaluate([predictions(predictions=[[1, 2, 0]])], "test")
    empty = predictions(labels=[], predictions=[], losses=[], clean=[])
    task = evaluate([empty], "test")["tasks"]["chunks"]
    assert task["span_f1"] is None and task["types"] == {}
