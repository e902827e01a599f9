"""The analyse program on runs that were made without training."""

import dataclasses
import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import mtl_tf
from launch import analyse
from mtl_tf.analysis import run_analysis
from mtl_tf.core.errors import ConfigError, MissingData, RunError
from mtl_tf.evaluation import scored_examples
from mtl_tf.programs import runner
from mtl_tf.runs.loaded import loading
from tests.analysis.made_runs import Loaded, make_run, predictions

pytest.importorskip("matplotlib")


def run(*arguments):
    values = runner.parse(analyse.PROGRAM, ["analyse", *map(str, arguments)])
    analyse.main(values)


@pytest.fixture(autouse=True)
def loaded(monkeypatch):
    calls = []

    def load(path):
        calls.append(path)
        return Loaded(path)

    monkeypatch.setattr(loading, "load", load)
    return calls


class Page(HTMLParser):
    """The texts and attributes of a page; its elements have to be closed."""

    def __init__(self, path):
        super().__init__()
        self.open, self.texts, self.sources, self.tags = [], [], [], []
        self.content = path.read_text(encoding="utf-8")
        self.feed(self.content)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.sources += [v for k, v in attributes if k in ("src", "href")]
        if tag not in ("meta", "img", "br", "wbr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if data.strip():
            self.texts.append(data.strip())


def rows(page, title):
    """The cells of the first table behind a title."""
    table = page.content.split(f">{title}<", 1)[1]
    table = table.split("<table>", 1)[1].split("</table>", 1)[0]
    cells = (
        re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r) for r in table.split("\n")
    )
    return [[re.sub(r"<[^>]*>", "", c) for c in row] for row in cells]


def test_a_page_of_a_run(tmp_path, capsys):
    path = make_run(tmp_path / "run", best=20, patience=2, epochs=9)
    run(f"--model_dir={path}", "--examples=3")
    output = tmp_path / "run" / "analysis.html"
    assert capsys.readouterr().out == f"{output}\n"
    page = Page(output)
    # Nothing is fetched: pictures are within, links lead to parts.
    assert page.sources and all(
        one.startswith(("data:image/png;base64,", "#")) for one in page.sources
    )
    # The means; then of each task its confusion, how reliable its
    # probabilities are, and its curves.
    assert page.tags.count("img") == 1 + 2 * 3
    quality = dict(rows(page, "Probabilities")[1:])
    said = predictions()
    squares = (np.array(said.scores) - np.eye(2)[said.labels]) ** 2
    assert quality["Brier score"] == f"{squares.sum(1).mean():.3f}"
    assert float(quality["expected calibration error"].rstrip(" %")) > 0
    assert "script" not in page.tags
    assert any(text.startswith("Stopped early after") for text in page.texts)
    assert rows(page, "By class")[1:] == [
        ["&lt;bad&gt;", "100.0", "50.0", "66.7", "20"],
        ["good", "66.7", "100.0", "80.0", "20"],
    ]
    title = "Confusion (rows: labels, columns: predictions)"
    assert rows(page, title) == [
        ["", "&lt;bad&gt;", "good"],
        ["&lt;bad&gt;", "10", "10"],
        ["good", "0", "20"],
    ]


def test_all_parts_of_a_page_are_of_one_state(tmp_path, monkeypatch):
    """What `launch.calibrate` leaves: results.json is as it was."""
    monkeypatch.setattr(loading, "load", lambda path: Loaded(path, ("books",)))
    folder = tmp_path / "run"
    path = make_run(folder, ("books",))
    noted = json.loads((folder / "results.json").read_text())
    noted["tasks"]["books"] |= {"loss": 9.0, "yardsticks": {"majority": 50.0}}
    (folder / "results.json").write_text(json.dumps(noted))
    task = predictions()
    kept = dataclasses.replace(
        task,
        predictions=np.where(np.arange(40) < 3, 1 - task.labels, task.labels),
        settings={"temperature": 2.0},
    )
    scored_examples.write(path, "test", [kept])
    run(f"--model_dir={path}")
    page = Page(folder / "analysis.html")
    scores = dict(rows(page, "classification, 40 examples"))
    assert scores["accuracy"] == "92.5"
    assert scores["accuracy of the yardstick majority"] == "50.0"
    quality = dict(rows(page, "Probabilities"))
    assert f"{float(scores['loss']):.3f}" == quality["log loss"]
    assert "3 of 3, the worst first." in page.texts
    assert [row[-1] for row in rows(page, "Scores on the split test")[1:]] == [
        "92.5",
        "92.5",
        "92.5",
    ]


@pytest.mark.extended
def test_the_most_confident_mistakes_come_first(tmp_path):
    path = make_run(tmp_path / "run")
    output = tmp_path / "page.html"
    run(f"--model_dir={path}", "--examples=2", f"--output={output}")
    page = Page(output)
    assert rows(page, "Mistakes, by confidence") == [
        ["text", "label", "predicted", "confidence"],
        *(
            [f"&lt;script&gt;books test {n}", "&lt;bad&gt;", "good", sure]
            for n, sure in ((36, "0.95"), (32, "0.9"))
        ),
    ]
    assert "2 of 10, the worst first." in page.texts


@pytest.mark.extended
def test_seeds_give_spreads_and_bands(tmp_path):
    one = make_run(tmp_path / "a", seed=1)
    two = make_run(tmp_path / "b", seed=2)
    output = tmp_path / "page.html"
    run(f"--model_dir={one},{two}", f"--output={output}")
    page = Page(output)
    scores = rows(page, "Scores on the split test")
    assert scores[0][2:] == ["seed 1", "seed 2", "mean", "standard deviation"]
    assert scores[1] == ["books", "accuracy", "75.0", "75.0", "75.0", "0.0"]
    assert page.content.count("Trained to its planned end") == 2
    assert any(text.startswith("Lines are means") for text in page.texts)


