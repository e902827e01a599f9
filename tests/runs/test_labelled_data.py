"""Scores of a run of random weights on data beside its splits."""

import json

import pytest
from absl import logging

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.prediction import labelled_data, task_types
from tests.system import tagging

MOODS = [
    {"text": "EU sleeps", "label": "good"},
    {"text": "lamb rejects EU", "label": "bad"},
]
OWN = {"text": "said", "label": "felt"}


@pytest.fixture(scope="module")
def loaded(tagging_run):
    """Loaded once: what it traces serves all tests."""
    return mtl_tf.load(tagging_run)


@pytest.fixture
def run(loaded):
    """Tests may give it another config."""
    config = loaded.config
    yield loaded
    loaded.config = config


@pytest.fixture
def named(run):
    """The run as if its moods had been in columns of other names."""
    entries = [
        entry | {"columns": OWN} if entry["name"] == "mood" else entry
        for entry in run.config["tasks"]
    ]
    run.config = run.config | {"tasks": entries}
    return run


@pytest.mark.parametrize("column", ["label", "felt"])
def test_a_missing_target_under_either_name(named, column):
    row = {"text": "a", column: float("nan")}
    message = rf"^data\['mood'\] row 0: '{column}' must be .* found null"
    with pytest.raises(DataError, match=message):
        named.evaluate(data={"mood": [row]})


@pytest.mark.parametrize(
    ("row", "key"), [({"said": "a"}, "felt"), ({"felt": "good"}, "said")]
)
def test_a_missing_column_is_called_as_in_the_tasks_own_files(named, row, key):
    message = rf"^data\['mood'\] row 0: no key '{key}'"
    with pytest.raises(DataError, match=message):
        named.evaluate(data={"mood": [row]})


def renamed(row):
    return {OWN[name]: value for name, value in row.items()}


@pytest.mark.extended
def test_files_and_examples_have_the_scores_of_the_split(run, tmp_path):
    expected = run.evaluate("test", "mood")["tasks"]["mood"]
    path = tmp_path / "mood.tsv"
    path.write_text("".join(f"{r['label']}\t{r['text']}\n" for r in MOODS))
    as_columns = {name: [row[name] for row in MOODS] for name in OWN}
    for given in (path, str(path), MOODS, iter(MOODS), as_columns):
        results = run.evaluate(data={"mood": given})
        is_file = given in (path, str(path))
        assert results["split"] == ("files" if is_file else "data")
        found = results["tasks"]["mood"]
        assert found.get("file") == (str(path) if is_file else None)
        assert found["examples"] == 2
        assert found["accuracy"] == expected["accuracy"]
        assert found["loss"] == pytest.approx(expected["loss"], rel=1e-5)


@pytest.mark.extended
def test_tags_and_labels_at_once(run, tmp_path):
    tokens, tags = [], []
    for block in tagging.TEST.strip().split("\n\n"):
        rows = [line.split() for line in block.splitlines()]
        tokens.append([row[0] for row in rows])
        tags.append([row[2] for row in rows])
    data = {"chunks": {"tokens": tokens, "tags": tags}, "mood": MOODS}
    results = mtl_tf.evaluate(run, data=data, predictions_dir=str(tmp_path))
    expected = run.evaluate("test", "chunks")["tasks"]["chunks"]
    found = results["tasks"]["chunks"]
    for name in ("span_f1", "token_accuracy", "examples", "tokens"):
        assert found[name] == expected[name]
    assert (tmp_path / "chunks.conll").read_text().startswith("EU B-NP ")
    first = json.loads((tmp_path / "mood.jsonl").read_text().splitlines()[0])
    assert first["text"] == "EU sleeps"


def test_columns_are_called_as_in_the_tasks_own_files(named):
    expected = named.evaluate(data={"mood": MOODS})["tasks"]
    rows = [renamed(row) | {"id": n} for n, row in enumerate(MOODS)]
    assert named.evaluate(data={"mood": rows})["tasks"] == expected
    # A column that was not read in training is not read here.
    others = [row | {"text": "Paris", "label": "bad"} for row in rows]
    assert named.evaluate(data={"mood": others})["tasks"] == expected


