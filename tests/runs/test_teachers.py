"""Runs that learn from teachers, and from texts without labels."""

import json
import os
import shutil
import types

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.layers.heads import distillation
from mtl_tf.pipelines.unlabelled import unlabelled_texts
from mtl_tf.prediction.clean_parts import texts
from mtl_tf.runs import teacher_kinds, teachers
from mtl_tf.runs.data import probability_files, soft_targets
from mtl_tf.runs.directory import seals
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.runs.helpers import train_killed, weights
from tests.runs.teaching import (
    UNLABELLED,
    loaded,
    student,
    train,
    with_unlabelled,
)
from tests.system import corpus


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    return with_unlabelled(tmp_path_factory.mktemp("entries"))


@pytest.fixture(scope="module")
def teacher(tmp_path_factory, entries):
    directory = tmp_path_factory.mktemp("teacher") / "seed_1"
    train(corpus.quick(entries, epochs=1), directory)
    return str(directory)


def test_the_columns_are_what_the_teacher_says(tmp_path, entries, teacher):
    config = student(
        entries, teacher, unlabelled="unlabelled", hard_weight=0.25
    )
    data = loaded(config, tmp_path / "run")
    run = mtl_tf.load(teacher)
    plain, mirror = data.train
    labelled = [text.decode() for text in texts(data.tasks[0], "train")]
    said = run.predict("plain", labelled + UNLABELLED)
    scores = [[one["scores"][name] for name in "01"] for one in said]
    found = plain.columns[distillation.SCORES].values
    np.testing.assert_allclose(found, scores, atol=1e-5)
    share = plain.columns[distillation.SHARE].values
    assert share.tolist() == [0.75] * 60 + [1.0] * 12
    assert set(plain.columns[distillation.TEMPERATURE].values) == {2.0}
    answers = plain.columns["label"].values[60:]
    assert answers.tolist() == np.argmax(scores[60:], 1).tolist()
    assert len(mirror) == 60, "it has no file of texts without labels"
    assert [len(split) for split in data.labelled().train] == [60, 60]
    with open(tmp_path / "run" / "data.json") as file:
        noted = json.load(file)["tasks"]["plain"]["train"]
    assert noted["unlabelled"] == {"read": 12, "kept": 12}


@pytest.mark.slow
def test_teachers_that_are_not_sure_are_not_heard(
    tmp_path, entries, teacher, caplog
):
    caplog.set_level("INFO", logger="absl")
    options = {"unlabelled": "unlabelled", "confidence": 0.9999}
    data = loaded(student(entries, teacher, **options), tmp_path / "run")
    assert len(data.train[0]) == 60
    sure = mtl_tf.load(teacher).predict("plain", UNLABELLED)
    limit = np.median([max(one["scores"].values()) for one in sure])
    options["confidence"] = float(limit)
    data = loaded(student(entries, teacher, **options), tmp_path / "other")
    kept = sum(max(one["scores"].values()) >= limit for one in sure)
    assert len(data.train[0]) == 60 + kept
    assert f"are sure enough of {kept} of 12 texts" in caplog.text


