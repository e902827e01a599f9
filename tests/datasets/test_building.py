import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.datasets import build_lock, building
from mtl_tf.datasets.corpus_build import CorpusBuild
from mtl_tf.datasets.fdu_mtl.fdu_mtl_dataset_builder import Builder
from tests.datasets import catalogue  # noqa: F401  (registers datasets)
from tests.datasets.corpora import line, make_fdu_mtl, rows
from tests.launch import helpers


@pytest.fixture
def manual(tmp_path):
    return make_fdu_mtl(tmp_path / "manual")


@pytest.fixture
def data(tmp_path):
    return str(tmp_path / "data")


@pytest.fixture
def built(data, manual):
    building.prepare("fdu_mtl/books", data, manual)
    return os.path.join(data, "fdu_mtl", "books", "1.0.0")


def forbid_building(monkeypatch):
    def fail(*_):
        raise AssertionError("it was built again")

    monkeypatch.setattr(Builder, "_split_generators", fail)


def change_test_file(manual: str) -> None:
    with open(os.path.join(manual, "books.task.test"), "ab") as file:
        file.write(line(1, "one more"))


def test_a_true_build_is_reused(built, data, manual, monkeypatch):
    forbid_building(monkeypatch)
    builder = building.prepare("fdu_mtl/books", data, manual)
    assert builder.info.splits["test"].num_examples == 6


def test_a_build_is_reused_without_its_files(built, data, monkeypatch):
    forbid_building(monkeypatch)
    assert rows(building.prepare("fdu_mtl/books", data), "test")


def test_changed_files_are_built_again(built, data, manual):
    change_test_file(manual)
    builder = building.prepare("fdu_mtl/books", data, manual)
    assert rows(builder, "test")[-1] == ("one more", 1)
    assert os.listdir(os.path.dirname(built)) == ["1.0.0"]


def test_content_counts_and_not_size_or_place(built, data, manual, tmp_path):
    other = shutil.copytree(manual, tmp_path / "other")
    content = (other / "books.task.test").read_bytes()
    (other / "books.task.test").write_bytes(b"1" + content[1:])
    builder = building.prepare("fdu_mtl/books", data, str(other))
    assert rows(builder, "test")[0] == ("books test 0", 1)


def test_the_same_files_elsewhere_are_no_change(
    built, data, manual, tmp_path, monkeypatch
):
    forbid_building(monkeypatch)
    shutil.copytree(manual, tmp_path / "corpora" / "fdu_mtl")
    building.prepare("fdu_mtl/books", data, str(tmp_path / "corpora"))


def test_wrong_new_files_keep_no_outdated_build(built, data, manual):
    with open(os.path.join(manual, "books.task.test"), "wb") as file:
        file.write(b"no tab\n")
    for _ in range(2):
        with pytest.raises(DataError, match="books.task.test:1: no tab"):
            building.prepare("fdu_mtl/books", data, manual)


@pytest.mark.parametrize("lost", ["dataset_info.json", "tfrecord", "metadata"])
def test_a_damaged_build_is_built_again(built, data, manual, lost):
    for name in os.listdir(built):
        if lost in name:
            os.unlink(os.path.join(built, name))
    assert rows(building.prepare("fdu_mtl/books", data, manual), "test")


def test_an_unreadable_record_is_built_again(built, data, manual):
    with open(os.path.join(built, "metadata.json"), "w") as file:
        file.write('{"sour')
    assert rows(building.prepare("fdu_mtl/books", data, manual), "test")


def test_leftovers_of_killed_processes_go(built, data, manual):
    parent = os.path.dirname(built)
    left = ("incomplete.ABC123_1.0.0", "outdated.77_1.0.0", "parts.0123")
    for name in left:
        os.makedirs(os.path.join(parent, name))
    change_test_file(manual)
    building.prepare("fdu_mtl/books", data, manual)
    assert os.listdir(parent) == ["1.0.0"]


KILLED = """
import os, signal, sys
from mtl_tf.datasets import building
from mtl_tf.datasets.fdu_mtl.fdu_mtl_dataset_builder import Builder

all_examples = Builder._generate_examples

def examples(self, rows):
    yield from all_examples(self, rows[:2])
    os.kill(os.getpid(), signal.SIGKILL)

Builder._generate_examples = examples
building.prepare("fdu_mtl/books", *sys.argv[1:])
"""


@pytest.mark.extended
def test_killed_in_the_middle(built, data, manual):
    change_test_file(manual)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, data, manual],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
    )
    assert killed.returncode == -signal.SIGKILL
    assert not os.path.exists(built)
    builder = building.prepare("fdu_mtl/books", data, manual)
    assert rows(builder, "test")[-1] == ("one more", 1)
    assert os.listdir(os.path.dirname(built)) == ["1.0.0"]


def test_waits_for_another_builder_and_takes_its_build(
    data, manual, monkeypatch
):
    locks = os.path.join(data, ".locks")
    holding = threading.Event()

    def other_process():
        with files.locked(locks, "fdu_mtl.books.lock"):
            holding.set()
            time.sleep(1)
            build = CorpusBuild("fdu_mtl", "books", data, manual)
            build._make(build._fingerprint())
            forbid_building(monkeypatch)

    other = threading.Thread(target=other_process)
    other.start()
    holding.wait()
    builder = building.prepare("fdu_mtl/books", data, manual)
    other.join()
    assert builder.info.splits["test"].num_examples == 6


def test_does_not_wait_where_nothing_can_be_locked(data, manual, monkeypatch):
    def refuse(*arguments):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(files.fcntl, "flock", refuse)
    monkeypatch.setattr(
        build_lock.time, "sleep", lambda s: pytest.fail("waits")
    )
    with pytest.raises(RunError, match=r"cannot lock .*fdu_mtl\.books\.lock"):
        building.prepare("fdu_mtl/books", data, manual)


