"""The evaluate program on a stand-in run."""

import json
import math

import pytest

import mtl_tf
import mtl_tf.datasets
import mtl_tf.tasks
from launch import evaluate
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.prediction import task_types
from mtl_tf.programs import runner
from tests.launch.stand_in import TAGGING, TASKS, TRANSLATION


@pytest.fixture
def run(run, monkeypatch):
    monkeypatch.delenv("MTL_TF_DATA_DIR", raising=False)
    monkeypatch.delenv("MTL_TF_MANUAL_DIR", raising=False)
    return run


@pytest.fixture
def lines(monkeypatch):
    """Stands in for the datasets room's reader of `label TAB text`."""

    class LineFile:
        def __init__(self, path):
            self.path, self.warnings = path, ["a warning"]

        def labelled(self, labels):
            with open(self.path) as file:
                rows = [line.rstrip("\n").split("\t") for line in file]
            for number, row in enumerate(rows, 1):
                if row[0] not in labels:
                    raise DataError(f"{self.path}:{number}: unknown label")
            return [(text, labels[label]) for label, text in rows]

    monkeypatch.setattr("mtl_tf.datasets.lines.LineFile", LineFile)


def call(*arguments):
    argv = ["evaluate", "--model_dir=x", *arguments]
    evaluate.main(runner.parse(evaluate.PROGRAM, argv))


def test_all_tasks_on_the_test_split(run, capsys):
    call()
    assert run.calls == [("test", None, None, None)]
    out = capsys.readouterr().out
    assert "books" in out
    assert "75.0" in out


def test_flags_reach_the_run(run):
    call(
        "--split=validation",
        "--tasks=films, books",
        "--data_dir=built",
        "--manual_dir=corpora",
    )
    assert run.calls == [("validation", ["films", "books"], "built", "corpora")]
    assert not run.kept
    call("--keep")
    assert run.kept


@pytest.mark.parametrize("flags", [[], ["--weights=last"]])
def test_the_weights_are_the_best_unless_asked_for(run, monkeypatch, flags):
    asked = []
    monkeypatch.setattr(
        mtl_tf, "load", lambda *given: asked.append(given) or run
    )
    call(*flags)
    assert asked == [("x", {}, "last" if flags else "best")]


def test_output_holds_the_results(run, tmp_path, capsys):
    path = tmp_path / "new" / "scores.json"
    call(f"--output={path}")
    assert json.loads(path.read_text())["mean"]["overall"] == 75.0
    assert "75.0" in capsys.readouterr().out


def test_json_to_standard_output(run, capfdbinary):
    call("--output=-")
    results = json.loads(capfdbinary.readouterr().out)
    assert results["split"] == "test"


def test_unknown_task(run):
    with pytest.raises(ConfigError, match="did you mean 'books'"):
        call("--tasks=bokks")


def test_files_are_scored(run, lines, tmp_path, capsys):
    path = tmp_path / "mine.tsv"
    path.write_text("1\tgood\npositive\tbad\n0\tbad\nnegative\tworse\n")
    output = tmp_path / "scores.json"
    call(f"--files=books={path}", f"--output={output}")
    results = json.loads(output.read_text())
    books = results["tasks"]["books"]
    assert results["split"] == "files"
    assert (books["examples"], books["accuracy"]) == (4, 75.0)
    assert books["confusion"]["matrix"] == [[2, 0], [1, 1]]
    assert books["file"] == str(path)
    scores = [
        a["scores"] for a in run.predict("books", ["good", "bad", "worse"])
    ]
    right = [
        scores[0]["positive"],
        scores[1]["positive"],
        scores[1]["negative"],
        scores[2]["negative"],
    ]
    assert books["loss"] == pytest.approx(-sum(map(math.log, right)) / 4)


def test_files_of_several_tasks(run, lines, tmp_path):
    for name in ("books", "films"):
        (tmp_path / name).write_text("1\tgood\n")
    call(f"--files=books={tmp_path}/books", f"--files=films={tmp_path}/films")
    assert [task for task, *_ in run.calls] == ["books", "films"]


