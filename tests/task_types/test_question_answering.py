"""Question answering as a task type: files, numbers, runs, exports."""

import io
import json
import operator
import random
import re

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import c_loader_process, saved_model
from export import task_types as served_types
from launch import row_predictions
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import answer_metrics, evaluator
from mtl_tf.evaluation.scoring import TaskPredictions
from mtl_tf.pipelines import question_texts
from mtl_tf.programs import text_input
from mtl_tf.runs import (
    initializing,
    prompt,
    run_data,
    systems,
    task_types,
    training_run,
)
from mtl_tf.runs.run_directory import RunDirectory
from mtl_tf.tasks import registry
from mtl_tf.tasks import task_types as types_of_tasks
from tests.system import questions, random_runs

NAME = "question_answering"
LINE = {"question": "who?", "context": "it was Ann", "answer": "Ann"}


def entry_of(tmp_path, *lines, **fields):
    text = "".join(
        (line if isinstance(line, str) else json.dumps(line)) + "\n"
        for line in lines
    )
    path = random_runs.written(tmp_path, "questions.jsonl", text)
    files = {"train": path, "validation": path, "test": path}
    return {"name": "mine", "type": NAME, "files": files, **fields}


def task_of(tmp_path, *lines, **fields):
    return registry.resolve([entry_of(tmp_path, *lines, **fields)])[0]


# Files


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


def test_answers_may_have_the_form_of_squad(tmp_path):
    asked = {name: LINE[name] for name in ("question", "context")}
    several = {"text": ["Ann", "it", "Ann"], "answer_start": [7, 0, 7]}
    none = {"text": [], "answer_start": []}
    task = task_of(
        tmp_path, {**asked, "answers": several}, {**asked, "answers": none}
    )
    one, two = task.dataset("train").as_numpy_iterator()
    assert one["answer"] == b"Ann" and list(one["answers"]) == [b"Ann", b"it"]
    assert two["answer"] == b"" and list(two["answers"]) == [b""]


def test_keys_have_other_names_and_one_question_is_for_all(tmp_path):
    line = {"text": "a fine book", "class": ["good"]}
    columns = {"context": "text", "answer": "class"}
    task = task_of(tmp_path, line, columns=columns, question="good or bad?")
    (found,) = task.dataset("test").as_numpy_iterator()
    assert found["question"] == b"good or bad?"
    assert found["context"] == b"a fine book" and found["answer"] == b"good"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"question": "q", "context": "c"}, "2: no 'answer'"),
        ({**LINE, "question": 3}, "2: question must be a text, found 3"),
        ({**LINE, "answer": []}, "2: answer must be a text, a list"),
        ({**LINE, "answer": ["a", 1]}, "2: answer must be a text, a list"),
        ({**LINE, "answer": {"txt": ["a"]}}, "2: answer must be a text, a li"),
        ({**LINE, "answers": {"text": [3]}}, "2: answers must be a text, a l"),
        ({**LINE, "scoring": "x"}, "2: scoring must be an object"),
        ({"q": "?", "context": "c", "answer": "a"}, "2: no 'question'"),
        ("[1]", "2: a line must be a JSON object"),
        ("{", "2: not valid JSON"),
    ],
)
def test_wrong_lines(tmp_path, line, message):
    task = task_of(tmp_path, LINE, line)
    with pytest.raises(DataError, match=f"questions.jsonl:{message}"):
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


# Numbers


def build_text(tmp_path, *lines):
    chosen = questions.config([])["text"] | {"min_count": 1}
    task = task_of(tmp_path, *lines)
    return systems.of_type(NAME).build_text([task], chosen), task


def test_words_of_all_texts_are_known_and_others_are_the_examples_own(
    tmp_path,
):
    text, _ = build_text(tmp_path, LINE, LINE)
    size = text.size
    words = [*["who", "it", "was", "ann"], "?▁"]
    assert sorted(text.vocabulary.tokens[4:]) == sorted(words)
    new = {"context": ["Bob saw Bob"], "question": ["was Sue Bob"]}
    encoded = text.task("mine")({k: tf.constant(v) for k, v in new.items()})
    context, question = (
        encoded[name].to_list()[0] for name in ("context", "question")
    )
    assert context == [size, size + 1, size]
    assert question[0] < size and question[1:] == [size + 2, size]


