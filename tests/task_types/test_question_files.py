"""Question answering as a task type: entries, files and metrics."""

import json

import pytest

from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import evaluator
from mtl_tf.evaluation.metrics import answer_metrics
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.prediction import task_types
from mtl_tf.runs import systems, training_run
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.tasks import task_types as types_of_tasks
from tests.system import questions, random_runs
from tests.task_types.question_files import LINE, NAME, entry_of, task_of


def test_examples_of_a_corpus_may_be_written_down_and_read_again(tmp_path):
    line = {
        **LINE,
        "answers": ["Ann B.", "Ann"],
        "scoring": json.dumps({"id": 3}),
    }
    task = task_of(tmp_path, line, {**line, "answer": "she"})
    one, two = task.dataset("train").as_numpy_iterator()
    assert one["answer"] == b"Ann" and two["answer"] == b"she"
    assert one["scoring"] == b'{"id": 3}'
    assert list(one["answers"]) == [b"Ann", b"Ann B."]
    assert list(two["answers"]) == [b"she", b"Ann B.", b"Ann"]


def test_a_line_is_an_example(tmp_path):
    several = {**LINE, "answer": ["Ann", "Ann B."], "scoring": {"id": 3}}
    task = task_of(tmp_path, LINE, several)
    one, two = task.dataset("train").as_numpy_iterator()
    assert [one[n] for n in LINE] == [b"who?", b"it was Ann", b"Ann"]
    assert two["answer"] == b"Ann" and one["scoring"] == b"{}"
    types = task_types.of(NAME)
    assert types.targets(task, "test") == [
        {"answers": ["Ann"], "scoring": "{}"},
        {"answers": ["Ann", "Ann B."], "scoring": '{"id": 3}'},
    ]
    assert types.inputs(task, "test")[0] == {
        "question": "who?",
        "context": "it was Ann",
    }
    assert task.metrics == ("nf1", "em") and task.labels == ()


@pytest.mark.parametrize(
    "several",
    [
        {"text": ["Ann", "it", "Ann"], "answer_start": [7, 0, 7]},
        [{"text": "Ann", "answer_start": 7}, {"text": "it"}],
    ],
)
def test_answers_may_have_the_form_of_squad(tmp_path, several):
    asked = {name: LINE[name] for name in ("question", "context")}
    none = {"text": [], "answer_start": []}
    task = task_of(
        tmp_path, {**asked, "answers": several}, {**asked, "answers": none}
    )
    one, two = task.dataset("train").as_numpy_iterator()
    assert one["answer"] == b"Ann" and list(one["answers"]) == [b"Ann", b"it"]
    assert two["answer"] == b"" and list(two["answers"]) == [b""]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"answers": []}, ""),
        ({"answer": []}, ""),
        ({"answer": None, "answers": ["Sue"]}, "Sue"),
        ({"answer": "Sue", "answers": None, "scoring": None}, "Sue"),
        ({"answer": "Sue", "answers": []}, "Sue"),
        ({"answer": "Sue", "answers": {"text": []}}, "Sue"),
    ],
)
def test_empty_lists_and_null(tmp_path, fields, expected):
    asked = {name: LINE[name] for name in ("question", "context")}
    task = task_of(tmp_path, {**asked, **fields})
    (one,) = task.dataset("train").as_numpy_iterator()
    assert list(one["answers"]) == [one["answer"]] == [expected.encode()]
    assert one["scoring"] == b"{}"
    given = task_types.of(NAME).given_texts
    found = given.fields_of(task.to_json(), {**asked, **fields})
    assert found["answer"] == expected


def _squad(*asked):
    qas = [{"id": str(n), **one} for n, one in enumerate(asked)]
    return {"paragraphs": [{"context": "it was Ann", "qas": qas}]}


TWO = [
    {"question": "who?", "answers": [{"text": "Ann", "answer_start": 7}] * 2},
    {"question": "why?", "answers": [], "is_impossible": True},
]


