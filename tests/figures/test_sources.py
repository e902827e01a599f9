"""Where the words of answers come from."""

import numpy as np
import pytest

import mtl_tf
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.figures import sources, sources_figure
from mtl_tf.figures.page import DEFAULT, Page
from mtl_tf.figures.sources import AnswerSources, TaskSources
from tests.figures import layout
from tests.system import questions, random_runs

LINE = "behind w3 w4\tw1 key anna w2"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """One for all tests: it traces what it does once."""
    folder = tmp_path_factory.mktemp("sources")
    sizes = {"train": 12, "validation": 3, "test": 3}
    tasks = questions.entries(folder, sizes, ("behind", "mentions"))
    config = questions.config(tasks, units=8, feed_forward=6)
    directory = random_runs.write_weights(folder / "run", config)[0].path
    return mtl_tf.load(directory)


@pytest.mark.extended
def test_shares_of_tasks_are_means_over_words(run):
    first, second = sources.of_tasks(run, None, "test", 2, (None, None))
    assert (first.task, second.task) == ("behind", "mentions")
    said = run.predict("behind", questions.examples("behind", 2, 2))
    shares = np.concatenate([one["shares"] for one in said])
    assert (first.answers, first.words) == (2, len(shares))
    np.testing.assert_allclose(first.shares, shares.mean(0), atol=1e-5)
    (only,) = sources.of_tasks(run, "mentions", "test", 2, (None, None))
    np.testing.assert_allclose(only.shares, second.shares)


@pytest.mark.extended
def test_shares_of_an_answer_are_of_its_words(run):
    found = sources.of_answer(run, "behind", LINE)
    (said,) = run.predict("behind", [LINE.split("\t")])
    assert found.question == "behind w3 w4"
    assert list(found.words) == said["words"]
    np.testing.assert_allclose(found.shares, said["shares"])
    with pytest.raises(ConfigError, match="a tab between them"):
        sources.of_answer(run, "behind", "no context")


def test_runs_without_answers_are_refused():
    run = type("Run", (), {"predictor": type("P", (), {"decoder": None})()})
    for call in (
        lambda: sources.of_answer(run, "x", LINE, "mine"),
        lambda: sources.of_tasks(run, None, "test", 2, (None, None), "mine"),
    ):
        with pytest.raises(ConfigError, match="mine answers no questions"):
            call()


@pytest.mark.extended
def test_an_answer_of_nothing_has_no_sources(run, monkeypatch):
    nothing = {"words": [], "shares": []}
    monkeypatch.setattr(run, "predict", lambda task, texts: [nothing])
    with pytest.raises(DataError, match="answers 'behind w3 w4' by nothing"):
        sources.of_answer(run, "behind", LINE)
    with pytest.raises(DataError, match="behind, test, by nothing"):
        sources.of_tasks(run, "behind", "test", 2, (None, None))


def test_bars_are_as_long_as_the_shares():
    shares = np.array([[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]])
    tasks = [TaskSources(n, s, 3, 9) for n, s in zip(("a", "b"), shares)]
    figure = sources_figure.sources_figure(tasks)
    (axes,) = figure.axes
    widths = [[bar.get_width() for bar in one] for one in axes.containers]
    np.testing.assert_allclose(np.transpose(widths), shares)
    ends = [bar.get_x() + bar.get_width() for bar in axes.containers[-1]]
    np.testing.assert_allclose(ends, 1)
    assert [t.get_text() for t in axes.get_yticklabels()] == ["a", "b"]
    names = [t.get_text() for t in figure.legends[0].get_texts()]
    assert names == ["vocabulary", "context", "question"]


@pytest.mark.by_default("1-page0", "1-page1")
@pytest.mark.parametrize("page", [DEFAULT, Page(width=3.0, font_size=8)])
@pytest.mark.parametrize("size", [1, 30])
def test_answers_are_readable(page, size):
    words = tuple("incomprehensibilities" for _ in range(size))
    shares = np.full([size, 3], 1 / 3)
    question = "what is a question that " + "goes on and on " * size
    given = [AnswerSources(question, words, shares)] * 2
    figure = sources_figure.answer_figure(given, page)
    layout.check(figure)
    assert len(figure.axes[0].containers[0]) == size
    assert figure.texts[0].get_text().startswith("“what is a question")
    tasks = [TaskSources(f"t{n}", shares[0], 3, 9) for n in range(size)]
    layout.check(sources_figure.sources_figure(tasks, page))
