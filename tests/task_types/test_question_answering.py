"""Question answering as a task type: numbers, runs, exports."""

import io
import json
import operator
import random
import re

import numpy as np
import pytest
import tensorflow as tf

import mtl_tf
from export import c_loader_process, saved_model, served_graph
from export import task_types as served_types
from launch import row_predictions
from mtl_tf.configs import base
from mtl_tf.core import passes
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.evaluation import scored_examples
from mtl_tf.pipelines.examples import question_texts
from mtl_tf.prediction import task_types
from mtl_tf.programs import text_input
from mtl_tf.runs import initializing, systems, training_run
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.runs.loaded import prompt
from tests.system import questions, random_runs
from tests.task_types.question_files import LINE, NAME, entry_of, task_of

# Numbers


def build_text(tmp_path, *lines, min_count=1, **options):
    chosen = questions.config([])["text"]
    chosen |= {"min_count": min_count, **options}
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


def test_words_of_a_context_count_once_for_all_its_questions(tmp_path):
    """So that training has unknown words to copy."""
    other = {**LINE, "context": "it is Bob"}
    text, _ = build_text(tmp_path, LINE, LINE, LINE, other, min_count=2)
    words = [*["who", "it", "ann"], "?▁"]
    assert sorted(text.vocabulary.tokens[4:]) == sorted(words)
    options = {"min_count": 2, "count_contexts_once": False}
    text, _ = build_text(tmp_path, LINE, LINE, LINE, other, **options)
    words += set(LINE["context"].lower().split()) - {"it", "ann"}
    assert sorted(text.vocabulary.tokens[4:]) == sorted(words)


def test_what_it_has_no_use_for_is_refused():
    for group, field, value in (
        ("text", "casing", True),
        ("model", "embedding_private_dim", 3),
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
    asked = {"question": "who? " * 20, "context": 3}
    with pytest.raises(TypeError, match="as strings, got 3 as context$"):
        types.fields_of(untrained.tasks[0], asked)
    fields = types.fields_of_line(untrained.tasks[0], "who?\ta\tb")
    assert fields == {"question": "who?", "context": "a\tb"}
    with pytest.raises(TypeError, match="a tab and the context"):
        types.fields_of_line(untrained.tasks[0], "who?")


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


@pytest.mark.parametrize("least", [1, 2])
def test_an_unknown_word_that_is_never_trained_is_told(tmp_path, caplog, least):
    chosen = questions.config([])["text"] | {"min_count": least}
    systems.of_type(NAME).build_text([task_of(tmp_path, LINE, LINE)], chosen)
    told = caplog.text.count("they do not train the vector of unknown")
    assert told == (least == 1)


@pytest.mark.parametrize("form", [prompt.PEOPLE, "text"])
def test_an_empty_question_asks_for_no_context(untrained, capsys, form):
    source = io.BytesIO(b" \nwho?\nit was Ann\n")
    output = io.BytesIO()
    prompt.interact(untrained, "behind", source, output, form)
    assert output.getvalue().count(b"\n") == 1
    told = capsys.readouterr().err
    assert told.count("context> ") == 1 and "the question is empty" in told


def test_the_end_of_the_input_ends_at_a_context_too(untrained):
    output = io.BytesIO()
    source = io.BytesIO(b"who?\n")
    prompt.interact(untrained, "behind", source, output, "jsonl")
    assert not output.getvalue()


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


def test_progress_of_a_decoding_names_its_task(untrained, monkeypatch, caplog):
    monkeypatch.setattr(passes, "_SECONDS", 0.0)
    with caplog.at_level("INFO", logger="absl"):
        untrained.predict("behind", EXAMPLES[:1])
    assert "behind: decoding, 1 of 1 examples" in caplog.messages


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
    copies = [served_graph._models(untrained)[0] for _ in range(2)]
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


@pytest.mark.extended
def test_a_scored_split_says_which_questions_share_a_context(untrained):
    untrained.evaluate("test", keep=True)
    kept = scored_examples.read(untrained.directory.path, "test")
    for name, task in kept.items():
        assert len(task.units) == len(task.labels), name


def test_a_run_starts_from_the_words_that_both_know(tmp_path, untrained):
    """Figure 4 of McCann et al. (2018): fine-tuning on a new task."""
    line = {"question": "key who?", "context": "w3 new", "answer": "w1"}
    other = {**line, "context": "new w3"}
    config = questions.config([entry_of(tmp_path, line, other)])
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
