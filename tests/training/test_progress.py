import io

import pytest

from mtl_tf.training import progress
from mtl_tf.training.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(progress.time, "monotonic", lambda: self.now)

    def step(self, shown, step, seconds):
        self.now += seconds
        shown.update(step, 0.25)


@pytest.fixture
def clock(monkeypatch):
    return Clock(monkeypatch)


def test_the_line_has_rate_time_left_and_scores(clock):
    shown = Progress(300, 0, 50, stream=io.StringIO())
    shown.scores = ("| dev 81.00", "best 82.00 at 50")
    clock.step(shown, 1, 20.0)
    clock.step(shown, 100, 9.9)
    line = shown.line(100, 0.25)
    assert line == (
        "step 100/300 epoch 2.00 loss 0.2500 10.0 steps/s left 20.0 s"
        " | dev 81.00 best 82.00 at 50"
    )


def test_nothing_is_said_of_the_time_before_a_compiled_step(clock):
    shown = Progress(300, 0, 50, stream=io.StringIO())
    clock.step(shown, 1, 20.0)
    assert "left ?" in shown.line(1, 0.25)


def test_first_steps_that_all_compile_tell_no_rate(clock):
    """One for each type of tasks: they told 9 hours of 8 minutes."""
    shown = Progress(300, 0, 50, stream=io.StringIO())
    for step in range(1, 5):
        clock.step(shown, step, 110.0)
    assert "left ?" in shown.line(4, 0.25)
    for step in range(5, 12):
        clock.step(shown, step, 0.5)
    assert shown.rate() == pytest.approx(2.0)


@pytest.mark.parametrize("between", [0, 3, 40])
def test_no_compilation_counts_however_many_shapes_there_are(clock, between):
    shown = Progress(1000, 0, 50, stream=io.StringIO())
    step = 0
    for _ in range(5):
        step += 1
        clock.step(shown, step, 8.0)  # the first step of a shape
        for _ in range(between):
            step += 1
            clock.step(shown, step, 0.1)
    for _ in range(10):
        step += 1
        clock.step(shown, step, 0.1)
    assert shown.rate() == pytest.approx(10.0)


def test_steps_of_long_texts_do_count(clock):
    shown = Progress(1000, 0, 50, stream=io.StringIO())
    clock.step(shown, 1, 9.0)
    for step in range(2, 42):
        clock.step(shown, step, 0.1 if step % 2 else 0.5)
    assert shown.rate() == pytest.approx(1 / 0.3)


def test_evaluation_time_does_not_count_as_steps(clock):
    shown = Progress(300, 0, 50, stream=io.StringIO())
    clock.step(shown, 1, 9.0)
    clock.step(shown, 101, 20.0)
    with shown.evaluation():
        clock.now += 490
    clock.step(shown, 151, 10.0)
    assert "5.0 steps/s" in shown.line(151, 0.2)


@pytest.mark.parametrize(
    ("total", "step", "evaluations"),
    [(300, 150, 3), (300, 151, 3), (300, 200, 2), (280, 200, 2), (250, 249, 1)],
)
def test_the_time_left_has_the_evaluations_to_come(
    clock, total, step, evaluations
):
    shown = Progress(total, 0, 50, io.StringIO(), evaluate_every=50)
    clock.step(shown, 1, 9.0)
    clock.step(shown, 51, 10.0)  # 5 steps a second
    assert shown.seconds_left(step, shown.rate()) == (total - step) / 5
    for seconds in (70.0, 20.0):
        with shown.evaluation():
            clock.now += seconds
    left = (total - step) / 5 + evaluations * 20
    assert shown.seconds_left(step, shown.rate()) == pytest.approx(left)


def test_the_time_left_is_that_until_the_training_has_to_end(clock):
    shown = Progress(100_000, 0, 50, io.StringIO(), most_seconds=60.0)
    clock.step(shown, 1, 9.0)
    clock.step(shown, 51, 10.0)
    assert shown.seconds_left(51, shown.rate()) == 60 - 19
    assert "left 41.0 s" in shown.line(51, 0.25)


def test_patience_may_end_it_earlier(clock):
    shown = Progress(300, 0, 50, io.StringIO(), patient=True)
    clock.step(shown, 1, 9.0)
    assert "left ?" in shown.line(1, 0.25)
    clock.step(shown, 51, 10.0)
    assert "left at most 49.8 s" in shown.line(51, 0.25)


def test_a_terminal_gets_one_line_written_over(clock):
    stream = Terminal()
    shown = Progress(300, 0, 50, stream=stream)
    clock.step(shown, 100, 1.0)
    clock.step(shown, 200, 1.0)
    shown.close()
    text = stream.getvalue()
    assert text.count("\r") == 2 and text.count("\n") == 1


def test_elsewhere_a_line_is_logged_now_and_then(clock, caplog):
    stream = io.StringIO()
    shown = Progress(300, 0, 50, stream=stream)
    with caplog.at_level("INFO", logger="absl"):
        clock.step(shown, 10, 1.0)
        assert not caplog.records
        clock.step(shown, 20, 15.0)
    assert "step 20/300" in caplog.text and stream.getvalue() == ""