@pytest.mark.slow
def test_a_killed_student_ends_with_the_same_weights(
    tmp_path, entries, teacher
):
    copy = tmp_path / "teacher"
    shutil.copytree(teacher, copy)
    config = student(entries, copy, unlabelled="unlabelled")
    whole = train(config, tmp_path / "whole")
    config["training"] |= {"checkpoint_seconds": 1e-6, "steps_per_call": 2}
    train_killed(config, tmp_path / "a", 5)
    assert not os.path.exists(tmp_path / "a" / "results.json")
    shutil.rmtree(copy)  # what it said is in the run
    results = train(config, tmp_path / "a")
    assert results["tasks"] == whole["tasks"]
    found, expected = weights(tmp_path / "a"), weights(tmp_path / "whole")
    assert set(found) == set(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
    alone = train(corpus.quick(entries, epochs=2), tmp_path / "alone")
    assert alone["tasks"] != whole["tasks"]


def test_texts_without_labels_are_read_once(
    tmp_path, entries, teacher, monkeypatch
):
    calls = []

    def read(task, split, held_back):
        calls.append((task.name, split))
        assert held_back == unlabelled_texts.held_back([task])
        return unlabelled_texts.Unlabelled({"text": np.array([b"a"])}, 0, ())

    monkeypatch.setattr(unlabelled_texts, "read", read)
    config = student(entries[:1], teacher, teacher, unlabelled="unlabelled")
    run = RunDirectory(str(tmp_path))
    run.claim(config)
    teachers.prepare(config, run, (None, None))
    assert calls == [("plain", "unlabelled")]


@pytest.mark.extended
def test_asking_goes_on_after_a_kill(tmp_path, entries, teacher, monkeypatch):
    """With what was answered before, unless a teacher is another one now."""
    copy = str(tmp_path / "teacher")
    shutil.copytree(teacher, copy)
    config = student(entries, copy, unlabelled="unlabelled")
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config)
    asked = []

    class Killed(BaseException):
        pass

    def scores(self, task, examples):
        asked.append(task.name)
        if len(asked) == 2:
            raise Killed
        return original(self, task, examples)

    original = teacher_kinds.RunTeacher.scores
    monkeypatch.setattr(teacher_kinds.RunTeacher, "scores", scores)
    with pytest.raises(Killed):
        teachers.prepare(config, run, (None, None))
    assert asked == ["plain", "mirror"] and not run.has("teachers")
    teachers.prepare(config, run, (None, None))
    assert asked == ["plain", "mirror", "mirror", "plain"]
    assert not run.has("teachers.begun")
    another = RunDirectory(str(tmp_path / "another"))
    another.claim(config)
    asked.clear()
    with pytest.raises(Killed):
        teachers.prepare(config, another, (None, None))
    os.utime(os.path.join(copy, "best", "best.json"))
    asked.clear()
    asked += ["before"] * 2
    teachers.prepare(config, another, (None, None))
    assert asked[2:] == ["plain", "mirror", "plain"]
    third = RunDirectory(str(tmp_path / "third"))
    third.claim(config)
    asked.clear()
    with pytest.raises(Killed):
        teachers.prepare(config, third, (None, None))
    assert third.has("teachers.begun")
    third.claim({**config, "training": {**config["training"], "teachers": []}})
    assert not third.has("teachers.begun")
    folder, unlabelled = soft_targets.folders(run)
    whole = RunDirectory(str(tmp_path / "whole"))
    whole.claim(config)
    teachers.prepare(config, whole, (None, None))
    for mine, other in zip((folder, unlabelled), soft_targets.folders(whole)):
        found = probability_files.read(mine, "plain")
        expected = probability_files.read(other, "plain")
        np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_teacher_that_was_calibrated_is_another_one(tmp_path, teacher):
    copy = tmp_path / "teacher"
    shutil.copytree(teacher, copy)
    before = teacher_kinds.RunTeacher(str(copy)).mark()
    assert teacher_kinds.RunTeacher(str(copy)).mark() == before
    (copy / "fitted.json").write_text("{}")
    assert teacher_kinds.RunTeacher(str(copy)).mark() != before


def test_a_kill_behind_the_last_answer(tmp_path, entries, teacher):
    """Nothing is asked again, and what was answered has its digests."""
    config = student(entries, teacher)
    run = RunDirectory(str(tmp_path))
    run.claim(config)
    os.mkdir(run.file("teachers.begun"))
    os.mkdir(run.file("teachers"))
    (tmp_path / "teachers" / "plain.npz").write_text("x")
    teachers.prepare(config, run, (None, None))
    assert not run.has("teachers.begun")
    assert seals.has(run, "teachers/plain.npz")


def test_answers_of_another_run_are_taken(tmp_path, entries, teacher):
    """About labelled texts and others, as if the teacher were asked."""
    config = student(entries, teacher, unlabelled="unlabelled")
    asked = loaded(config, tmp_path / "asked")
    config["training"]["teachers"] = [str(tmp_path / "asked" / "teachers")]
    taken = loaded(config, tmp_path / "taken")
    for found, expected in zip(taken.train, asked.train):
        assert len(found) == len(expected)
        for name, column in expected.columns.items():
            np.testing.assert_array_equal(
                found.columns[name].values, column.values, name
            )


def test_answers_that_changed_are_noticed(tmp_path, entries, teacher):
    config = student(entries, teacher)
    loaded(config, tmp_path)
    folder, _ = soft_targets.folders(RunDirectory(str(tmp_path)))
    table = probability_files.read(folder, "plain")
    probability_files.write(
        folder, "plain", table._replace(scores=table.scores[:, ::-1])
    )
    with pytest.raises(RunError, match="plain.npz has changed"):
        loaded(config, tmp_path)


