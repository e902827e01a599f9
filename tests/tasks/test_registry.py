import gzip
import importlib

import ml_collections
import pytest

from mtl_tf.core.errors import ConfigError, DataError, MtlError
from mtl_tf.tasks.registry import group_of, resolve, single_entries
from mtl_tf.tasks.task import Task

FDU_MTL = [
    *("books", "electronics", "dvd", "kitchen_housewares", "apparel"),
    *("camera_photo", "health_personal_care", "music", "toys_games", "video"),
    *("baby", "magazines", "software", "sports_outdoors", "imdb", "mr"),
]


@pytest.fixture
def files(tmp_path):
    """Paths of tsv files: label, tab, text."""
    rows = "".join(f"{'spam' if i % 4 else 'ham'}\tt{i}\n" for i in range(20))
    for split in ("train", "validation", "test"):
        (tmp_path / f"{split}.tsv").write_text(rows)
    return {
        split: str(tmp_path / f"{split}.tsv")
        for split in ("train", "validation", "test")
    }


def own(files, **fields):
    columns = {"text": 1, "label": 0}
    return {"name": "mails", "files": files, "columns": columns, **fields}


def names(tasks):
    return [task.name for task in tasks]


def test_groups_in_the_order_of_the_paper(prepared):
    assert names(resolve(["fdu_mtl"])) == FDU_MTL
    assert names(resolve(("sample_reviews",))) == [
        *("books", "films", "gadgets", "kitchen")
    ]
    assert prepared == []


def test_tasks_of_a_group_in_any_case(prepared):
    tasks = resolve(["FDU_MTL/MR", "fdu_mtl/Books", "sample_reviews/films"])
    assert names(tasks) == ["mr", "books", "films"]
    assert all(isinstance(task, Task) for task in tasks)
    assert {task.labels for task in tasks} == {("negative", "positive")}
    assert {task.metrics for task in tasks} == {("accuracy", "macro_f1")}


def test_datasets_are_prepared_with_the_folders_and_the_corpus_spelling(
    prepared,
):
    (task,) = resolve("fdu_mtl/mr", data_dir="data", manual_dir="manual")
    with pytest.raises(ConfigError, match="are not those of the dataset"):
        task.dataset("train")  # the fake has other labels
    assert prepared == [("fdu_mtl/MR", "data", "manual")]


def test_groups_are_those_of_the_datasets_room():
    building = importlib.import_module("mtl_tf.datasets.building")
    from mtl_tf.tasks.groups import GROUPS

    for name in ("fdu_mtl", "sample_reviews"):
        datasets = [f"{name}/{config}" for config in building.OWN[name]]
        assert list(GROUPS[name].datasets.values()) == datasets
    of_groups = {d for g in GROUPS.values() for d in g.datasets.values()}
    assert of_groups == {
        f"{name}/{config}".removesuffix("/")
        for name, configs in building.OWN.items()
        for config in configs or ("",)
    }


@pytest.mark.parametrize(
    ("group", "datasets"),
    [
        ("movie_reviews", ["sst/sst1", "sst/sst2", "subj", "imdb"]),
        (
            "movie_reviews_phrases",
            ["sst/sst1_phrases", "sst/sst2_phrases", "subj", "imdb"],
        ),
        (
            "product_reviews",
            [
                "fdu_mtl/books",
                "fdu_mtl/dvd",
                "fdu_mtl/electronics",
                "fdu_mtl/kitchen_housewares",
            ],
        ),
    ],
)
def test_groups_of_the_shared_memory_paper(prepared, group, datasets):
    from mtl_tf.tasks.groups import GROUPS

    tasks = {
        "movie_reviews": ["sst1", "sst2", "subj", "imdb"],
        "product_reviews": ["books", "dvd", "electronics", "kitchen"],
    }[group.removesuffix("_phrases")]
    assert names(resolve([group])) == tasks
    assert list(GROUPS[group].datasets.values()) == datasets
    for task in tasks:
        assert names(resolve([f"{group}/{task}"])) == [task]
        assert names(group_of(f"{group}/{task}").tasks) == tasks
    assert prepared == []