def test_contexts_and_questions_are_cut_or_read_whole(tmp_path):
    texts = {"context": "a b c d e", "question": "a b c d e f"}
    lines = [{**LINE, **texts, "answer": "a b c d e"}, LINE]
    config = questions.config([entry_of(tmp_path, *lines)])
    config["text"] |= {"max_length": 4, "min_count": 1}
    for how, kept, left_out in (
        ("cut", 4, {}),
        ("left_out", 5, {"long_context": 1}),
    ):
        config["tasks"][0]["long_contexts"] = how
        run = RunDirectory(str(tmp_path / how))
        run.claim(config)
        data = run_data.load(config, run, None, None)
        lengths = data.validation[0].columns["context"].lengths
        assert lengths.tolist() == [kept, 3]
        # What stands behind the end alone is no word of the vocabulary.
        known = data.encoder.vocabulary.tokens
        assert "d" in known and "f" not in known
        lengths = data.validation[0].columns["question"].lengths
        assert lengths.tolist() == [kept + (how == "left_out"), 2]
        lengths = data.validation[0].columns["answer"].lengths
        assert lengths.tolist() == [6, 2]  # with the end
        report = run.read("data.json")["tasks"]["mine"]["train"]
        assert report.get("left_out", {}) == left_out
        assert len(data.train[0]) == 2 - len(left_out)


def test_long_answers_are_not_trained_on(tmp_path):
    text, task = build_text(tmp_path, LINE, {**LINE, "answer": "it was"})
    split = run_data.encode_split(task, "train", text)
    limits = {"max_length": 0, "answer_max_length": 1}
    kept, counts = question_texts.for_training(split, limits)
    assert len(kept) == 1 and counts == {"long_answer": 1}
    # With its end.
    assert kept.columns["answer"].lengths.tolist() == [2]
    with pytest.raises(DataError, match="none of its 2 training examples"):
        question_texts.for_training(split, {**limits, "max_length": 1})


def test_what_it_has_no_use_for_is_refused():
    for group, field, value in (
        ("text", "casing", True),
        ("model", "embedding_private_dim", 3),
        ("training", "mixed_precision", "mixed_bfloat16"),
    ):
        config = base.paper_config().to_dict()
        config[group][field] = value
        told = f"no use for {group}.{field}; .*starter:question_answering"
        with pytest.raises(ConfigError, match=told):
            systems.of_type(NAME).check(config)


@pytest.mark.parametrize("name", [NAME, "translation"])
@pytest.mark.parametrize(
    ("part", "field", "value"),
    [("encoder", "preset", "bert"), ("wide", "buckets", 8)],
)
def test_parts_of_other_models_are_refused(name, part, field, value):
    config = base.default_config().to_dict()
    systems.of_type(name).check(config)
    config["model"][part][field] = value
    told = f"no use for model.{part}; .*starter:{name}"
    with pytest.raises(ConfigError, match=told):
        systems.of_type(name).check(config)


# Runs


@pytest.fixture(scope="module")
def untrained(tmp_path_factory):
    """A run of random weights of two tasks, one of whole contexts."""
    folder = tmp_path_factory.mktemp("questions")
    sizes = {"train": 12, "validation": 3, "test": 3}
    tasks = questions.entries(folder, sizes, ("behind", "mentions"))
    tasks[1]["long_contexts"] = "left_out"
    config = questions.config(tasks, units=8, feed_forward=6)
    config["text"]["max_length"] = 40
    directory, _ = random_runs.write_weights(folder / "run", config)
    return mtl_tf.load(directory.path)


