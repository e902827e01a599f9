"""Tables: aligned, complete, and without gaps where something is unknown."""

import pytest

from mtl_tf.evaluation import environment
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.evaluation.tables import tables
from mtl_tf.evaluation.tables.score_format import diagnostic

NAMES = ("negative", "positive")


def results(**changes):
    fields = {
        "labels": [0, 1, 1, 0],
        "predictions": [0, 1, 0, 0],
        "class_names": NAMES,
        "losses": [0.5, 0.5, 1.5, 0.5],
        "clean": [True, False, True, False],
        "validation_in_training": 3,
        **changes,
    }
    names = ("books", "kitchen_housewares")
    return evaluate([TaskPredictions(name=n, **fields) for n in names], "test")


RUN = {
    "name": "quickstart",
    "seed": 1234567,
    "parameters": 1339392,
    "wall_time": 123.4,
    "hardware": "a machine",
    "versions": {"python": "3.11.7", "keras": "3.15.1"},
}


def test_console_columns_are_aligned():
    lines = tables.console(results()).splitlines()
    assert lines[0] == "split: test"
    header, books = lines[1], lines[3]
    assert header.split()[:4] == ["task", "n", "accuracy", "F1"]
    assert books.split()[:3] == ["books", "4", "75.0"]
    for cell, heading in (("75.0", "accuracy"), ("0.7500", "loss")):
        end = header.index(heading) + len(heading)
        assert books[:end].endswith(cell)
    assert max(map(len, lines)) <= 100
    assert all(line == line.rstrip() for line in lines)


def test_console_gives_the_mean_of_all_and_clean():
    lines = tables.console(results()).splitlines()
    (mean,) = [line for line in lines if line.startswith("mean")]
    assert mean.split() == ["mean", "75.0", "50.0"]
    header = lines[1]
    end = header.index("clean accuracy") + len("clean accuracy")
    assert len(mean) == end
    assert mean.endswith("50.0")


def test_console_tells_about_the_run():
    text = tables.console({**results(), "run": RUN})
    for line in (
        "config: quickstart",
        "seed: 1234567",
        "parameters: 1,339,392",
        "wall time: 2 min 03 s",
        "hardware: a machine",
        "versions: python 3.11.7, keras 3.15.1",
    ):
        assert line in text.splitlines()


def test_trainable_parameters_are_told_where_others_are_frozen():
    run = RUN | {"trainable_parameters": 1339392}
    run["parameters_without_embedding"] = 250
    text = tables.console({**results(), "run": run})
    assert "\nparameters: 1,339,392\nparameters without embeddings: 250" in text
    run["trainable_parameters"] = 300
    text = tables.console({**results(), "run": run})
    assert (
        "\nparameters: 1,339,392\ntrainable parameters: 300 (0.0 %)\n"
        "trainable parameters without embeddings: 250\n"
    ) in text


def test_what_a_task_costs_is_told():
    run = RUN | {"own_parameters_per_task": 13394}
    text = tables.console({**results(), "run": run})
    assert "\nown parameters per task: 13,394 (1.0 %)\n" in text


def test_unknown_columns_are_left_out():
    bare = results(losses=None, clean=None, validation_in_training=None)
    text = tables.console(bare)
    assert "clean" not in text
    assert "val. in train" not in text
    assert text.splitlines()[3].split()[-1] == "-"  # no loss


def test_empty_parts_are_dashes():
    text = tables.console(results(clean=[False] * 4))
    books = text.splitlines()[3].split()
    assert books == ["books", "4", "75.0", "73.3", "0.7500", "0", "-", "-", "3"]


TAGS = {"type": "tagging", "metrics": ("token_accuracy",)}


def of_two_kinds():
    tasks = [
        TaskPredictions("books", [1], [1], NAMES, clean=[True]),
        TaskPredictions("films", [1], [0], NAMES, clean=[True]),
        TaskPredictions("tags", [[1]], [[0]], NAMES, **TAGS),
    ]
    return evaluate(tasks, "test")


@pytest.mark.parametrize("columns", [None, 200])
def test_types_with_other_metrics_have_a_table_each(columns):
    lines = tables.console(of_two_kinds(), columns).splitlines()
    headings = [line.split() for line in lines if " n " in line]
    # Each has its own metrics, and no other's.
    assert headings == [
        ["classification", "n", "accuracy", "F1", "loss"]
        + ["clean", "n", "clean", "accuracy", "clean", "F1"],
        ["tagging", "n", "token", "acc.", "loss"],
    ]
    # A mean of its own where it has several tasks; the last one is of all.
    means = [line.split() for line in lines if line.startswith("mean")]
    assert means == [
        ["mean", "50.0", "50.0"],
        ["mean:", "33.3"],
        ["mean,", "clean:", "50.0"],
    ]


def test_pages_have_a_table_for_each_type_with_other_metrics():
    page = tables.markdown(of_two_kinds())
    blocks = [part for part in page.split("\n\n") if part.startswith("|")]
    assert [block.split()[1] for block in blocks[:2]] == [
        "classification",
        "tagging",
    ]
    assert "accuracy" in blocks[0] and "token" not in blocks[0]
    assert "**mean**" in blocks[0] and "mean" not in blocks[1]
    assert "mean: 33.3" in page.split("\n\n")