def test_tables_of_a_task_without_files_of_its_own(run, tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\ngood,positive\nbad,1\n")
    (tmp_path / "mine.jsonl").write_text(
        '{"text": "good", "label": "positive"}\n'
        '{"text": "bad", "label": "positive"}\n'
    )
    output = tmp_path / "scores.json"
    call(f"--files=books={tmp_path}/mine.jsonl", f"--output={output}")
    books = json.loads(output.read_text())["tasks"]["books"]
    assert (books["examples"], books["accuracy"]) == (2, 50.0)
    with pytest.raises(DataError, match="mine.csv.*unknown label '1'"):
        call(f"--files=books={tmp_path}/mine.csv")


def test_a_wrong_line_in_a_file(run, lines, tmp_path):
    path = tmp_path / "mine.tsv"
    path.write_text("1\tgood\n2\tbad\n")
    with pytest.raises(DataError, match="mine.tsv:2: unknown label"):
        call(f"--files=books={path}")


@pytest.mark.parametrize(
    "extra", ["--split=validation", "--tasks=books", "--keep"]
)
def test_files_exclude_splits_and_tasks(run, extra):
    with pytest.raises(ConfigError, match="no --split, --tasks and --ke"):
        call("--files=books=x", extra)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["books"], "--files must be TASK=PATH, got 'books'"),
        (["books="], "--files must be TASK=PATH, got 'books='"),
        (["boks=x"], "did you mean 'books'"),
        (["books=x", "books=y"], "names the task books twice"),
    ],
)
def test_wrong_files(arguments, message):
    with pytest.raises(ConfigError, match=message):
        evaluate.parse_files(arguments, TASKS)


def test_paths_may_hold_equal_signs():
    assert evaluate.parse_files(["books=a=b"], TASKS) == {"books": "a=b"}


def read(path, task, entry):
    """The values of the examples' only fields, and the targets."""
    examples, targets = task_types.of(task["type"]).read_file(
        str(path), task, entry
    )
    values = [value for example in examples for value in example.values()]
    return values, [
        one.tolist() if hasattr(one, "tolist") else one for one in targets
    ]


def test_a_file_for_a_task_on_own_files_keeps_its_format(tmp_path):
    path = tmp_path / "mine"
    path.write_text("positive\t-\tgr\u00fcn\n", encoding="utf-8")
    entry = {
        "name": "books",
        "files": {"train": "a.tsv", "test": "b.tsv"},
        "columns": {"text": 2, "label": 0},
    }
    assert read(path, TASKS[0], entry) == (["gr\u00fcn"], [1])


@pytest.mark.parametrize(
    ("name", "text"),
    [("new.txt", "x,label,text\nx,positive,fine\n"), ("a.csv", "")],
)
def test_a_file_without_a_known_ending_is_like_the_tasks_own(
    tmp_path, name, text
):
    path = tmp_path / name
    path.write_text(text or "text,label\nfine,positive\n")
    entry = {
        "name": "books",
        "files": {"train": "a.csv" if text else "a.jsonl"},
        "columns": {"text": "text", "label": "label"},
    }
    assert read(path, TASKS[0], entry) == (["fine"], [1])
    entry["files"] = {"train": [entry["files"]["train"], "b.csv"]}
    assert read(path, TASKS[0], entry) == (["fine"], [1])


def test_predictions_of_splits_and_files(run, lines, tmp_path):
    call("--predictions_dir=there")
    assert run.predictions_dir == "there"
    path = tmp_path / "mine.tsv"
    path.write_text("positive\tgood\npositive\tbad\n")
    call(f"--files=books={path}", f"--predictions_dir={tmp_path}")
    rows = (tmp_path / "books.jsonl").read_text().splitlines()
    assert [json.loads(row)["prediction"] for row in rows] == [
        "positive",
        "negative",
    ]