EXAMPLES = [
    {"question": "behind w3 w4 w5", "context": "w1 key Zoë w2"},
    {"question": "", "context": ""},
    {
        "question": "what? 🎉" + " w3 no such" * 20,
        "context": "w1\tw2\nno such words " * 30,
    },
]


@pytest.mark.extended
def test_answers_do_not_hang_on_what_else_is_asked(untrained):
    together = untrained.predict("behind", EXAMPLES)
    alone = [untrained.predict("behind", [one])[0] for one in EXAMPLES]
    for example, one, other in zip(EXAMPLES, together, alone):
        assert one["answer"] == other["answer"]
        assert one["confidence"] == pytest.approx(other["confidence"], 1e-3)
        assert 0 <= one["confidence"] <= 1
        assert len(one["words"]) == len(one["sources"]) <= 6
        for word, shares in zip(one["words"], np.array(one["shares"])):
            missing = [word not in example[n] for n in ("context", "question")]
            assert not shares[1:][missing].any()
        np.testing.assert_allclose(np.sum(one["shares"], -1), 1, atol=1e-5)
    same = untrained.predict("behind", [tuple(EXAMPLES[0].values())])
    assert same[0]["answer"] == together[0]["answer"]


@pytest.mark.extended
def test_an_answer_that_was_found_has_the_confidence_of_the_search(untrained):
    # So many that answers with an end are among them.
    run = mtl_tf.load(
        untrained.directory.path, {"beam": 400, "n_best": 400, "max_length": 2}
    )
    for task in ("behind", "mentions"):
        given, confidences, written = [], [], []
        for asked, one in zip(EXAMPLES, run.predict(task, EXAMPLES)):
            for text, chance in zip(one["answers"], one["confidences"]):
                # Of two words, maybe a tab, none is left for the end.
                if chance > 0 and re.fullmatch(r"\S*", text):
                    given.append({**asked, "answer": text})
                    confidences.append(chance)
            written.append(one["words"])
        assert given
        found = run.score(task, given)
        np.testing.assert_allclose(
            [one["confidence"] for one in found], confidences, rtol=1e-3
        )
        for one in found:
            assert len(one["log_likelihoods"]) == len(one["words"])
            assert one["log_likelihood"] == pytest.approx(
                sum(one["log_likelihoods"])
            )
    several = {**EXAMPLES[0], "answer": ["Zoë", "key"]}
    first = [*EXAMPLES[0].values(), "Zoë"]
    one, two = run.score("behind", [several, first])
    assert one["words"] == two["words"] == ["zoë", "</s>"]
    np.testing.assert_allclose(
        one["log_likelihoods"], two["log_likelihoods"], rtol=1e-5
    )
    # What can be neither written nor copied.
    (lost,) = run.score("behind", [[*EXAMPLES[0].values(), "puma"]])
    assert lost["words"] == ["<unk>", "</s>"]
    with pytest.raises(TypeError, match="question, context and answer as"):
        run.score("behind", EXAMPLES)


def test_what_is_no_question_about_a_context(untrained):
    for wrong in ("a text", {"question": "q"}, ["q", 3], ["q", "c", "d"]):
        with pytest.raises(TypeError, match="a question about a context"):
            untrained.predict("behind", [wrong])
    types = task_types.of(NAME)
    fields = types.fields_of_line(untrained.tasks[0], "who?\ta\tb")
    assert fields == {"question": "who?", "context": "a\tb"}


def test_question_and_context_are_asked_for(untrained, capsys):
    source = io.BytesIO(b"who?\nit was Ann\nwho?\tit was Ann\n")
    output = io.BytesIO()
    prompt.interact(untrained, "behind", source, output, "jsonl")
    one, other = map(json.loads, output.getvalue().splitlines())
    assert one == other and one["context"] == "it was Ann"
    assert capsys.readouterr().err.count("context> ") == 1


