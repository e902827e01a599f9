import pytest

from tests.tasks import fakes


@pytest.fixture(scope="session")
def fake_data(tmp_path_factory):
    return tmp_path_factory.mktemp("fake_data")


@pytest.fixture
def prepared(monkeypatch, fake_data):
    """Any dataset name is `fakes.FakeReviews`; gives the calls of prepare."""
    return fakes.install(monkeypatch, fake_data)


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