def test_labels_and_splits_of_the_movie_reviews(prepared):
    sst1, sst2, subj, imdb = resolve(["movie_reviews"])
    assert len(sst1.labels) == 5 and sst1.labels[2] == "neutral"
    assert subj.labels == ("objective", "subjective")
    assert sst2.labels == imdb.labels == ("negative", "positive")
    for task in (sst1, sst2):
        assert task.splits["validation"] == "validation"
    for task in (subj, imdb):
        assert task.splits["validation"] != "validation"
        assert task.splits["test"] == "test"
    assert names(resolve(["sst", "subj", "mr", "imdb"])) == [
        *("sst1", "sst2", "subj", "mr", "imdb")
    ]


@pytest.mark.parametrize(
    ("entry", "offered"),
    [
        ("fdu_mlt", "'fdu_mtl'"),
        ("fdu_mtl/book", "'fdu_mtl/books'"),
        ("fdu_mtl/", "'fdu_mtl'"),
        ("electronic", "'fdu_mtl/electronics'"),
        ("books", "'fdu_mtl/books' or 'sample_reviews/books'"),
        ("fdu_mtl/films", "'sample_reviews/films'"),
        ("movie_review", "'movie_reviews'"),
        ("product_reviews/kitchn", "'product_reviews/kitchen'"),
        ("sst3", "'sst' or 'decanlp/sst' or 'movie_reviews/sst2'"),
        ("zzzzzzzzzz", "groups: fdu_mtl, sample_reviews"),
        ("", "groups: fdu_mtl, sample_reviews"),
    ],
)
def test_unknown_names(entry, offered):
    for call in (group_of, lambda entry: resolve([entry])):
        with pytest.raises(ConfigError, match="unknown task") as error:
            call(entry)
        assert offered in str(error.value)


def test_names_must_differ(files):
    with pytest.raises(ConfigError) as error:
        resolve(["fdu_mtl", "sample_reviews"])
    assert "two tasks are named 'books': in fdu_mtl and in sample" in str(
        error.value
    )
    with pytest.raises(ConfigError, match="two tasks are named 'Books'"):
        resolve(["fdu_mtl/books", own(files, name="Books")])


@pytest.mark.parametrize("entries", [[], ()])
def test_no_tasks(entries):
    with pytest.raises(ConfigError, match="no tasks are given"):
        resolve(entries)


def test_neither_name_nor_mapping():
    with pytest.raises(ConfigError, match="a name or a mapping"):
        resolve([3])


def test_own_files(files):
    (task,) = resolve([own(files, loss_weight=2, metrics=["accuracy"])])
    assert task.labels == ("ham", "spam")
    assert (task.loss_weight, task.metrics) == (2, ("accuracy",))
    for split in ("train", "validation", "test"):
        assert task.size(split) == 20
    first = next(task.dataset("test").as_numpy_iterator())
    assert first == {"text": b"t0", "label": 0}


def test_entries_as_config_dicts(files):
    config = ml_collections.ConfigDict({"task": own(files)})
    (task,) = resolve([config.task])
    assert task.size("train") == 20
    assert group_of(config.task).tasks[0].name == "mails"


def test_a_missing_validation_file_is_held_out_of_train(files):
    del files["validation"], files["test"]
    (task,) = resolve([own(files)])
    assert (task.size("train"), task.size("validation")) == (18, 2)
    with pytest.raises(ConfigError, match="mails has no test split"):
        task.dataset("test")
    again = resolve([own(files)])[0]
    held_out = [
        x["text"] for x in task.dataset("validation").as_numpy_iterator()
    ]
    assert held_out == [
        x["text"] for x in again.dataset("validation").as_numpy_iterator()
    ]


def test_a_test_file_alone_needs_labels(files):
    files = {"test": files["test"]}
    with pytest.raises(ConfigError, match="mails: without a training file"):
        resolve([own(files)])
    (task,) = resolve([own(files, labels=["spam", "ham"])])
    assert next(task.dataset("test").as_numpy_iterator())["label"] == 1
    with pytest.raises(ConfigError, match="no validation split"):
        task.dataset("validation")