def test_a_question_needs_no_context(untrained, capsys):
    """As in files and in Python; a line of a prompt was refused."""
    source = io.BytesIO(b"who? w3\n\n \nit was Ann\n")
    output = io.BytesIO()
    prompt.interact(untrained, "behind", source, output)
    example = {"question": "who? w3", "context": ""}
    (found,) = untrained.predict("behind", [example])
    (line,) = output.getvalue().decode().splitlines()
    assert line.startswith(f"behind  {found['answer'] or '(nothing)'}  ")
    told = capsys.readouterr().err
    assert told.count("is empty") == 1 and "the question is empty" in told


@pytest.mark.parametrize("question, warns", [("who?", False), (" ", True)])
def test_only_empty_questions_are_warned_of(
    untrained, tmp_path, caplog, question, warns
):
    path = tmp_path / "asked.jsonl"
    path.write_text(json.dumps({"question": question, "context": ""}))
    with path.open("rb") as stream:
        reader = text_input.TextReader(stream, "asked.jsonl", "jsonl")
        row_predictions.predict(untrained, "behind", reader, io.BytesIO(), 2)
    assert ("Examples with an empty text: 1" in caplog.text) == warns


def test_people_see_where_words_come_from(untrained, capsys):
    source = io.BytesIO(b"who?\tit was\t\tAnn\n")
    output = io.BytesIO()
    prompt.interact(untrained, "behind", source, output)
    assert "empty" not in capsys.readouterr().err
    fields = {"question": "who?", "context": "it was\t\tAnn"}
    (found,) = untrained.predict("behind", [fields])
    words = " ".join(map("{} ({})".format, found["words"], found["sources"]))
    assert found["words"]
    assert output.getvalue().decode() == (
        f"behind  {found['answer']}  {100 * found['confidence']:.1f} %  "
        f"{words}\n"
    )


@pytest.mark.extended
def test_several_answers_are_offered(untrained):
    run = mtl_tf.load(untrained.directory.path, {"beam": 3, "n_best": 2})
    (found,) = run.predict("mentions", EXAMPLES[:1])
    assert found["answers"][0] == found["answer"]
    assert len(found["answers"]) == 2
    assert found["confidences"] == sorted(found["confidences"], reverse=True)
    # Of the ranking alone: it is no part of a probability.
    longer = {"beam": 3, "n_best": 2, "length_penalty": 1.0}
    run = mtl_tf.load(untrained.directory.path, longer)
    (other,) = run.predict("mentions", EXAMPLES[:1])
    chances = dict(zip(found["answers"], found["confidences"]))
    same = [a for a in other["answers"] if a in chances]
    assert same
    for answer, chance in zip(other["answers"], other["confidences"]):
        assert chance == pytest.approx(chances.get(answer, chance), 1e-3)
    with pytest.raises(ConfigError, match="replace_unknown"):
        mtl_tf.load(untrained.directory.path, {"replace_unknown": True})


@pytest.mark.slow
def test_rows_name_their_tasks_where_these_have_models_of_their_own(untrained):
    copies = [saved_model._models(untrained)[0] for _ in range(2)]
    served = served_types.of(NAME)(untrained, copies, [0, 1])
    tasks = ["mentions", "?", "behind"]
    texts = {n: [e[n] for e in EXAMPLES] for n in ("question", "context")}
    inputs = {**texts, "task": tasks}
    found = served.for_all()(**{n: tf.constant(v) for n, v in inputs.items()})
    assert [text.decode() for text in found["answer"].numpy()] == [
        untrained.predict(task, [example])[0]["answer"] if task != "?" else ""
        for task, example in zip(tasks, EXAMPLES)
    ]
    assert found["confidence"][1] == 0


