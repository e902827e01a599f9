"""The table's data and its Markdown."""

import dataclasses

import pytest

from mtl_tf.experiments import published
from mtl_tf.experiments.published import (
    PublishedRow,
    PublishedTable,
    PublishedTask,
)
from mtl_tf.experiments.table_page import markdown
from mtl_tf.experiments.table_report import Outcome, build

TABLE = PublishedTable(
    name="t/1",
    config="c",
    paper="P 2000, table 1",
    vectors="GloVe",
    tasks=(
        PublishedTask("books", "Books", 400),
        PublishedTask("kitchen_housewares", "Kitchen", 400, ("kitchen",)),
    ),
    rows=(
        PublishedRow("lstm", "LSTM", published.SINGLE, (70.0, 80.0), 120_000),
        PublishedRow("meta", "Meta", published.MULTI, (80.0, 90.0)),
        PublishedRow("tfidf", "TF-IDF", published.BASELINE),
        PublishedRow(
            "old", "Old", published.QUOTED, (60.0, None), source="A 1999"
        ),
    ),
    notes=("A note.",),
)


def results(books, kitchen, **run):
    tasks = {
        name: {"primary": "accuracy", "accuracy": score, "examples": 200}
        for name, score in (("fdu_mtl/books", books), ("kitchen", kitchen))
    }
    mean = (books + kitchen) / 2
    return {
        "split": "test",
        "tasks": tasks,
        "mean": {"overall": mean, "clean": {"overall": mean - 2}},
        "run": {"hardware": "a machine", "wall_time": 61.0, **run},
    }


OUTCOMES = [
    Outcome(
        "lstm",
        1,
        results(72.0, 82.0, parameters_without_embedding=200, models=2),
    ),
    Outcome("lstm", 2, results(74.0, 86.0)),
    Outcome("meta", 1, failure="RunError: too | bad\nmore"),
]


@pytest.fixture
def report():
    return build(TABLE, OUTCOMES, ["do it"], ["training.epochs=2"])


def row(report, name):
    return next(r for r in report["rows"] if r["name"] == name)


def test_means_and_spreads_over_seeds(report):
    ours = row(report, "lstm")["ours"]
    assert ours["mean"]["mean"] == pytest.approx(78.5)
    assert ours["mean"]["std"] == pytest.approx(1.5 * 2**0.5)
    assert ours["clean"]["mean"] == pytest.approx(76.5)
    assert ours["tasks"]["kitchen_housewares"]["mean"] == pytest.approx(84.0)
    assert row(report, "lstm")["paper"]["mean"] == 75.0


def test_a_mean_over_some_tasks_is_not_given(report):
    assert row(report, "old")["paper"]["mean"] is None
    assert row(report, "old")["paper"]["tasks"]["books"] == 60.0


def test_the_setting_says_what_differs(report):
    text = " ".join(report["differences"])
    assert "No pretrained word vectors; the paper has GloVe" in text
    assert "200 test texts of each task; the paper has 400" in text
    assert "training.epochs=2" in text
    assert "A note." in text
    with_vectors = build(TABLE, OUTCOMES, vectors="/v.txt")["differences"]
    assert with_vectors[0].startswith("Word vectors from /v.txt")


def lines(report):
    return {
        line.split("|")[1].strip(): [c.strip() for c in line.split("|")[2:-1]]
        for line in markdown(report).split("\n")
        if line.startswith("| ")
    }


def test_summary_line(report):
    text = markdown(report)
    line = next(x for x in text.split("\n") if x.startswith("| LSTM"))
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    assert cells == [
        "LSTM",
        "single task",
        "75.0",
        "78.5 ± 2.1",
        "+3.5",
        "76.5 ± 2.1",
        "120K",
        "2 x 100",
        "1 min 01 s",
        "-",
        "-",
        "2",
    ]


