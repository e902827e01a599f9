"""Tasks and groups of tasks by name, and on datasets of TFDS."""

import importlib

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.tasks import registry
from mtl_tf.tasks.registry import group_of, resolve, single_entries
from mtl_tf.tasks.task import Task
from tests.tasks.fakes import own

FDU_MTL = [
    *("books", "electronics", "dvd", "kitchen_housewares", "apparel"),
    *("camera_photo", "health_personal_care", "music", "toys_games", "video"),
    *("baby", "magazines", "software", "sports_outdoors", "imdb", "mr"),
]


def names(tasks):
    return [task.name for task in tasks]


def test_groups_in_the_order_of_the_paper(prepared):
    assert names(resolve(["fdu_mtl"])) == FDU_MTL
    assert names(resolve(("sample_reviews",))) == [
        "books",
        "films",
        "gadgets",
        "kitchen",
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
    from mtl_tf.tasks.splits.groups import GROUPS

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
    from mtl_tf.tasks.splits.groups import GROUPS

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
        "sst1",
        "sst2",
        "subj",
        "mr",
        "imdb",
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


def test_types_are_known_without_data():
    own = {"name": "mine", "files": {"train": "absent.tsv"}}
    tagged = {**own, "name": "tagged", "type": "tagging"}
    assert registry.types_of(["multi30k/en-de", own]) == {
        "translation",
        "classification",
    }
    assert registry.types_of(["conll2000", tagged]) == {"tagging"}
    with pytest.raises(ConfigError, match="unknown task 'bookz'"):
        registry.types_of(["bookz"])
