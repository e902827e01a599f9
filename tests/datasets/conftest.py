import pytest


@pytest.fixture(autouse=True)
def no_folders_from_the_environment(monkeypatch):
    for name in ("MTL_TF_DATA_DIR", "MTL_TF_MANUAL_DIR", "TFDS_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