def test_rows_are_compared_with_those_above_them(report):
    """By how much, how surely, after how many updates of which precision."""
    for number, row in enumerate(report["rows"][:2]):
        row["ours"] |= {
            "updates": {"mean": 1234.5 + number},
            "precision": ["float32"],
        }
    mean = {"gain": 2.04, "interval": [0.5, 3.5], "p_value": 0.012}
    mean["standard_errors"] = [0.3, 0.4]
    report["rows"][0]["compared"] = {"standard_error": 0.32}
    report["rows"][1]["compared"] = {"above": "LSTM", "mean": mean}
    text = " ".join(markdown(report).split())
    assert "| LSTM | - | 0.3 | - | - | - | - |" in text
    title = report["rows"][1]["title"]
    expected = f"| {title} | LSTM | 0.4 | +2.0 | +0.5 to +3.5 | 0.012 | yes |"
    assert expected in text
    assert "1,234 | float32" in text
    mean["p_value"] = 0.3
    text = " ".join(markdown(report).split())
    assert expected.replace("0.012 | yes", "0.300 | no") in text


def test_rows_that_are_not_run_still_stand(report):
    text = markdown(report)
    assert "Old (paper's figures: A 1999)" in text
    assert "quoted by the paper" in text
    assert "0 of 1" in text
    assert "* Meta, seed 1: RunError: too | bad\n" in text
    assert "`do it`" in text and "a machine" in text


def test_cells_show_ours_and_the_papers(report):
    assert lines(report)["LSTM"] == [
        "73.0 ± 1.4 (70.0)",
        "84.0 ± 2.8 (80.0)",
    ]


def test_many_tasks_stand_below_each_other():
    titles = [f"T{n}" for n in range(7)]
    table = PublishedTable(
        "t/2",
        "c",
        "p",
        "v",
        tuple(PublishedTask(t.lower(), t, 400) for t in titles),
        TABLE.rows[2:3],
    )
    text = markdown(build(table, []))
    assert "| task | TF-IDF |" in text
    assert "| T6   |" in text


TAGGING = PublishedTable(
    name="t/3",
    config="c",
    paper="P 2000, table 3",
    vectors="GloVe",
    tasks=(
        PublishedTask("chunk", "Chunks", 50, unit="tokens", metric="span_f1"),
        PublishedTask("ner", "Entities", 60, unit="tokens", metric="span_f1"),
        PublishedTask("wsj", "WSJ", 70, unit="tokens", metric="token_accuracy"),
        PublishedTask(
            "xpos", "UD", None, unit="tokens", metric="token_accuracy"
        ),
    ),
    rows=(
        PublishedRow("a", "A", published.SINGLE, (93.67, 89.91, 97.25, None)),
        PublishedRow("b", "B", published.MULTI, (94.0, None, 97.0, None)),
    ),
    partial=True,
    decimals=2,
)


def tagged(**scores):
    metrics = {"xpos": "token_accuracy", "wsj": "token_accuracy"}
    tasks = {
        name: {
            "primary": metrics.get(name, "span_f1"),
            metrics.get(name, "span_f1"): score,
            "examples": 5,
            "tokens": 50,
        }
        for name, score in scores.items()
    }
    mean = sum(scores.values()) / len(scores)
    return {"split": "test", "tasks": tasks, "mean": {"overall": mean}}


def test_tagging_names_each_metric_and_counts_tokens():
    outcomes = [Outcome("a", 1, tagged(chunk=91.234, ner=88.0))]
    made = build(TAGGING, outcomes, absent={"ud_pos/xpos": "no files"})
    text = markdown(made)
    header = next(x for x in text.split("\n") if x.startswith("| model | Chu"))
    assert [cell.strip() for cell in header.split("|")[2:-1]] == [
        "Chunks, span F1",
        "Entities, span F1",
        "WSJ, token accuracy",
        "UD, token accuracy",
    ]
    cells = ["91.23 (93.67)", "88.00 (89.91)", "- (97.25)", "-"]
    assert lines(made)["A"] == cells
    differences = " ".join(made["differences"])
    assert "50 test tokens of Entities; the paper has 60." in differences
    assert "test tokens of Chunks" not in differences
    assert "not there, or not all of them: ud_pos/xpos." in text