# docs/answer_questions.md, which CI runs, exports and checks, too.
@pytest.mark.slow
@pytest.mark.parametrize("n_best", [1, 2])
def test_an_export_answers_as_predict_does(untrained, n_best, tmp_path):
    decoding = {"beam": n_best, "n_best": n_best} if n_best > 1 else None
    run = mtl_tf.load(untrained.directory.path, decoding)
    version = saved_model.export(run, str(tmp_path))
    texts = {
        name: [one[name] for one in EXAMPLES]
        for name in ("question", "context")
    }
    requests = [
        {"signature": "behind", "inputs": texts},
        {"signature": "mentions", "inputs": texts},
        {"signature": "serving_default", "inputs": texts},
        {"signature": "behind", "inputs": {n: [] for n in texts}},
    ]
    answers = c_loader_process.run_in_c_loader(version, requests)["answers"]
    outputs = [answer["outputs"] for answer in answers]
    # Without a task's name contexts are read as far as by any task.
    tasks = "behind", "mentions", "mentions"
    expected = [run.predict(task, EXAMPLES) for task in tasks]
    for found, wanted in zip(outputs, expected):
        for row, one in enumerate(wanted):
            own = {name: part[row] for name, part in found.items()}
            said = served_types.of(NAME).row(own)
            for name in ("answer", "words", "sources"):
                assert said[name] == one[name]
            np.testing.assert_allclose(
                said["confidence"], one["confidence"], rtol=1e-3
            )
            np.testing.assert_allclose(said["shares"], one["shares"], atol=1e-3)
            assert said.get("answers") == one.get("answers")
    assert outputs[3]["answer"] == []
    # Contexts end where the task's do.
    assert expected[0][2] != expected[1][2]


def test_a_labelled_file_is_scored(untrained, tmp_path):
    (entry,) = questions.entries(tmp_path, {"test": 5}, ("behind",))
    types = task_types.of(NAME)
    task = untrained.tasks[0]
    examples, targets = types.read_file(entry["files"]["test"], task, {})
    assert len(examples) == 5
    scored = types.scored(task, [{"answer": "x"}] * 5, targets)
    assert scored["predictions"] == ["x"] * 5
    assert scored["labels"][0]["answers"][0].startswith("name0x0 ")


def test_a_run_starts_from_the_words_that_both_know(tmp_path, untrained):
    """Figure 4 of McCann et al. (2018): fine-tuning on a new task."""
    line = {"question": "key who?", "context": "w3 new", "answer": "w1"}
    config = questions.config([entry_of(tmp_path, line, line)])
    config["model"]["answering"] |= {"units": 8, "feed_forward": 6}
    directory, _ = random_runs.write_weights(tmp_path / "run", config)
    run = mtl_tf.load(directory.path)
    system = systems.of_type(NAME)
    before = run.model.embedding.vectors.numpy()
    report = initializing.initialize(
        run.model,
        initializing.read_source(untrained.directory.path),
        ["mine"],
        system.words_of(run.encoder),
    )
    theirs, ours = (
        {w: n for n, w in enumerate(one.encoder.vocabulary.tokens)}
        for one in (untrained, run)
    )
    for part in ("embedding.vectors", "pointer.output_layer.kernel"):
        find = operator.attrgetter(part)
        for word in ("key", "w3", "w1"):
            np.testing.assert_array_equal(
                find(run.model)[ours[word]],
                find(untrained.model)[theirs[word]],
            )
    new = run.model.embedding.vectors.numpy()[ours["new"]]
    np.testing.assert_array_equal(new, before[ours["new"]])
    assert "new" not in theirs
    assert not report["not_taken"]


@pytest.mark.slow
def test_three_tasks_are_learnt_each_from_its_own_source(tmp_path):
    seed = random.SystemRandom().randrange(2**31)
    print(f"seed {seed}")
    sizes = {"train": 2000, "validation": 60, "test": 150}
    config = questions.config(questions.entries(tmp_path, sizes))
    config["seed"] = seed
    config["training"] |= {"steps": 1500, "evaluate_every": 500}
    directory = str(tmp_path / "run")
    results = training_run.train(config, directory)
    scores = {n: one["em"] for n, one in results["tasks"].items()}
    print(scores)
    assert min(scores.values()) > 98
    run = mtl_tf.load(directory)
    for task, source in questions.SOURCES.items():
        found = run.predict(task, questions.examples(task, 9, 50))
        sources = [name for one in found for name in one["sources"]]
        assert sources.count(source) / len(sources) > 0.9