@pytest.mark.parametrize("data", [[], [{"x": 1}]])
def test_lines_may_have_a_field_called_data(tmp_path, data):
    lines = [{**LINE, "data": data}, {"id": 1, **LINE, "data": data}]
    task = task_of(tmp_path, *lines)
    one, two = task.dataset("train").as_numpy_iterator()
    assert one["answer"] == two["answer"] == b"Ann"


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    "version",
    [
        {},
        {"version": "v2.0"},
        {"version": 1.1, "source": 'a "quoted" {text}, [1]', "by": None},
    ],
)
def test_a_file_may_be_one_of_squad(tmp_path, indent, version):
    data = {"data": [_squad(*TWO), _squad(TWO[0])]}
    task = task_of(tmp_path, json.dumps({**version, **data}, indent=indent))
    one, two, three = task.dataset("train").as_numpy_iterator()
    assert [one[n] for n in LINE] == [b"who?", b"it was Ann", b"Ann"]
    assert list(one["answers"]) == [b"Ann"] and three["question"] == b"who?"
    assert two["answer"] == b"" and list(two["answers"]) == [b""]
    assert task.place("test", 2).endswith("$.data[1].paragraphs[0].qas[0]")
    (note,) = {*task.source.warnings}
    assert note.endswith("1 question without an answer (first: question 2)")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([{"paragraphs": [{"context": "c"}]}], "the key 'qas' is missing"),
        ([_squad({"question": 3, "answers": []})], "it must be a text"),
        ([], "is empty: it has no examples"),
    ],
)
def test_wrong_files_of_squad(tmp_path, data, message):
    task = task_of(tmp_path, json.dumps({"data": data}))
    with pytest.raises(DataError, match=f"questions.jsonl.*{message}"):
        task.size("train")


def test_keys_have_other_names_and_one_question_is_for_all(tmp_path):
    line = {"text": "a fine book", "class": ["good"]}
    columns = {"context": "text", "answer": "class"}
    task = task_of(tmp_path, line, columns=columns, question="good or bad?")
    (found,) = task.dataset("test").as_numpy_iterator()
    assert found["question"] == b"good or bad?"
    assert found["context"] == b"a fine book" and found["answer"] == b"good"


@pytest.mark.parametrize(
    ("group", "field", "value", "told"),
    [
        ("model", "unit", 8, "field of model 'unit'; did you mean 'units'"),
        (
            "model",
            "init",
            {"name": "uniforn"},
            "init.name 'uniforn'; did you mean 'uniform'",
        ),
        ("evaluation", "beams", 2, "'beams'; did you mean 'beam'"),
        ("evaluation", "n_best", 3, "n_best .* got 3"),
    ],
)
def test_wrong_options_are_told_before_anything_is_read(
    group, field, value, told
):
    """A sweep read the texts of every cell first."""
    config = base.paper_config().to_dict()
    config[group]["answering"][field] = value
    with pytest.raises(ConfigError, match=told):
        systems.of_type(NAME).check(config)


@pytest.mark.parametrize("part", ["answer", "question", "context"])
def test_what_examples_lack_is_told(tmp_path, part):
    task = task_of(tmp_path, LINE, {**LINE, part: " "})
    assert task.size("train") == 2
    (note,) = {*task.source.warnings}
    article = "an" if part == "answer" else "a"
    assert note.endswith(f": 1 line without {article} {part} (first: line 2)")


def test_questions_that_are_not_read_are_told(tmp_path):
    asked = "is it?"
    task = task_of(tmp_path, LINE, {**LINE, "question": asked}, question=asked)
    assert task.size("train") == 2
    (note,) = {*task.source.warnings}
    assert "1 line with a question that is not read: `question` of" in note
    assert note.endswith("(first: line 1)")
    line = {**LINE, "asked": asked}
    task = task_of(tmp_path, line, columns={"question": "asked"})
    assert task.size("train") == 1 and not task.source.warnings


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            {"question": "q", "context": "c", "reply": "a"},
            "2: no 'answer'; .*columns.answer in the task's entry gives it",
        ),
        ({**LINE, "question": 3}, "2: question must be a text, found 3"),
        ({**LINE, "answer": None}, "2: answer must be a text, .*found null"),
        ({**LINE, "answer": {}}, "2: answer must be a text, a list"),
        ({**LINE, "answer": ["a", 1]}, "2: answer must be a text, a list"),
        ({**LINE, "answer": {"txt": ["a"]}}, "2: answer must be a text, a li"),
        ({**LINE, "answers": {"text": [3]}}, "2: answers must be a text, a l"),
        ({**LINE, "scoring": "x"}, "2: scoring must be an object"),
        ({"q": "?", "context": "c", "answer": "a"}, "2: no 'question'"),
        ("[1]", "2: a line must be a JSON object"),
        ("{", "2: not valid JSON: .*: column 2 .*; each line must hold"),
    ],
)
def test_wrong_lines(tmp_path, line, message):
    task = task_of(tmp_path, LINE, line)
    with pytest.raises(DataError, match=f"questions.jsonl:{message}"):
        task.size("train")


