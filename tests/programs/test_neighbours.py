"""Configs that import files beside them."""

import importlib
import sys

import pytest

from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import config_files

CONFIG = """
from mtl_tf.configs import base
from shared_parts import EPOCHS

def get_config():
    from parts.late import SEED

    config = base.default_config()
    config.training.epochs = EPOCHS
    config.seed = SEED
    return config
"""


def write(folder, epochs, seed=5):
    (folder / "parts").mkdir(parents=True)
    (folder / "my_config.py").write_text(CONFIG)
    (folder / "shared_parts.py").write_text(f"EPOCHS = {epochs}\n")
    (folder / "parts" / "__init__.py").write_text("")
    (folder / "parts" / "late.py").write_text(f"SEED = {seed}\n")
    return str(folder / "my_config.py")


def test_configs_import_files_beside_them(tmp_path):
    path, modules = list(sys.path), set(sys.modules)
    for number in (3, 7):
        file = write(tmp_path / str(number), number, 10 * number)
        config = config_files.load(file)
        assert config.training.epochs == number
        assert config.seed == 10 * number
    assert sys.path == path
    new = set(sys.modules) - modules
    assert not [n for n in new if n.split(".")[0] in ("shared_parts", "parts")]


def test_modules_of_that_name_stay_what_they_were(tmp_path, monkeypatch):
    other = type(sys)("shared_parts")
    monkeypatch.setitem(sys.modules, "shared_parts", other)
    file = write(tmp_path / "mine", 4)
    assert config_files.load(file).training.epochs == 4
    assert sys.modules["shared_parts"] is other


def test_path_and_modules_are_as_before_when_a_file_fails(tmp_path):
    file = write(tmp_path / "mine", "1 / 0")
    path = list(sys.path)
    with pytest.raises(ConfigError, match=r"my_config\.py:3: ZeroDivision"):
        config_files.load(file)
    assert sys.path == path
    assert "shared_parts" not in sys.modules


def test_what_was_imported_from_the_folder_before_stays(tmp_path, monkeypatch):
    file = write(tmp_path / "mine", 4)
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    shared_parts = importlib.import_module("shared_parts")
    assert config_files.load(file).training.epochs == 4
    assert sys.modules["shared_parts"] is shared_parts
    monkeypatch.delitem(sys.modules, "shared_parts")