def test_formats_by_ending_and_by_field(tmp_path):
    packed = gzip.compress(b'text,label\n"a, b",1\nc,0\n')
    (tmp_path / "train.csv.gz").write_bytes(packed)
    (tmp_path / "test.jsonl").write_text('{"label": 0, "text": "d"}\n')
    (tmp_path / "dev.txt").write_text('{"label": 1, "text": "e"}\n')
    own_files = {
        "train": str(tmp_path / "train.csv.gz"),
        "test": str(tmp_path / "test.jsonl"),
    }
    (task,) = resolve([{"name": "m", "files": own_files, "labels": [0, 1]}])
    assert task.labels == ("0", "1")
    assert next(task.dataset("test").as_numpy_iterator())["text"] == b"d"
    entry = {"name": "m", "files": {"test": str(tmp_path / "dev.txt")}}
    with pytest.raises(
        ConfigError, match="cannot tell the format of .*dev.txt"
    ):
        resolve([{**entry, "labels": [0, 1]}])
    (task,) = resolve([{**entry, "labels": [0, 1], "format": "jsonl"}])
    assert task.size("test") == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"name": ""}, "a task's name must start with a letter"),
        ({"name": "a/b"}, "got 'a/b'"),
        ({"name": None}, "got None"),
        ({"type": "parsing"}, "mails: unknown task type 'parsing'"),
        ({"lables": ["a"]}, "mails: unknown field 'lables'; did you mean 'lab"),
        ({"splits": {}}, "mails: unknown field 'splits'"),
        ({"dataset": "x"}, "mails: an entry needs either files or dataset"),
        ({"files": {}}, "files must name a file"),
        ({"files": "a.tsv"}, "files must be a mapping, got 'a.tsv'"),
        (
            {"files": {"train": 3}},
            "files.train must be a path or a list of paths, got 3",
        ),
        ({"format": "tvs"}, "unknown format 'tvs'; did you mean 'tsv'"),
        ({"columns": {"txt": 0}}, "unknown columns.txt; did you mean 'text'"),
        ({"columns": {"text": -1}}, "columns.text must be .* got -1"),
        ({"columns": {"text": True}}, "columns.text must be .* got True"),
        ({"columns": {"text": 1, "label": 1}}, "are both 1"),
        ({"columns": {}, "header": False}, "which takes a header"),
        ({"delimiter": ";"}, "delimiter is for csv, and the files are read as"),
        (
            {"format": "csv", "delimiter": ";;"},
            "delimiter must be one character, such as ';', .* got ';;'",
        ),
        ({"format": "csv", "delimiter": '"'}, "no quote or line end"),
        ({"skip_missing": 1}, "skip_missing must be True or False, got 1"),
        ({"header": "yes"}, "header must be True or False, got 'yes'"),
        ({"format": "jsonl"}, "jsonl has keys"),
        ({"labels": ["ham"]}, "labels must be a list of at least 2"),
        ({"labels": "ham"}, "labels must be a list of at least 2, got 'ham'"),
        ({"labels": ["ham", "ham "]}, "labels names one twice"),
        ({"labels": ["ham", 1.5]}, "labels must hold strings, got 1.5"),
        ({"metrics": []}, "metrics must be a list of at least 1"),
        ({"metrics": ["acuracy"]}, "of classification 'acuracy'; did you mean"),
        ({"metrics": ["span_f1"]}, "unknown metric of classification"),
        ({"loss_weight": -1}, "mails: loss_weight must be positive, got -1"),
        ({"loss_weight": float("nan")}, "loss_weight must be positive"),
    ],
)
def test_wrong_fields(files, fields, message):
    with pytest.raises(ConfigError, match=message):
        resolve([own(**{"files": files, **fields})])


