"""Builds of our own corpora, part by part: killed, continued, by Beam."""

import hashlib
import importlib
import inspect
import os
import pathlib
import signal
import subprocess
import sys

import pytest
import tensorflow_datasets as tfds

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.datasets import building, corpus_builder
from mtl_tf.datasets.beam import Beam
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from tests.datasets import catalogue  # noqa: F401  (registers datasets)
from tests.datasets.corpora import line, make_fdu_mtl, rows

# 203 lines for training, of which 200 are the validation split, are 4 parts.
PART = 50


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(corpus_builder, "EXAMPLES_A_PART", PART)


@pytest.fixture
def manual(tmp_path):
    return make_fdu_mtl(tmp_path / "manual")


def build(folder, manual, beam=None):
    return building.prepare("fdu_mtl/books", str(folder), manual, beam)


def content(folder):
    """The digest of every file of the build."""
    folder = pathlib.Path(folder) / "fdu_mtl" / "books"
    return {
        str(path.relative_to(folder)): hashlib.md5(path.read_bytes()).digest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def serialized(monkeypatch):
    """How many examples each part that is serialized has."""
    whole, sizes = CorpusBuilder._serialized, []

    def counted(self, part):
        sizes.append(len(part))
        return whole(self, part)

    monkeypatch.setattr(CorpusBuilder, "_serialized", counted)
    return sizes


@pytest.fixture
def expected(tmp_path, manual, serialized):
    """The files of a build that was left alone."""
    build(tmp_path / "whole", manual)
    serialized.clear()
    return content(tmp_path / "whole")


def test_a_build_is_what_tfds_makes_of_it(tmp_path, manual, monkeypatch):
    ours = build(tmp_path / "ours", manual)
    base = tfds.core.GeneratorBasedBuilder
    monkeypatch.setattr(
        CorpusBuilder, "_generate_splits", base._generate_splits
    )
    theirs = build(tmp_path / "tfds", manual)
    # The bytes may differ in the order of features.
    assert ours.info.as_json == theirs.info.as_json
    assert list(content(tmp_path / "ours")) == list(content(tmp_path / "tfds"))
    assert list(ours.info.splits) == [
        "train",
        "validation",
        "test",
        "unlabelled",
    ]
    for split in ours.info.splits:
        assert rows(ours, split) == rows(theirs, split) != []


_KILLED = """
import os, sys
from mtl_tf.datasets import building, corpus_builder
from mtl_tf.datasets.corpus_builder import CorpusBuilder
corpus_builder.EXAMPLES_A_PART = 50
whole, count = CorpusBuilder._serialized, [0]
def counted(self, part):
    count[0] += 1
    if count[0] == 4:
        os.kill(os.getpid(), 9)
    return whole(self, part)
CorpusBuilder._serialized = counted
building.prepare("fdu_mtl/books", *sys.argv[1:])
"""


def kill(folder, manual):
    child = subprocess.run(
        [sys.executable, "-c", _KILLED, str(folder), manual],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
    )
    assert child.returncode == -signal.SIGKILL, child.stderr[-2000:]


@pytest.mark.extended
def test_a_killed_build_goes_on_and_ends_the_same(
    tmp_path, manual, expected, serialized
):
    # The part of train, and two of four of validation, are serialized by then.
    kill(tmp_path / "killed", manual)
    build(tmp_path / "killed", manual)
    assert serialized == [3, PART, PART, 6, 4]
    assert content(tmp_path / "killed") == expected


def interrupt(folder, manual, monkeypatch, after):
    """Stops a build as Ctrl-C does, after so many parts."""
    whole = CorpusBuilder._serialized

    def stopping(self, part, left=[after]):  # noqa: B006
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return whole(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(CorpusBuilder, "_serialized", stopping)
        with pytest.raises(KeyboardInterrupt):
            build(folder, manual)


def test_parts_of_other_files_are_not_taken(
    tmp_path, manual, monkeypatch, serialized
):
    interrupt(tmp_path / "data", manual, monkeypatch, 3)
    path = pathlib.Path(manual) / "books.task.train"
    path.write_bytes(line(1, "new") + path.read_bytes())
    serialized.clear()
    builder = build(tmp_path / "data", manual)
    assert serialized == [4, *[PART] * 4, 6, 4]
    assert rows(builder, "train")[0] == ("new", 1)
    parent = tmp_path / "data" / "fdu_mtl" / "books"
    assert os.listdir(parent) == ["1.0.0"]


def test_a_damaged_part_is_serialized_again(
    tmp_path, manual, expected, monkeypatch, serialized
):
    interrupt(tmp_path / "data", manual, monkeypatch, 3)
    parent = tmp_path / "data" / "fdu_mtl" / "books"
    first, second = sorted(parent.glob("parts.*/validation-*"))
    os.truncate(first, first.stat().st_size - 1)
    broken = bytearray(second.read_bytes())
    broken[40] ^= 1
    second.write_bytes(broken)
    serialized.clear()
    build(tmp_path / "data", manual)
    assert serialized == [3, *[PART] * 4, 6, 4]
    assert content(tmp_path / "data") == expected


# Apache Beam


def test_the_package_that_beam_needs_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    with pytest.raises(ConfigError, match=r"pip install 'mtl_tf\[beam\]'"):
        Beam("DirectRunner").check()


@pytest.mark.parametrize(
    ("options", "workers"),
    [
        (["direct_num_workers=3"], 3),
        (["direct_num_workers=0"], os.cpu_count()),
        (["parallelism=7", "streaming"], 7),
        ([], os.cpu_count()),
    ],
)
def test_the_runner_says_how_many_workers_there_are(options, workers):
    assert Beam("AnyRunner", tuple(options)).workers == workers


@pytest.fixture
def beam():
    pytest.importorskip("apache_beam")
    mode = ("direct_running_mode=multi_threading", "direct_num_workers=2")
    return Beam("DirectRunner", mode)


@pytest.mark.extended
def test_workers_of_beam_build_what_one_process_builds(
    tmp_path, manual, expected, serialized, beam
):
    build(tmp_path / "beam", manual, beam)
    assert sorted(serialized) == [3, 4, 6, *[PART] * 4]
    assert content(tmp_path / "beam") == expected


@pytest.mark.extended
def test_beam_writes_what_is_missing_only(
    tmp_path, manual, monkeypatch, serialized, beam
):
    interrupt(tmp_path / "data", manual, monkeypatch, 3)
    serialized.clear()
    build(tmp_path / "data", manual, beam)
    assert sorted(serialized) == [3, 4, 6, PART, PART]


def test_a_wrong_file_is_named_before_beam_begins(tmp_path, beam):
    manual = make_fdu_mtl(tmp_path / "m", test=b"1\ta\nno tab\n")
    with pytest.raises(DataError, match=r"books\.task\.test:2"):
        build(tmp_path / "data", manual, beam)


@pytest.mark.parametrize(
    ("runner", "options", "message"),
    [
        ("DirectRuner", (), "--beam_runner=DirectRuner"),
        ("DirectRunner", ("no_such=1",), "no option 'no_such'"),
    ],
)
def test_wrong_flags_of_beam(beam, runner, options, message):
    with pytest.raises(ConfigError, match=message):
        Beam(runner, options).check()


@pytest.mark.extended
def test_builders_that_generate_by_beam(tmp_path, beam):
    builder = building.prepare("beam_catalogue", str(tmp_path), "", beam)
    found = builder.as_dataset(split="train").as_numpy_iterator()
    assert sorted(row["stars"] for row in found) == [0, 1, 2]


@pytest.mark.parametrize("corpus", building.OWN)
def test_a_corpus_hides_nothing_of_how_builds_are_made(corpus):
    module = f"mtl_tf.datasets.{corpus}.{corpus}_dataset_builder"
    classes = importlib.import_module(module).Builder.__mro__
    assert CorpusBuilder in classes
    theirs = set().union(*map(vars, classes[: classes.index(CorpusBuilder)]))
    made = {n for n, f in vars(CorpusBuilder).items() if inspect.isfunction(f)}
    assert not made & theirs


def test_every_folder_with_a_builder_is_a_corpus():
    folder = pathlib.Path(building.__file__).parent
    builders = {x.parent.name for x in folder.glob("*/*_dataset_builder.py")}
    assert builders == set(building.OWN)