def test_a_folder_of_seeds(tmp_path):
    for seed in (1, 2):
        make_run(tmp_path / f"seed_{seed}", seed=seed)
    run(f"--model_dir={tmp_path}")
    page = Page(tmp_path / "analysis.html")
    assert "1, 2" in page.texts


@pytest.mark.extended
def test_another_split_is_scored_and_kept(tmp_path, loaded):
    path = make_run(tmp_path / "run")
    run(f"--model_dir={path}", "--split=validation")
    page = Page(tmp_path / "run" / "analysis.html")
    assert "Scores on the split validation" in page.texts
    assert "<script>books validation 36" in page.texts
    assert (tmp_path / "run" / "scored" / "validation").is_dir()
    loaded.clear()
    run(f"--model_dir={path}", "--split=validation")
    assert loaded == [path]  # for the texts alone


@pytest.mark.extended
def test_models_of_single_tasks(tmp_path, monkeypatch):
    folder = tmp_path / "each"
    for name in ("books", "films"):
        make_run(folder / "tasks" / name, (name,))
    make_run(tmp_path / "joint")
    for name in ("config.json", "results.json"):
        text = (tmp_path / "joint" / name).read_text()
        (folder / name).write_text(text)
    monkeypatch.setattr(
        loading, "load", lambda path: Loaded(path, (path.rsplit("/", 1)[1],))
    )
    run(f"--model_dir={folder}")
    page = Page(folder / "analysis.html")
    assert page.tags.count("img") == 2 * 3
    assert "<script>films test 36" in page.texts


@pytest.mark.extended
def test_texts_that_are_not_at_hand(tmp_path, monkeypatch):
    def inputs(*_):
        raise MissingData("no folder fdu_mtl")

    monkeypatch.setattr(Loaded, "inputs", inputs)
    path = make_run(tmp_path / "run")
    run(f"--model_dir={path}")
    page = Page(tmp_path / "run" / "analysis.html")
    assert "No texts are shown: no folder fdu_mtl" in page.texts
    assert "example 36" in page.texts


def test_mistakes_of_the_user(tmp_path, monkeypatch):
    path = make_run(tmp_path / "run")
    output = tmp_path / "page.html"
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "config.json").write_text("{}")
    for folder in ("open", "absent"):
        with pytest.raises(
            RunError, match="no finished run|absent does not exist"
        ):
            run(f"--model_dir={tmp_path / folder}", f"--output={output}")
    with pytest.raises(ConfigError, match=r"page.pdf must end with \.html"):
        run(f"--model_dir={path}", f"--output={tmp_path / 'page.pdf'}")
    with pytest.raises(RunError, match="it is a directory"):
        (tmp_path / "folder.html").mkdir()
        run(f"--model_dir={path}", f"--output={tmp_path / 'folder.html'}")
    with pytest.raises(ConfigError, match="have the same seed, 0"):
        run(f"--model_dir={path},{path}", f"--output={output}")
    other = make_run(tmp_path / "other", seed=1, patience=7)
    with pytest.raises(ConfigError, match="training.patience is 0 .* 7 here"):
        run(f"--model_dir={path},{other}", f"--output={output}")
    monkeypatch.setattr(loading, "load", lambda path: Loaded(path, size=39))
    with pytest.raises(RunError, match="has 39 examples, and 40 were scored"):
        run(f"--model_dir={path}", f"--output={output}")
    with pytest.raises(ConfigError, match="examples"):
        run(f"--model_dir={path}", "--examples=-1")
    damaged = tmp_path / "run" / "results.json"
    results = json.loads(damaged.read_text())
    del results["run"]
    damaged.write_text(json.dumps(results))
    monkeypatch.setattr(loading, "load", Loaded)
    with pytest.raises(RunError, match="results.json is damaged: run is miss"):
        run(f"--model_dir={path}", f"--output={output}")
    # Nothing is half written.
    kept = {"run", "open", "other", "folder.html"}
    assert {one.name for one in tmp_path.iterdir()} == kept
    assert not (tmp_path / "run" / "analysis.html").exists()


def test_a_missing_package_is_told_before_anything_is_scored(
    tmp_path, monkeypatch
):
    path = make_run(tmp_path / "run")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(run_analysis, "analyse", pytest.fail)
    with pytest.raises(ConfigError, match=r"pip install 'mtl_tf\[figures\]'"):
        run(f"--model_dir={path}")


def test_a_run_of_another_kind_of_program(tmp_path):
    make_run(tmp_path / "run")
    (tmp_path / "run" / "config.json").unlink()
    with pytest.raises(RunError, match="it has no config.json"):
        run(f"--model_dir={tmp_path / 'run'}")


@pytest.mark.extended
def test_predictions_of_an_older_run_are_asked_for(tmp_path, loaded):
    path = make_run(tmp_path / "run")
    for file in (tmp_path / "run" / "scored" / "test").iterdir():
        file.unlink()
    run(f"--model_dir={path}")
    assert loaded == [path, path]


def test_wrong_arguments_from_python(tmp_path):
    path, page = make_run(tmp_path / "run"), tmp_path / "page.html"
    with pytest.raises(ConfigError, match="name a run to analyse"):
        mtl_tf.analyse([], page)
    for wrong in (None, [path, None]):
        with pytest.raises(
            TypeError, match="run must be a run or its path, got N"
        ):
            mtl_tf.analyse(wrong, page)
    for count in (-1, 2.5):
        with pytest.raises(ConfigError, match="examples must be zero or a"):
            mtl_tf.analyse(path, page, examples=count)
    assert not page.exists()