# Of each format two files: what both begin with, and what each has.
LISTS = {
    "csv": ("classification", "text,label\n", 'a,x\n"b\nc",y\n', ",x\n" * 9),
    "tsv": ("regression", "text\tvalue\n", "a\t1\nb\t2.5\n", "c\t-1\n" * 9),
    "jsonl": (
        *("multi_label", ""),
        '{"text": "a", "labels": ["x"]}\n',
        '{"text": "b", "labels": ["y", "x"]}\n' * 9,
    ),
    "csv.gz": (
        *("pair_classification", "text,text_pair,label\n"),
        *("a,b,x\nc,d,y\n", "e,f,y\n" * 9),
    ),
    "conll": (
        *("tagging", "# a comment\n"),
        *("Ann B-PER\nsaw O\n\nit O\n\n", "Bob B-PER\n\n" * 9),
    ),
    "conllu": (
        *("tagging", "# a comment\n"),
        "1\tAnn" + "\tPROPN" * 8 + "\n\n",
        ("1\tsaw" + "\tVERB" * 8 + "\n\n") * 9,
    ),
    "json": (
        *("question_answering", ""),
        '{"question": "q", "context": "a", "answer": ["b", "c"]}\n',
        '{"question": "q", "context": "d", "answer": "e"}\n' * 9,
    ),
    "qa.csv": (
        *("question_answering", "question,context,answer\n"),
        *("q,a,b\nq,c,\n", "q,d,e\n" * 9),
    ),
    "pairs.csv": (
        *("translation", "source,target\n"),
        *("a,b\n,c\n", "d,e\n" * 9),
    ),
}


@pytest.mark.by_default("pairs.csv")
@pytest.mark.parametrize("ending", LISTS)
def test_a_list_of_files_is_read_as_if_they_were_one(tmp_path, ending):
    kind, head, *bodies = LISTS[ending]
    paths = [str(tmp_path / f"{n}.{ending}") for n in range(3)]
    texts = [head + bodies[0], head + bodies[1], head + "".join(bodies)]
    for path, text in zip(paths, texts):
        with (gzip.open if path.endswith("gz") else open)(path, "wt") as file:
            file.write(text)
    entry = {"name": "en-de", "type": kind}
    if ending == "conll":
        entry["comment"] = "#"
    listed, whole = (
        resolve([{**entry, "files": {"train": of_split, "test": paths[1]}}])[0]
        for of_split in (paths[:2], paths[2])
    )
    assert listed.to_json() == whole.to_json()
    for split in ("train", "validation", "test"):
        assert examples(listed, split) == examples(whole, split)
    (back,) = resolve([{**entry, "files": {"train": paths[1::-1]}}])
    assert back.size("train") == whole.size("train")
    assert examples(back, "train") != examples(whole, "train")


