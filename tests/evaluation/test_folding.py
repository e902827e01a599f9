import pytest

from mtl_tf.evaluation.tables import folding, tables

ROWS = [
    ["task", "n", "accuracy", "F1", "loss", "clean accuracy"],
    ["a_task_with_a_rather_long_name", "1000", "91.5", "90.1", "0.2", "90.0"],
    ["b", "20", "9.5", "9.1", "0.25", "-"],
]


def test_without_a_width_there_is_one_block():
    (block,) = folding.blocks(ROWS)
    assert block[0].split() == ["task", "n", *ROWS[0][2:5], "clean", "accuracy"]
    assert len(block[1]) == len(block[0])


@pytest.mark.parametrize("columns", [20, 30, 40, 60, 80, 200])
def test_blocks_fit_and_together_have_every_cell_once(columns):
    blocks = folding.blocks(ROWS, columns)
    # A column that is wider than the terminal beside the names stands alone.
    least = max(columns // 3, 8) + 2 + len("clean accuracy")
    for block in blocks:
        assert len(block) == len(ROWS)
        assert all(len(line) <= max(columns, least) for line in block)
    for number, row in enumerate(ROWS):
        text = "  ".join(block[number] for block in blocks)
        for cell in row[1:]:
            assert cell in text
    names = {block[1].split()[0] for block in blocks}
    (name,) = names
    assert name == ROWS[1][0] or name.endswith("…")


def wide_results():
    scores = {
        **{"type": "classification", "primary": "accuracy"},
        **{"examples": 200, "accuracy": 90.5, "macro_f1": 90.4, "loss": 0.29},
        "clean": {"examples": 200, "accuracy": 90.5, "macro_f1": 90.4},
        "validation_in_training": 0,
        "yardsticks": {"majority": 50.0, "linear": 91.0},
    }
    return {
        "split": "test",
        "tasks": {"books": dict(scores), "kitchen_and_garden": dict(scores)},
        "mean": {"overall": 90.5, "clean": {"overall": 90.5}},
        "run": {
            "name": "mine",
            "versions": {f"a_package_{n}": "1.2.3" for n in range(9)},
        },
    }


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_no_line_of_the_results_is_longer_than_the_terminal(columns):
    text = tables.console(wide_results(), columns)
    assert max(map(len, text.splitlines())) <= columns
    assert max(map(len, tables.console(wide_results()).splitlines())) > columns
    for cell in ("clean accuracy", "majority", "linear", "a_package_8 1.2.3"):
        assert cell in " ".join(text.split())
    # Every block has its heading and its names, and a mean if it has any.
    blocks = [line for line in text.splitlines() if line.startswith("task")]
    names = [line for line in text.splitlines() if line.startswith("books")]
    means = [line for line in text.splitlines() if line.startswith("mean")]
    assert len(blocks) == len(names) > 1
    assert means and all("90.5" in line for line in means)


def test_files_do_not_depend_on_the_terminal():
    assert "| kitchen_and_garden |" in tables.markdown(wide_results())


PAGE = """# A table

Some words that are rather many, so that they take more than one line.

| task | accuracy | macro F1 | a \\| b |
| ---- | -------: | -------: | -----: |
| one  |     90.5 |     90.4 |      1 |
| two  |     91.5 |     81.4 |      2 |

* the end
"""


def test_a_page_is_folded_for_a_terminal_only():
    assert folding.page(PAGE, None) == PAGE
    lines = folding.page(PAGE, 24).splitlines()
    assert max(map(len, lines)) <= 24
    assert lines[0] == "# A table" and lines[-1] == "* the end"
    start = lines.index("task  accuracy  macro F1")
    assert lines[start + 1 :][:2] == [
        "one       90.5      90.4",
        "two       91.5      81.4",
    ]
    assert lines[start + 4 :][:2] == ["task  a | b", "one       1"]
    wide = folding.page(PAGE, 200).splitlines()
    assert "one       90.5      90.4      1" in wide