def test_how_the_tasks_own_files_are_written_is_not_asked_of_examples(run):
    own = {"format": "csv", "delimiter": ";", "header": True, "columns": OWN}
    own["skip_malformed"] = True
    entries = [
        entry | own if entry["name"] == "mood" else entry
        for entry in run.config["tasks"]
    ]
    run.config = run.config | {"tasks": entries}
    results = run.evaluate(data={"mood": map(renamed, MOODS)})
    assert results["tasks"]["mood"]["examples"] == 2


@pytest.mark.by_default("own0-*")
@pytest.mark.parametrize(
    ("own", "ending", "row"),
    [
        ({"delimiter": ";", "columns": OWN}, "tsv", "{felt}\t{said}\n"),
        ({"delimiter": ";", "columns": OWN}, "csv", "{felt};{said}\n"),
        ({"header": True, "columns": OWN}, "jsonl", ""),
        ({"skip_malformed": True, "columns": OWN}, "jsonl", ""),
        # By number, which objects of JSON do not have.
        ({"columns": {"text": 1, "label": 0}}, "jsonl", ""),
    ],
)
def test_a_file_may_have_another_format(run, tmp_path, own, ending, row):
    expected = run.evaluate(data={"mood": MOODS})["tasks"]["mood"]
    entries = [
        {**entry, **own} if entry["name"] == "mood" else entry
        for entry in run.config["tasks"]
    ]
    run.config = run.config | {"tasks": entries}
    rows = [renamed(row) for row in MOODS]
    if ending == "jsonl":
        rows = rows if own["columns"] == OWN else MOODS
        written = "".join(json.dumps(row) + "\n" for row in rows)
    else:
        header = row.format(said="said", felt="felt")
        written = header + "".join(row.format(**one) for one in rows)
    path = tmp_path / f"a.{ending}"
    path.write_text(written)
    found = run.evaluate(data={"mood": path})["tasks"]["mood"]
    assert found["accuracy"] == expected["accuracy"]
    assert found["examples"] == 2


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl"])
def test_a_separator_of_labels_is_for_files_of_any_format(tmp_path, ending):
    # A field of that name says of tags how columns are written, in one format.
    task = {"name": "t", "type": "multi_label", "labels": ["a", "b", "c"]}
    entry = {"files": {"train": "t.csv"}, "separator": ";"}
    rows = {
        "csv": "text,labels\nx,a;c\ny,b\n",
        "tsv": "text\tlabels\nx\ta;c\ny\tb\n",
        "jsonl": '{"text":"x","labels":"a;c"}\n{"text":"y","labels":"b"}\n',
    }
    path = tmp_path / f"t.{ending}"
    path.write_text(rows[ending])
    read = task_types.of("multi_label").read_file(str(path), task, entry)
    assert read[1].tolist() == [[1, 0, 1], [0, 1, 0]]


class RunOfTopics:
    """A run whose entry separates the labels of a text by semicolons."""

    tasks = (
        {
            "name": "t",
            "type": "multi_label",
            "labels": ["a", "b", "c"],
            "metrics": ["micro_f1"],
        },
    )
    config = {
        "tasks": [{"name": "t", "files": {"train": "t.csv"}, "separator": ";"}]
    }

    def run_of(self, task):
        return self

    def predict(self, task, examples):
        scores = {"a": 1.0, "b": 0.0, "c": 1.0}
        return [{"labels": ["a", "c"], "scores": scores} for _ in examples]


def test_a_separator_of_labels_is_for_given_rows_too():
    rows = {"text": ["x", "y"], "labels": ["a;c", "c;a"]}
    found = labelled_data.evaluate(RunOfTopics(), {"t": rows})["tasks"]["t"]
    assert found["micro_f1"] == 100.0


class RunOfMarks(RunOfTopics):
    """A run whose entry has a column of ones and zeros for each label."""

    config = {
        "tasks": [
            {
                "name": "t",
                "files": {"train": "t.csv"},
                "columns": {"text": "said", "labels": ["x", "y", "z"]},
            }
        ]
    }


@pytest.mark.parametrize(
    "row",
    [
        {"said": "t", "x": 1, "y": 0, "z": 1},
        {"text": "t", "x": True, "y": False, "z": 1.0},
        {"said": "t", "labels": ["c", "a"]},
    ],
)
def test_labels_in_a_column_each_or_in_one(row):
    found = labelled_data.evaluate(RunOfMarks(), {"t": [row, row]})
    assert found["tasks"]["t"]["micro_f1"] == 100.0