def examples(task, split):
    return list(map(str, task.dataset(split).as_numpy_iterator()))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "files.train is an empty list: name a file or several$"),
        (["train.tsv", 3], r"files.train\[1\] must be a path, got 3$"),
        ([["train.tsv"]], r"files.train\[0\] must be a path, got \['train"),
        (["train.tsv", "./train.tsv"], "files.train names a file twice: ./tr"),
        (["train.tsv", "no.tsv"], "files.train: no.tsv does not exist$"),
        (["train.tsv", "b.csv"], "b.csv is read as csv, but train.tsv as tsv"),
        (["train.tsv", "*.tsv"], r"files.train: \*.tsv does not exist$"),
    ],
)
def test_wrong_lists_of_files(files, tmp_path, monkeypatch, given, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b.csv").write_text("a,b\n")
    with pytest.raises(MtlError, match=f"task mails: .*{message}"):
        resolve([own({**files, "train": given})])


def test_files_are_looked_for_at_once(files, tmp_path):
    for path, reason in (("none.tsv", "does not exist"), ("", "is no file")):
        path = str(tmp_path / path)
        with pytest.raises(DataError) as error:
            resolve([own({**files, "test": path})])
        assert str(error.value) == f"task mails: files.test: {path} {reason}"


def test_wrong_rows_name_the_line(files, tmp_path):
    (tmp_path / "train.tsv").write_text("ham\ta\nspam b\n")
    with pytest.raises(MtlError, match=r"train.tsv:2: no tab in the line"):
        resolve([own(files)])


def test_a_dataset_of_tfds(prepared):
    entry = {
        "name": "reviews",
        "dataset": "fake_reviews",
        "splits": {
            "train": "train[:90%]",
            "validation": "train[90%:]",
            "test": "test",
        },
        "columns": {"label": "word"},
    }
    (task,) = resolve([entry], "data", "manual")
    assert task.labels == ("no", "yes")
    assert [task.size(s) for s in ("train", "validation", "test")] == [36, 4, 4]
    assert task.size("test[:50%]") == 2
    assert prepared == [("fake_reviews", "data", "manual")]


def test_a_dataset_without_validation_split(prepared):
    (task,) = resolve([{"name": "reviews", "dataset": "fake_reviews"}])
    assert task.labels == ("good", "bad")
    assert [task.size(s) for s in ("train", "validation", "test")] == [36, 4, 4]
    assert set(task.splits) == {"train", "validation", "test"}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dataset": 3}, "dataset must be the name of one, got 3"),
        (
            {"splits": {"train": "tran"}},
            "no split 'tran'; did you mean 'train'",
        ),
        ({"splits": {"train": 3}}, "splits.train must be a split"),
        ({"columns": {"text": 0}}, "columns.text must be the name of a feat"),
        ({"columns": {"text": "txt"}}, "reviews: dataset x has no feature"),
        ({"header": True}, "unknown field 'header'"),
    ],
)
def test_wrong_fields_of_a_dataset(prepared, fields, message):
    with pytest.raises(ConfigError, match=message):
        resolve([{"name": "reviews", "dataset": "x", **fields}])


def test_group_of_a_task_is_its_whole_group(files):
    for entry in ("fdu_mtl", "fdu_mtl/books"):
        group = group_of(entry)
        assert group.name == "fdu_mtl"
        assert names(group.tasks) == FDU_MTL
    group = group_of(own(files))
    assert (group.name, names(group.tasks)) == ("mails", ["mails"])


def test_single_entries_stand_for_one_task_each():
    own = {"name": "mine", "files": {"train": "a.tsv"}}
    entries = ["fdu_mtl/MR", own, "sample_reviews"]
    singles = single_entries(entries)
    assert singles[:2] == ["fdu_mtl/mr", own]
    names = [task.name for task in resolve(singles[2:])]
    assert names == [t.name for t in resolve(["sample_reviews"])]
    assert [t.name for e in singles[2:] for t in resolve([e])] == names


@pytest.mark.parametrize(
    ("task_type", "content", "message"),
    [
        ("classification", "text,label\na,x\nb, \nc,y\n", "label is empty"),
        ("regression", "text,value\na,1\nb,\nc,3\n", "must be a number"),
        (
            "classification",
            '{"text": "a", "label": 1}\n{"text": "b", "label": null}\n'
            '{"text": "c", "label": 2}\n',
            "found null",
        ),
        (
            "regression",
            '{"text": "a", "value": 1}\n{"text": "b", "value": NaN}\n'
            '{"text": "c", "value": 2}\n',
            "must be finite",
        ),
        (
            "multi_label",
            '{"text": "a", "labels": []}\n{"text": "b", "labels": null}\n'
            '{"text": "c", "labels": ["x", "y"]}\n',
            "found null",
        ),
    ],
)
def test_rows_without_a_target(tmp_path, task_type, content, message):
    path = tmp_path / f"train.{'jsonl' if content[0] == '{' else 'csv'}"
    path.write_text(content)
    entry = {"name": "t", "type": task_type, "files": {"train": str(path)}}
    line = 3 if path.suffix == ".csv" else 2
    with pytest.raises(DataError, match=f":{line}: .*{message}.*; `skip_mis"):
        resolve([entry])[0].source.size("train")
    (task,) = resolve([entry | {"skip_missing": True}])
    texts = task.source.dataset("train").map(lambda example: example["text"])
    assert list(texts.as_numpy_iterator()) == [b"a", b"c"]
    assert task.source.warnings[0].endswith(
        f"1 row without a target, left out by skip_missing (first: line {line})"
    )
