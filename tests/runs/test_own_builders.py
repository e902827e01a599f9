"""Builders of the user's own, named by file or module."""

import os

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets import building, own_builders
from mtl_tf.runs.directory import own_files
from mtl_tf.tasks import entries

BUILDER = """
import tensorflow_datasets as tfds
from beside import WORDS

class MyTeas(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=n) for n in ("hot", "iced")]

    def _info(self):
        label = tfds.features.ClassLabel(names=["no", "yes"])
        features = {"text": tfds.features.Text(), "label": label}
        return tfds.core.DatasetInfo(
            builder=self, features=tfds.features.FeaturesDict(features)
        )

    def _split_generators(self, dl_manager):
        sizes = {"train": 20, "test": 4}
        return {k: self._generate_examples(n) for k, n in sizes.items()}

    def _generate_examples(self, count):
        for n in range(count):
            text = f"{self.builder_config.name} {WORDS[n % 2]}"
            yield n, {"text": text, "label": n % 2}

no_builder = 3
class NoBuilder: pass
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "beside.py").write_text("WORDS = ('milk', 'mint')\n")
    path = tmp_path / "teas.py"
    path.write_text(BUILDER)
    own_builders._class.cache_clear()
    return path


def entry(name, **more):
    return {"name": "teas", "dataset": name, **more}


def texts(task, split):
    return [x["text"] for x in task.dataset(split).as_numpy_iterator()]


@pytest.mark.parametrize("way", ["file", "module"])
def test_a_builder_of_a_file_is_a_task(file, tmp_path, monkeypatch, way):
    place = str(file)
    if way == "module":
        package = tmp_path / "mine"
        package.mkdir()
        (package / "__init__.py").write_text("")
        (package / "teas.py").write_text(BUILDER)
        monkeypatch.syspath_prepend(str(tmp_path))
        place = "mine.teas"
    data = str(tmp_path / "data")
    splits = {"train": "train[:50%]", "validation": "train[50%:]"}
    given = entry(f"{place}:MyTeas/iced", splits=splits | {"test": "test"})
    task = entries.task_of_entry(given, data)
    assert task.labels == ("no", "yes")
    assert task.size("train") == 10
    assert sorted(set(texts(task, "test"))) == [b"iced milk", b"iced mint"]


def test_a_builder_that_was_changed_builds_anew(file, tmp_path):
    name, data = f"{file}:MyTeas/hot", str(tmp_path / "data")
    first = building.prepare(name, data)
    assert building.prepare(name, data).data_dir == first.data_dir
    file.write_text(BUILDER.replace("{WORDS", "green {WORDS"))
    own_builders._class.cache_clear()
    again = building.prepare(name, data)
    assert again.data_dir != first.data_dir
    row = next(iter(again.as_dataset(split="test").as_numpy_iterator()))
    assert b"green" in row["text"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{}:MyTea", "has no class 'MyTea'"),
        ("{}:no_builder", "no_builder is no class, but 3"),
        ("{}:NoBuilder", "must be a class of tfds"),
        ("{}:MyTeas/cold", "cold"),
        ("{}x.py:MyTeas", "there is no file"),
        ("nowhere.teas:MyTeas", "importing nowhere.teas fails"),
    ],
)
def test_mistakes_are_told(file, tmp_path, name, message):
    with pytest.raises(ConfigError, match=message):
        building.prepare(name.format(file), str(tmp_path / "data"))


def test_names_of_the_catalogue_are_not_own():
    assert not own_builders.is_own("glue/sst2")
    assert not own_builders.is_own("huggingface:squad")
    assert own_builders.is_own("teas.py:MyTeas")


def test_a_run_notes_the_whole_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = {"tasks": [entry("teas.py:MyTeas/hot"), entry("sst/sst2")]}
    one, two = own_files.absolute(config)["tasks"]
    assert one["dataset"] == os.path.join(str(tmp_path), "teas.py:MyTeas/hot")
    assert two["dataset"] == "sst/sst2"