def test_a_label_whose_column_is_missing_is_named():
    rows = [{"said": "t", "x": 1, "z": 1}]
    with pytest.raises(DataError, match="no key 'y'"):
        labelled_data.evaluate(RunOfMarks(), {"t": rows})


def test_a_file_with_a_column_for_each_label(tmp_path):
    (task,) = RunOfMarks.tasks
    (entry,) = RunOfMarks.config["tasks"]
    path = tmp_path / "t.tsv"
    path.write_text("z\tsaid\tx\ty\n1\tt\t0\t1\n0\tu\t1\t0\n")
    read = task_types.of("multi_label").read_file(str(path), task, entry)
    assert read[1].tolist() == [[0, 1, 1], [1, 0, 0]]


def test_what_is_odd_names_the_data_and_no_file(run, monkeypatch):
    logged = []
    monkeypatch.setattr(
        logging, "log", lambda level, form, *a: logged.append(form % a)
    )
    run.evaluate(data={"mood": [{"text": " ", "label": "good"}, *MOODS]})
    assert any("data['mood']" in line for line in logged)
    assert not any(".jsonl" in line for line in logged)


def test_predictions_take_these_columns_too(named):
    expected = named.predict("mood", [row["text"] for row in MOODS])
    assert named.predict("mood", map(renamed, MOODS)) == expected
    others = [renamed(row) | {"text": "Paris"} for row in MOODS]
    assert named.predict("mood", others) == expected
    assert named.predict("mood", MOODS) == expected


def test_columns_may_swap_the_names_of_features(run):
    # What a program has renamed must not be renamed back.
    task = {"name": "p", "type": "pair_classification", "labels": ["a", "b"]}
    swapped = {"text": "text_pair", "text_pair": "text"}
    pair = {"text": "x", "text_pair": "y"}
    named = task_types.of(task["type"]).named
    assert named(task, pair, swapped) == pair
    others = {"text": "y", "text_pair": "x"}
    assert named(task, others | {"id": 1}, swapped) == pair | {"id": 1}


def test_what_a_cell_of_a_table_can_hold(run, translation_run):
    chunks = next(task for task in run.tasks if task["name"] == "chunks")
    assert task_types.of("tagging").column_fields(chunks) == ["text"]
    task = {"type": "question_answering", "labels": []}
    fields = task_types.of(task["type"]).column_fields(task)
    assert fields == ["context", "question"]
    (task, *_) = mtl_tf.load(translation_run).tasks
    assert task_types.of("translation").column_fields(task) == ["text"]


def test_a_text_is_no_list_of_tokens(run):
    with pytest.raises(TypeError, match="a text to be split is called text"):
        run.predict("chunks", [{"tokens": "EU rejects lamb"}])


def test_a_text_in_the_column_of_the_tokens_is_none(run):
    task = {"name": "t", "type": "tagging", "labels": ["O", "X"]}
    named = task_types.of("tagging").named
    columns = {"tokens": "text"}
    assert named(task, {"text": ["a"]}, columns) == {"tokens": ["a"]}
    assert named(task, {"text": "a b"}, columns) == {"text": "a b"}


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        ({"moood": MOODS}, ConfigError, "unknown task 'moood'; did you"),
        (MOODS, ConfigError, r"such as \{'chunks': ...\}, got list"),
        ({}, ConfigError, "data must map names of tasks"),
        ({"mood": []}, ConfigError, r"data\['mood'\] has no examples"),
        ({"mood": 5}, ConfigError, r"data\['mood'\] must be a DataFrame"),
        (
            {"mood": [MOODS[0], {"text": "a", "label": "god"}]},
            DataError,
            r"^data\['mood'\] row 1: unknown label 'god'; did you mean 'good'",
        ),
        (
            {"mood": [MOODS[0], {"text": "a"}]},
            DataError,
            r"^data\['mood'\] row 1: no key 'label'",
        ),
        (
            {"mood": [{"text": "a", "label": float("nan")}]},
            DataError,
            r"^data\['mood'\] row 0: 'label' must be .* found null",
        ),
        ({"mood": "nowhere.tsv"}, DataError, "nowhere.tsv does not exist"),
    ],
)
def test_wrong_data(run, data, error, message):
    with pytest.raises(error, match=message):
        run.evaluate(data=data)


