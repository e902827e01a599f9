"""Tables: aligned, complete, and without gaps where something is unknown."""

from mtl_tf.evaluation import environment, tables
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.score_format import diagnostic
from mtl_tf.evaluation.scoring import TaskPredictions

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


def test_several_kinds_have_a_mean_each():
    tasks = [
        TaskPredictions("books", [1], [1], NAMES, clean=[True]),
        TaskPredictions(
            "tags",
            [[1]],
            [[0]],
            NAMES,
            type="tagging",
            metrics=("token_accuracy",),
            clean=[True],
        ),
    ]
    lines = tables.console(evaluate(tasks, "test")).splitlines()
    means = [line.split() for line in lines if line.startswith("mean")]
    assert means == [
        ["mean,", "classification", "100.0", "100.0"],
        ["mean,", "tagging", "0.0", "0.0"],
        ["mean", "50.0", "50.0"],
    ]


def test_a_table_that_does_not_fit_becomes_one_for_each_type():
    tags = {"type": "tagging", "metrics": ("token_accuracy",)}
    tasks = [
        TaskPredictions("books", [1], [1], NAMES, clean=[True]),
        TaskPredictions("tags", [[1]], [[0]], NAMES, **tags),
    ]
    found = evaluate(tasks, "test")
    whole = tables.console(found)
    width = max(map(len, whole.splitlines()))
    assert tables.console(found, width) == whole
    lines = tables.console(found, width - 1).splitlines()
    assert max(map(len, lines)) < width
    headings = [
        line.split()[:3] for line in lines if line.split()[1:2] == ["n"]
    ]
    assert headings == [
        ["classification", "n", "accuracy"],
        ["tagging", "n", "token"],
    ]
    # Each with its own metrics and its own mean; the last one is of all.
    assert "clean" not in lines[lines.index("") + 1]
    means = [line.split() for line in lines if line.startswith("mean")]
    assert means == [
        ["mean", "100.0", "100.0"],
        ["mean", "0.0"],
        ["mean:", "50.0"],
        ["mean,", "clean:", "100.0"],
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
