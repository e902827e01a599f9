import pytest

from tests.tasks import fakes


@pytest.fixture(scope="session")
def fake_data(tmp_path_factory):
    return tmp_path_factory.mktemp("fake_data")


@pytest.fixture
def prepared(monkeypatch, fake_data):
    """Any dataset name is `fakes.FakeReviews`; gives the calls of prepare."""
    return fakes.install(monkeypatch, fake_data)