def test_a_row_whose_phase_lacks_tasks_says_so():
    thinned = {"c_b": ["ner", "wsj"], "c": ["chunk"]}
    made = build(TAGGING, [Outcome("b", 1)], thinned=thinned)
    said = [d for d in made["differences"] if "phases" in d]
    assert said == ["B: its phases are without ner, wsj."]
    # No run of it is planned.
    made = build(TAGGING, [Outcome("a", 1)], thinned=thinned)
    said = [d for d in made["differences"] if "phases" in d]
    assert said == [
        "B is not run: without ner, wsj one of its phases has no task."
    ]


def test_means_compare_on_the_same_tasks_only():
    both = build(TAGGING, [Outcome("a", 1, tagged(chunk=91.0, ner=88.0))])
    assert both["rows"][0]["paper"]["mean"] == pytest.approx(91.79)
    # Of B the paper has no score on entities.
    assert both["rows"][1]["paper"]["mean"] is None
    # What stands in for the WSJ is none of the paper's tasks.
    other = build(TAGGING, [Outcome("a", 1, tagged(chunk=91.0, xpos=93.0))])
    assert other["rows"][0]["ours"]["mean"]["mean"] == 92.0
    assert other["rows"][0]["paper"]["mean"] is None


def test_tasks_and_metrics_of_ones_own_are_noted():
    results = tagged(chunk=91.0, mine=70.0)
    chunk = results["tasks"]["chunk"]
    chunk |= {"primary": "token_accuracy", "token_accuracy": 95.0}
    text = " ".join(build(TAGGING, [Outcome("a", 1, results)])["differences"])
    assert "Chunks: ours is token accuracy, the paper's span F1." in text
    assert "include tasks that the table does not have: mine." in text
    assert "Not among the tasks of these runs: Entities, WSJ, UD. Means" in text


THEIRS = PublishedTable(
    name="t/4",
    config="c",
    paper="P 2000, table 4",
    vectors="",
    tasks=(
        PublishedTask("en-fr", "En-Fr", 1755, metric="bleu_lc"),
        PublishedTask("en-nl", "En-Nl", 1755, metric="bleu_lc"),
    ),
    rows=(
        PublishedRow("single", "Single", published.SINGLE, (21.22, 28.75)),
        PublishedRow("multi", "Multi", published.MULTI, (22.47, 29.88)),
    ),
    decimals=2,
    metrics=("bleu_lc", "bleu", "paper_bleu"),
    gain=("multi", "single"),
    corpus="Europarl",
)


def translated(**uncased):
    """Cased BLEU is 2 lower, the paper's kind 5 higher, the clean part 1."""
    tasks = {}
    for pair, score in uncased.items():
        scores = {"bleu": score - 2, "bleu_lc": score, "paper_bleu": score + 5}
        tasks[pair.replace("_", "-")] = {
            "type": "translation",
            "primary": "bleu",
            "examples": 1755,
            **scores,
            "clean": {name: value - 1 for name, value in scores.items()},
        }
    cased = sum(score - 2 for score in uncased.values()) / len(uncased)
    return {"split": "test", "tasks": tasks, "mean": {"overall": cased}}


TRANSLATED = [
    Outcome("single", 1, translated(en_fr=20.0, en_nl=30.0)),
    Outcome("single", 2, translated(en_fr=21.0, en_nl=31.0)),
    Outcome("multi", 1, translated(en_fr=22.0, en_nl=33.0)),
    Outcome("multi", 3, translated(en_fr=30.0, en_nl=40.0)),
]


def test_scores_compare_by_the_papers_metric_and_others_are_shown():
    made = build(THEIRS, TRANSLATED)
    ours = row(made, "single")["ours"]
    assert ours["mean"]["mean"] == pytest.approx(25.5)
    assert ours["clean"]["mean"] == pytest.approx(24.5)
    assert ours["others"]["bleu"]["mean"]["mean"] == pytest.approx(23.5)
    text = markdown(made)
    assert "BLEU, no case from 0 to 100 on the split" in text
    assert "Percentages" not in text and "word vectors;" not in text
    head, *sections = text.split("\n## ")
    [each, cased, papers, *_] = sections
    assert "20.50 ± 0.71 (21.22)" in each
    assert cased.startswith("BLEU: ours\n") and "18.50 ± 0.71 |" in cased
    # A figure of the paper stands beside its own kind only.
    assert "(21.22)" not in cased
    assert "25.50 ± 0.71 (21.22)" in papers
    assert "30.50 ± 0.71 (24.98)" in papers