@pytest.mark.slow
def test_seeds_ensembles_and_files(tmp_path, entries, teacher):
    """All of one teacher; two weights of it; and its answers in files."""
    folder = os.path.dirname(teacher)
    ensemble = tmp_path / "ensemble.json"
    members = [
        {"directory": teacher, "weight": 0.5},
        {"directory": "gone", "weight": 0.0},
    ]
    ensemble.write_text(json.dumps({"members": members}))
    first = loaded(student(entries, teacher), tmp_path / "first")
    saved = soft_targets.folders(RunDirectory(str(tmp_path / "first")))[0]
    expected = first.train[1].columns[distillation.SCORES].values
    for number, given in enumerate(
        [[folder], [ensemble], [saved], [saved, teacher]]
    ):
        data = loaded(student(entries, *given), tmp_path / str(number))
        found = data.train[1].columns[distillation.SCORES].values
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_wrong_teachers(tmp_path, entries, teacher):
    def check(error, match, config, name="run"):
        with pytest.raises(error, match=match):
            loaded(config, tmp_path / name)

    check(ConfigError, "nowhere does not exist", student(entries, "nowhere"))
    check(RunError, "no finished run", student(entries, tmp_path))
    wrong = tmp_path / "wrong.json"
    wrong.write_text('{"members": 3}')
    check(RunError, "what launch.ensemble --output", student(entries, wrong))
    member = {"directory": teacher, "weight": 1, "state": "of before"}
    wrong.write_text(json.dumps({"members": [member]}))
    match = f"{wrong}: its member {teacher} has been trained or calibrated"
    check(RunError, match, student(entries, wrong))
    member["directory"] = str(tmp_path / "gone")
    wrong.write_text(json.dumps({"members": [member]}))
    match = "training.teachers: .*wrong.json: its member .*gone is not there"
    check(RunError, match, student(entries, wrong))
    other = [{**entries[0], "name": "other"}]
    match = r"of no task of this run \(other\) .* know the probabilities"
    check(ConfigError, match, student(other, teacher))
    other = [{**entries[0], "labels": ["1", "0"], "name": "plain"}]
    data = loaded(student(other, teacher), tmp_path / "swapped")
    same = loaded(student(entries[:1], teacher), tmp_path / "same")
    found, expected = (
        one.train[0].columns[distillation.SCORES].values for one in (data, same)
    )
    np.testing.assert_array_equal(found[:, ::-1], expected)
    options = {"unlabelled": "unlabeled"}
    match = "no task has a split 'unlabeled'"
    check(ConfigError, match, student(entries, teacher, **options))
    match = "texts that nobody has labelled, got 'test'"
    check(ConfigError, match, student(entries, teacher, unlabelled="test"))
    files = {**entries[0]["files"], "unlabelled": entries[0]["files"]["test"]}
    tested = [{**entries[0], "files": files}]
    match = "all 20 texts of the split 'unlabelled' of plain also occur"
    options = {"unlabelled": "unlabelled"}
    check(ConfigError, match, student(tested, teacher, **options), "tested")
    config = student(entries, teacher, **options)
    config["pipeline"]["storage"] = "disk"
    check(ConfigError, "needs examples in memory", config, "disk")
    assert not (tmp_path / "disk" / "teachers").exists()
    baseline = tmp_path / "baseline"
    shutil.copytree(teacher, baseline)
    with open(baseline / "config.json") as file:
        config = json.load(file)
    config["baseline"] = {"name": "linear"}
    (baseline / "config.json").write_text(json.dumps(config))
    check(ConfigError, "keeps no model to ask", student(entries, baseline))


def test_tasks_without_probabilities_have_their_labels_alone(
    tmp_path, entries, teacher
):
    path = tmp_path / "train.tsv"
    path.write_text("score\ttext\n" + "0.5\tthe tree\n" * 20)
    files = dict.fromkeys(("train", "validation", "test"), str(path))
    columns = {"text": "text", "value": "score"}
    own = {"name": "plain", "type": "regression"}
    own |= {"files": files, "columns": columns}
    with pytest.raises(ConfigError, match="of no task of this run"):
        loaded(student([own], teacher), tmp_path / "alone")
    mixed = [{**own, "name": "mirror"}, entries[0]]
    config = student(mixed, teacher)
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config)
    teachers.prepare(config, run, (None, None))
    assert os.listdir(run.file("teachers")) == ["plain.npz"]


def test_tasks_of_words_stand_beside_texts_without_labels(
    tmp_path, entries, teacher
):
    path = tmp_path / "tags.conll"
    path.write_text("the X\ntree Y\n\n" * 20)
    splits = ("train", "validation", "test")
    tags = {"name": "tags", "type": "tagging", "format": "conll"}
    tags |= {"files": dict.fromkeys(splits, str(path)), "columns": {"tags": 1}}
    config = student([entries[0], tags], teacher, unlabelled="unlabelled")
    data = loaded(config, tmp_path / "run")
    assert data.unlabelled == {"plain": 12}


def test_files_that_lack_texts_or_are_damaged(tmp_path, entries, teacher):
    folder = tmp_path / "files"
    keys = probability_files.keys_of({"text": np.array([b"a", b"b"])})
    table = probability_files.Table(keys, np.eye(2), ("0", "1"))
    path = probability_files.write(str(folder), "plain", table)
    with pytest.raises(ConfigError, match="lacks 60 of 60 texts"):
        loaded(student(entries[:1], folder), tmp_path / "run")
    with open(path, "wb") as file:
        file.write(b"PK nothing")
    with pytest.raises(RunError, match=r"plain.npz must hold keys, scores"):
        loaded(student(entries[:1], folder), tmp_path / "run")


def test_probabilities_of_other_labels_are_told_with_their_file(tmp_path):
    table = probability_files.Table(
        np.zeros([1], "V12"), np.ones([1, 2], np.float32), ("bad", "good")
    )
    path = probability_files.write(str(tmp_path), "mails", table)
    asked = types.SimpleNamespace(name="mails", labels=("ham", "spam"))
    (teacher,) = teacher_kinds.teachers_of(str(tmp_path))
    match = f"^training.teachers: {path}: .* bad, good, but .* ham, spam$"
    with pytest.raises(ConfigError, match=match):
        teacher.teacher.scores(asked, None)