def test_a_key_that_the_entry_names_is_not_told_to_be_named(tmp_path):
    task = task_of(tmp_path, LINE, columns={"answer": "reply"})
    with pytest.raises(DataError, match="1: no 'reply'; known: .*question$"):
        task.size("train")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"columns": {"contex": "x"}}, "unknown columns.contex"),
        ({"columns": {"context": "answer"}}, "context and columns.answer are"),
        (
            {"question": "q?", "columns": {"question": "q"}},
            "question is the question of all lines",
        ),
        ({"long_contexts": "drop"}, "long_contexts"),
        ({"format": "xml"}, "unknown format 'xml'"),
        ({"delimiter": ";"}, "delimiter is for csv, and the files are read as"),
        ({"columns": {"context": 0}}, "jsonl has keys: columns by name"),
        ({"metrics": ["acuracy"]}, "metric of question_answering"),
        ({"labels": ["a"]}, "unknown field 'labels'"),
    ],
)
def test_wrong_entries(tmp_path, fields, message):
    with pytest.raises(ConfigError, match=message):
        task_of(tmp_path, LINE, **fields)


@pytest.mark.parametrize(
    ("name", "written", "fields"),
    [
        (
            "a.csv",
            'answer;context;question\nAnn;"it was\nAnn";who?\nno;x;why?\n',
            {"delimiter": ";"},
        ),
        (
            "a.tsv",
            "Ann\tit was\\nAnn\nno\tx\n",
            {"columns": {"answer": 0, "context": 1}, "question": "who?"},
        ),
        ("a.txt", f"{json.dumps(LINE)}\n", {}),
        ("a.csv", f"\ufeff{json.dumps(LINE)}\n", {}),
        (
            "a.csv",
            "scoring,context,question\nAnn,it was Ann,who?\n",
            {"columns": {"answer": "scoring"}},
        ),
    ],
)
def test_tables_and_other_endings(tmp_path, name, written, fields):
    path = tmp_path / name
    path.write_text(written)
    entry = {"name": "t", "type": NAME, "files": {"test": str(path)}, **fields}
    (task,) = registry.resolve([entry])
    first, *others = task.dataset("test").as_numpy_iterator()
    assert first["question"] == b"who?" and first["answer"] == b"Ann"
    assert list(first["answers"]) == [b"Ann"] and first["scoring"] == b"{}"
    assert first["context"].startswith(b"it was")
    for other in others:
        assert other["answer"] == b"no" and other["context"] == b"x"


@pytest.mark.parametrize("ending", ["txt", "csv"])
def test_scored_files_are_like_the_tasks_own(tmp_path, ending):
    path = tmp_path / f"more.{ending}"
    path.write_text("question;context;answer\nwho?;it was Ann;Ann\n")
    own = entry_of(tmp_path, LINE)
    entry = {**own, "files": {"train": "a.csv"}, "delimiter": ";"}
    task = registry.resolve([own])[0].to_json()
    examples, targets = task_types.of(NAME).read_file(str(path), task, entry)
    assert examples == [{"question": "who?", "context": "it was Ann"}]
    assert targets[0]["answers"] == ["Ann"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("context,answer\nc,a\n", "a.csv:1: no column 'question' in the head"),
        ("context,question,answer\nc,q\n", "a.csv:2: 2 columns, but the con"),
        ("context,question,answer\n", "a.csv is empty: it has no examples"),
    ],
)
def test_wrong_tables(tmp_path, written, message):
    path = tmp_path / "a.csv"
    path.write_text(written)
    entry = {"name": "t", "type": NAME, "files": {"test": str(path)}}
    with pytest.raises(DataError, match=message):
        registry.resolve([entry])[0].size("test")


def test_several_files_of_a_split_are_named_with_their_own_lines(tmp_path):
    line = json.dumps(LINE) + "\n"
    texts = {"a.jsonl": 2 * line, "b.jsonl": json.dumps(LINE | {"answer": ""})}
    paths = [random_runs.written(tmp_path, *text) for text in texts.items()]
    entry = {"name": "t", "type": NAME, "files": {"test": paths}}
    (task,) = registry.resolve([entry])
    assert task.size("test") == 3
    places = [task.source.place("test", n) for n in range(3)]
    assert places == [f"{paths[0]}:1", f"{paths[0]}:2", f"{paths[1]}:1"]
    (warning,) = task.source.warnings
    assert warning == f"{paths[1]}: 1 line without an answer (first: line 1)"
    random_runs.written(tmp_path, "b.jsonl", f"{line}{{}}\n")
    with pytest.raises(DataError, match="b.jsonl:2: no 'context'"):
        registry.resolve([entry])[0].size("test")
    table = random_runs.written(tmp_path, "c.csv", "question,context\nq,c\n")
    with pytest.raises(ConfigError, match="c.csv is read as csv, but .* jsonl"):
        registry.resolve([entry | {"files": {"test": [paths[0], table]}}])