def test_a_gain_is_of_the_same_seeds():
    made = build(THEIRS, TRANSLATED)
    gain = made["gain"]
    # Only seed 1 has both.
    assert gain["ours"]["mean"] == {"mean": 2.5, "std": None, "runs": 1}
    assert gain["ours"]["tasks"]["en-nl"]["mean"] == 3.0
    assert gain["paper"]["tasks"]["en-nl"] == pytest.approx(1.13)
    text = markdown(made)
    assert "+2.00 (+1.25)" in text
    line = next(x for x in text.split("\n") if x.startswith("| Multi - Single"))
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    assert cells[:4] == ["gain", "+1.19", "+2.50", "-"] and cells[-1] == "1"
    both = [TRANSLATED[0], Outcome("multi", 1, failure="oh")]
    assert build(THEIRS, both)["gain"]["ours"]["mean"]["mean"] is None


def test_figures_of_another_corpus_stand_apart():
    small = PublishedTable(
        name="t/4_small",
        config="c",
        paper="as P 2000, on a small corpus",
        vectors="",
        tasks=(PublishedTask("en-fr", "En-Fr", None, metric="bleu_lc"),),
        rows=(
            PublishedRow("single", "Single", published.SINGLE),
            PublishedRow("multi", "Multi", published.MULTI),
        ),
        decimals=2,
        metrics=("bleu_lc", "bleu"),
        gain=("multi", "single"),
        orientation=THEIRS,
    )
    made = build(small, [Outcome("single", 1, translated(en_fr=50.0))])
    assert row(made, "single")["paper"]["mean"] is None
    text = markdown(made)
    ours, theirs = text.split("the paper's figures, on Europarl")
    assert "21.22" not in ours and "(the paper's)" not in ours
    assert "| 50.00 |" in ours and "| 48.00 |" in ours
    assert "| 21.22 | 28.75 | 24.98 |" in theirs
    assert "| +1.25 | +1.13 | +1.19 |" in theirs
    assert made["orientation"]["gain"]["mean"] == pytest.approx(1.19)


def test_a_sum_is_over_the_tasks_that_are_there():
    table = dataclasses.replace(
        TABLE,
        total="sumScore",
        tasks=(*TABLE.tasks, PublishedTask("extra", "Extra", 10)),
        rows=(
            PublishedRow("lstm", "LSTM", published.SINGLE, (70.0, 80.0, 5.0)),
            PublishedRow("meta", "Meta", published.MULTI, (80.0, 90.0, 6.0)),
        ),
    )
    page = markdown(build(table, [Outcome("lstm", 1, results(72.0, 82.5))]))
    section = page.partition("## sumScore")[2].partition("\n## ")[0]
    assert "Over 2 of 3 tasks, without Extra." in section
    lines = [line for line in section.splitlines() if "TM" in line]
    cells = [cell.strip() for cell in lines[0].split("|")]
    assert cells[1:-1] == ["LSTM", "single task", "155.0", "150.0", "154.5"]
    assert "| Meta | multi-task |" in " ".join(section.split())
    assert "sumScore" not in markdown(build(TABLE, OUTCOMES))


def test_a_mean_by_another_metric_has_its_direction():
    """Of errors less is better, of the correlation that is shown more."""
    task = {"type": "regression", "primary": "mse", "lower_is_better": True}
    task |= {"examples": 9, "mse": 0.5, "pearson": 90.0}
    results = {"split": "test", "tasks": {"books": task}, "mean": {}}
    table = dataclasses.replace(TABLE, metrics=("pearson",))
    report = build(table, [Outcome("lstm", 1, results)])
    assert row(report, "lstm")["ours"]["mean"]["mean"] == 90.0