def test_a_file_of_columns_is_scored(run, tmp_path, capsys):
    run.tasks = [TAGGING]
    path = tmp_path / "mine.txt"
    path.write_text("Ann NNP I-X\nsees VBZ O\n\nbonn NNP I-X\n")
    output = tmp_path / "scores.json"
    call(
        f"--files=names={path}",
        f"--predictions_dir={tmp_path}",
        f"--output={output}",
    )
    names = json.loads(output.read_text())["tasks"]["names"]
    assert (names["examples"], names["tokens"]) == (2, 3)
    assert names["types"]["X"]["precision"] == 100.0
    assert names["types"]["X"]["recall"] == 50.0
    # The file is in IOB1, the task in IOB2.
    assert (tmp_path / "names.conll").read_text() == (
        "Ann B-X B-X\nsees O O\n\nbonn B-X O\n\n"
    )
    assert "span F1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Ann I-X\nsees\n", "mine.conll:2: 1 column, but 2 are wanted"),
        ("Ann I-X\nsees B-Y\n", "mine.conll:2: unknown tag 'B-Y'"),
    ],
)
def test_a_wrong_line_of_columns(run, tmp_path, text, message):
    run.tasks = [TAGGING]
    path = tmp_path / "mine.conll"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        call(f"--files=names={path}")


def test_columns_are_those_of_the_task(tmp_path):
    task = {**TAGGING, "name": "xpos", "labels": ["NN", "VB"], "scheme": ""}
    path = tmp_path / "mine"
    path.write_text("a|NN|Ann\n")
    entry = {
        "name": "xpos",
        "type": "tagging",
        "files": {"train": "a.conll"},
        "columns": {"tokens": 2, "tags": 1},
        "separator": "|",
    }
    tagged = ([["Ann"]], [[0]])
    assert read(path, task, entry) == tagged
    # A task of ours that is called like a column of CoNLL-U reads that one.
    path = tmp_path / "mine.conllu"
    path.write_text("1\tAnn\t_\tX\tNN\t_\t0\t_\t_\t_\n")
    assert read(path, task, {}) == tagged


@pytest.mark.parametrize("paper", [None, (["UNK CAT"] * 3, ["UNK cat"] * 3)])
def test_two_files_of_translations_are_scored(
    run, tmp_path, paper, monkeypatch
):
    run.tasks = [{**TRANSLATION, "bleu_tokenizer": "char"}]
    monkeypatch.setattr(
        task_types.of("translation"),
        "variants",
        lambda *texts: {"restricted": paper} if paper else {},
        raising=False,
    )
    sources, references = tmp_path / "mine.en", tmp_path / "mine.de"
    sources.write_text("a cat\n\na cat\na cat\n")
    references.write_text("A CAT\nskipped\nA CAT\nA DOG\n")
    output = tmp_path / "scores.json"
    call(
        f"--files=en-de={sources},{references}",
        f"--predictions_dir={tmp_path}",
        f"--output={output}",
    )
    assert run.calls == [("en-de", ["a cat"] * 3, 64)]
    scores = json.loads(output.read_text())["tasks"]["en-de"]
    assert scores["examples"] == 3
    assert "tok:char" in scores["signatures"]["bleu"]
    assert 50 < scores["bleu"] < 100
    assert scores["file"] == f"{sources},{references}"
    # What the paper's scoring compares agrees, but for its case.
    assert scores.get("paper_bleu") == (paper and pytest.approx(100))
    rows = (tmp_path / "en-de.jsonl").read_text().splitlines()
    assert json.loads(rows[2]) == {
        "text": "a cat",
        "label": "A DOG",
        "prediction": "A CAT",
    }


@pytest.mark.parametrize("path", ["x", "x,", ",x", "x,y,z"])
def test_translations_need_two_files(run, path):
    run.tasks = [TRANSLATION]
    with pytest.raises(ConfigError, match="must be en-de=SOURCE,REFERENCE: "):
        call(f"--files=en-de={path}")


def test_files_that_are_not_aligned(run, tmp_path):
    run.tasks = [TRANSLATION]
    (tmp_path / "a").write_text("a\nb\n")
    (tmp_path / "b").write_text("a\n")
    with pytest.raises(DataError, match="a has 2 lines, but .*b has 1: "):
        call(f"--files=en-de={tmp_path / 'a'},{tmp_path / 'b'}")