def test_types_with_the_same_metrics_share_a_table_that_fits():
    pairs = {"type": "pair_classification"}
    tasks = [
        TaskPredictions("books", [1], [1], NAMES),
        TaskPredictions("pairs", [1], [0], NAMES, **pairs),
    ]
    found = evaluate(tasks, "test")
    whole = tables.console(found)
    lines = whole.splitlines()
    assert lines[1].startswith("task ")
    means = [line.split() for line in lines if line.startswith("mean")]
    assert means == [
        ["mean,", "classification", "100.0"],
        ["mean,", "pair_classification", "0.0"],
        ["mean", "50.0"],
    ]
    width = len(lines[2])
    lines = tables.console(found, width).splitlines()
    assert lines[1].startswith("task ")
    # The name of a row is shortened first.
    lines = tables.console(found, 36).splitlines()
    assert max(map(len, lines)) <= 36
    assert lines[1].startswith("classificat… ")


def with_metrics(name, *metrics, **fields):
    fields = {"clean": [True, False], **fields}
    return TaskPredictions(
        name, [1, 0], [1, 1], NAMES, metrics=metrics, **fields
    )


def test_a_mean_of_different_metrics_is_in_no_column():
    tasks = [with_metrics("books", "accuracy"), with_metrics("mail", "f1")]
    found = evaluate(tasks, "test")
    lines = tables.console(found).splitlines()
    assert [line for line in lines if line.startswith("mean")] == [
        "mean: 58.3",
        "mean, clean: 100.0",
    ]
    # No rule for a row of means that is not there.
    assert lines[4].startswith("mail") and lines[5].startswith("mean")
    assert "mean: 58.3" in tables.markdown(found).split("\n\n")
    # Beside another table the type of the tasks is told.
    other = TaskPredictions(
        "tags", [[0]], [[0]], ["O"], "tagging", ["token_accuracy"]
    )
    lines = tables.console(evaluate([*tasks, other], "test")).splitlines()
    assert [line for line in lines if line.startswith("mean")] == [
        "mean, classification: 58.3",
        "mean, classification, clean: 100.0",
        "mean: 72.2",
        "mean, clean: 100.0",
    ]


def test_a_mean_of_errors_is_an_error():
    """In its column, a mean has the sign and the decimals of the scores."""
    tasks = [
        TaskPredictions(
            name,
            labels=[1.0, 2.0],
            predictions=[1.0 + error, 2.0],
            class_names=(),
            type="regression",
            metrics=("mse", "pearson"),
            clean=[True, True],
        )
        for name, error in (("stars", 0.2), ("price", 0.1))
    ]
    found = evaluate(tasks, "test")
    assert found["mean"]["overall"] == pytest.approx(-0.0125)
    lines = tables.console(found).splitlines()
    (mean,) = [line for line in lines if line.startswith("mean")]
    assert mean.split() == ["mean", "0.0125", "0.0125"]
    assert "**0.0125**" in tables.markdown(found)


def test_means_of_types_with_different_metrics_in_one_table():
    pair = {"type": "pair_classification"}
    tasks = [
        with_metrics("books", "accuracy", "f1"),
        with_metrics("mail", "f1", "accuracy"),
        with_metrics("pairs", "accuracy", "f1", **pair),
    ]
    lines = tables.console(evaluate(tasks, "test")).splitlines()
    assert [line for line in lines if line.startswith("mean")] == [
        "mean, classification: 58.3",
        "mean, classification, clean: 100.0",
        "mean, pair_classification: 50.0",
        "mean, pair_classification, clean: 100.0",
        "mean: 55.6",
        "mean, clean: 100.0",
    ]


def test_one_type_stays_one_table():
    lines = tables.console(results(), 60).splitlines()
    assert lines[1].startswith("task ")
    assert not any(line.startswith("mean:") for line in lines)


def test_markdown_is_complete_and_aligned():
    page = tables.markdown({**results(), "run": RUN}, title="My run")
    assert page.startswith("# My run\n")
    assert page.endswith("|\n")
    assert "| **mean**" in page
    assert "**75.0**" in page
    assert "**50.0**" in page
    assert "1,339,392" in page
    assert "| kitchen_housewares | negative | positive |" in page
    blocks = [block for block in page.split("\n\n") if block[0] == "|"]
    assert len(blocks) == 4  # scores, run, two confusions
    for block in blocks:
        assert len({len(line) for line in block.splitlines()}) == 1
        assert len({line.count(" | ") for line in block.splitlines()}) == 1


def test_what_schemes_report_keeps_three_digits():
    values = {"entropy": [0.69, 0.70, 0.69, 0.70], "guessed": [100, 0, 0, 0]}
    lines = tables.console(results(diagnostics=values)).splitlines()
    assert "mean entropy: 0.695" in lines and "mean guessed: 25.0" in lines
    shown = [diagnostic(v) for v in (None, 0.0, -0.01234, 9.996, 123)]
    assert shown == ["-", "0", "-0.0123", "10", "123.0"]


def test_markdown_escapes_bars():
    page = tables.markdown(results(class_names=("a|b", "c")))
    assert "a\\|b" in page


def test_facts():
    versions = environment.versions()
    assert set(versions) >= {"python", "mtl_tf", "numpy"}
    assert all(versions.values())
    assert "cores" in environment.hardware()
    assert "GiB" in environment.hardware()