def test_halves_of_pairs_and_empty_answers_are_read_and_told(tmp_path):
    task = task_of(
        tmp_path, '{"question": "q", "context": "\\ud83d", "answer": ""}', LINE
    )
    first, _ = task.dataset("train").as_numpy_iterator()
    assert first["context"] == b"?" and first["answer"] == b""
    assert any("1 line without an answer" in w for w in task.source.warnings)


def turn_line(number):
    return {**LINE, "scoring": {"dialogue": "d", "turn": number}}


@pytest.mark.parametrize(
    ("metric", "wrong", "message"),
    [
        ("dsem", LINE, "dsem cannot score it: scoring must have dialogue"),
        ("dsem", turn_line(0), "scoring says turn 0 of dialogue 'd'"),
        (
            "turn_em",
            {**LINE, "scoring": {"dialogue": [1], "turn": 2}},
            "scoring must have dialogue, a text or a number",
        ),
        ("lfem", turn_line(2), "must have header, .*found no header"),
        ("execution", turn_line(2), "must have rows"),
    ],
)
def test_what_a_metric_lacks_is_told_before_training(
    tmp_path, metric, wrong, message
):
    entry = entry_of(tmp_path, turn_line(0), wrong, metrics=[metric])
    config = questions.config([entry])
    directory = str(tmp_path / "run")
    line = 1 if metric in ("lfem", "execution") else 2
    place = f"questions.jsonl:{line}"
    with pytest.raises(DataError, match=f"task mine: .*{place}: .*{message}"):
        training_run.train(config, directory)
    assert not RunDirectory(directory).has("config.json")
    # Files that are scored later name no metrics: the run's hold.
    described = registry.resolve([entry])[0].to_json()
    path = entry["files"]["test"]
    with pytest.raises(DataError, match=f"task mine: .*{place}: .*{message}"):
        task_types.of(NAME).read_file(path, described, {})


@pytest.mark.parametrize("rows", [[["Bea", 2], ["Ada", "3"]], None])
def test_wikisql_is_executed_where_its_tables_have_rows(tmp_path, rows):
    table = {"id": "1", "header": ["Goat", "Milk"], "types": ["text", "real"]}
    if rows is not None:
        table["rows"] = rows
    right = {"sel": 1, "agg": 0, "conds": [[0, 0, "Ada"]]}
    line = {"table_id": "1", "question": "How much?", "sql": right}
    for name in ("train", "dev", "test"):
        for end, value in ((".tables", table), ("", line)):
            file = f"{name}{end}.jsonl"
            random_runs.written(tmp_path, file, json.dumps(value) + "\n")
    where = (str(tmp_path / "built"), str(tmp_path))
    (task,) = registry.resolve(["decanlp/wikisql"], *where)
    labels = task_types.of(NAME).targets(task, "test")
    said = ["SELECT Milk FROM table WHERE Milk > 2"]
    scored = TaskPredictions(task.name, labels, said, (), NAME, task.metrics)
    scores = evaluator.evaluate([scored], "test")["tasks"]["wikisql"]
    assert scores["primary"] == "lfem" and scores["lfem"] == 0
    assert scores["execution"] == (100 if rows else None)


def test_held_out_examples_are_named_by_their_lines(tmp_path):
    entry = entry_of(tmp_path, turn_line(0), LINE, LINE, metrics=["em", "dsem"])
    entry["files"] = {"train": entry["files"]["train"]}
    (task,) = registry.resolve([entry])
    places = [task.place("train", n) for n in range(2)]
    places.append(task.place("validation", 0))
    ends = sorted(place.rpartition("questions.jsonl:")[2] for place in places)
    assert ends == ["1", "2", "3"]


def test_the_metrics_are_those_that_are_computed():
    declared = types_of_tasks.of(NAME).metrics
    assert set(declared) == set(answer_metrics.METRICS)