def test_nothing_on_standard_output(data, manual, capfd):
    building.prepare("fdu_mtl/books", data, manual)
    building.prepare("plain_catalogue", data)
    assert capfd.readouterr().out == ""


def test_corpus_of_the_environment(data, manual, monkeypatch):
    monkeypatch.setenv("MTL_TF_DATA_DIR", data)
    monkeypatch.setenv("MTL_TF_MANUAL_DIR", manual)
    builder = building.prepare("fdu_mtl/books")
    assert str(builder.data_dir).startswith(data)


def test_data_directory(monkeypatch):
    monkeypatch.setenv("HOME", "/home/user")
    assert building.data_directory() == "/home/user/tensorflow_datasets"
    monkeypatch.setenv("TFDS_DATA_DIR", "/tfds")
    assert building.data_directory() == "/tfds"
    monkeypatch.setenv("MTL_TF_DATA_DIR", "/ours")
    assert building.data_directory() == "/ours"
    assert building.data_directory("~/given") == "/home/user/given"


def test_no_files_at_all(data):
    with pytest.raises(DataError, match="--manual_dir or MTL_TF_MANUAL_DIR"):
        building.prepare("fdu_mtl/books", data)


def test_missing_manual_directory(built, data, tmp_path):
    with pytest.raises(DataError, match="cannot read the data folder"):
        building.prepare("fdu_mtl/books", data, str(tmp_path / "nowhere"))


def test_data_directory_that_is_a_file(manual, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RunError, match="cannot make the directory"):
        building.prepare("fdu_mtl/books", str(tmp_path / "file"), manual)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fdu_mtl/bookz", "configuration of fdu_mtl 'bookz'.*'books'"),
        ("fdu_mtl", "several configurations.*fdu_mtl/books"),
        ("fdu_mlt/books", "unknown dataset 'fdu_mlt/books'.*'fdu_mtl'"),
        ("sample_review", "did you mean 'sample_reviews'"),
        ("imdb_review", "'imdb_reviews'"),
        ("imdb_reviews/plain", "imdb_reviews/plain"),
    ],
)
def test_unknown_names(data, name, message):
    with pytest.raises(ConfigError, match=message):
        building.prepare(name, data)


def test_expand():
    assert building.expand("sample_reviews") == [
        "sample_reviews/books",
        "sample_reviews/films",
        "sample_reviews/gadgets",
        "sample_reviews/kitchen",
    ]
    assert building.expand("fdu_mtl/MR") == ["fdu_mtl/MR"]
    assert len(building.expand("fdu_mtl")) == 16
    assert building.expand("imdb_reviews") == ["imdb_reviews"]


def test_catalogue(data):
    builder = building.prepare("plain_catalogue", data)
    assert builder.info.splits["train"].num_examples == 3
    assert building.warnings_of(builder) == []
    assert building.prepare("plain_catalogue", data).info.splits


def test_catalogue_with_manual_files(data, tmp_path):
    (tmp_path / "manual_catalogue").mkdir()
    (tmp_path / "manual_catalogue" / "corpus.txt").write_text("hello")
    builder = building.prepare("manual_catalogue", data, str(tmp_path))
    (example,) = builder.as_dataset(split="train").as_numpy_iterator()
    assert example["sentence"] == b"hello"


@pytest.mark.parametrize("folder", ["", "nowhere", "."])
def test_catalogue_without_its_manual_files(data, tmp_path, folder):
    manual_dir = str(tmp_path / folder) if folder else ""
    with pytest.raises(DataError, match="manual_catalogue needs files"):
        building.prepare("manual_catalogue", data, manual_dir)


@pytest.mark.parametrize("inside", [True, False])
def test_the_folder_that_lacks_manual_files_is_named(data, tmp_path, inside):
    folder = tmp_path / "manual_catalogue" if inside else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / "other.txt").write_text("hello")
    with pytest.raises(DataError, match="needs files") as told:
        building.prepare("manual_catalogue", data, str(tmp_path))
    assert f"looked for in {folder}. " in str(told.value)
    assert "--manual_dir" not in str(told.value)


def test_catalogue_offline(data):
    with pytest.raises(DataError, match="could not be downloaded.*example.org"):
        building.prepare("offline_catalogue", data)


def test_catalogue_needs_a_package(data):
    with pytest.raises(ConfigError, match="no_such_package_for_sure"):
        building.prepare("extra_package_catalogue", data)


def test_defects_are_not_hidden(data):
    with pytest.raises(KeyError):
        building.prepare("defect_catalogue", data)


@pytest.mark.extended
@pytest.mark.parametrize(
    "first",
    [
        pytest.param("tfds.list_builders()", marks=pytest.mark.extended),
        "load_ours()",
    ],
)
def test_the_catalogue_of_tfds_keeps_its_names(first):
    # `conll2003` and `squad` are in both; either may be loaded first.
    code = (
        "import tensorflow_datasets as tfds\n"
        "from mtl_tf.datasets import building, corpus_build\n"
        "def load_ours():\n"
        "    return list(map(corpus_build.builder_class, building.OWN))\n"
        f"{first}\n"
        "assert {'conll2003', 'squad'} <= {*tfds.list_builders()}\n"
        "ours = load_ours()\n"
        "for name in ('conll2003', 'squad'):\n"
        "    assert tfds.builder_cls(name) not in ours, name\n"
    )
    status, _, err = helpers.execute("-c", code)
    assert status == 0, err