@pytest.mark.parametrize(
    "extra", [{"split": "train"}, {"tasks": "mood"}, {"keep": True}]
)
def test_data_stand_in_place_of_splits(run, extra):
    with pytest.raises(ConfigError, match="data takes no split, tasks and"):
        run.evaluate(data={"mood": MOODS}, **extra)


def test_translations(translation_run, tmp_path):
    run = mtl_tf.load(translation_run)
    name = run.tasks[0]["name"]
    sources, references = ["a b c", "b a"], ["A B", "B A"]
    paths = [tmp_path / "source", tmp_path / "target"]
    for path, lines in zip(paths, (sources, references)):
        path.write_text("".join(f"{line}\n" for line in lines))
    expected = run.evaluate(data={name: ",".join(map(str, paths))})
    for source in ("source", "text"):
        rows = [{source: a, "target": b} for a, b in zip(sources, references)]
        found = run.evaluate(data={name: rows})["tasks"][name]
        assert found["bleu"] == expected["tasks"][name]["bleu"]
        assert found["examples"] == 2
    table = tmp_path / "both.tsv"
    table.write_text("target\tsource\nA B\ta b c\nB A\tb a\n")
    found = run.evaluate(data={name: table})["tasks"][name]
    assert found["bleu"] == expected["tasks"][name]["bleu"]
    table = tmp_path / "a,b.jsonl"
    rows = [{"text": a, "target": b} for a, b in zip(sources, references)]
    table.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = run.evaluate(data={name: table})["tasks"][name]
    assert found["bleu"] == expected["tasks"][name]["bleu"]
    # What --predictions_dir has written is read again.
    run.evaluate(data={name: table}, predictions_dir=str(tmp_path))
    again = run.evaluate(data={name: tmp_path / f"{name}.jsonl"})
    assert again["tasks"][name]["bleu"] == expected["tasks"][name]["bleu"]
    table.write_text(json.dumps(rows[0]), encoding="utf-16")
    with pytest.raises(DataError, match="the text is in UTF-16"):
        run.evaluate(data={name: table})
    with pytest.raises(DataError, match="nowhere.csv does not exist"):
        run.evaluate(data={name: "nowhere.csv"})
    with pytest.raises(ConfigError, match="or a table of both"):
        run.evaluate(data={name: str(paths[0])})
    with pytest.raises(
        DataError, match="row 0: no key .target.; known: source"
    ):
        run.evaluate(data={name: [{"source": "a"}]})


@pytest.mark.extended
def test_sources_are_called_as_in_the_files_of_a_translation(translation_run):
    run = mtl_tf.load(translation_run)
    name = run.tasks[0]["name"]
    (expected,) = run.predict(name, ["a b c"])
    for field in ("source", "text"):
        assert run.predict(name, [{field: "a b c"}]) == [expected]
    # Where a text is from is no text.
    both = {"text": "a b c", "source": "the newspaper"}
    assert run.predict(name, [both]) == [expected]
    entry = {"name": name, "files": {"train": "a.csv"}}
    config = {"tasks": [entry | {"columns": {"source": "english"}}]}
    columns = labelled_data.trained_columns(config, run.tasks[0])
    assert columns == {"text": "english"}


def test_a_translation_is_written_as_one_line():
    as_text = task_types.of("translation").forms["text"]
    assert as_text({"translation": "A B\r\nC\n"}) == "A B C\n"


def test_one_list_is_a_file_of_any_task(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"text": "a", "label": "y"}]))
    task = {
        "name": "t",
        "type": "classification",
        "labels": ["x", "y"],
        "metrics": ["accuracy"],
    }
    predictions = task_types.of("classification")
    # Of a task on files and of one on a corpus.
    for entry in ({"files": {"train": "a.csv"}}, {}):
        read = predictions.read_file(str(path), task, entry)
        assert (read[0], list(read[1])) == ([{"text": "a"}], [1])
    task = {"name": "en-de", "type": "translation", "labels": []}
    # As predictions have them, and written over lines.
    rows = [{"text": "a", "label": "b"}]
    path.write_text(json.dumps(rows, indent=2))
    read = task_types.of("translation").read_file(str(path), task, {})
    assert read == ([{"text": "a"}], ["b"])
