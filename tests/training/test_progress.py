import io

from mtl_tf.training import progress
from mtl_tf.training.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def clock(monkeypatch, times):
    ticks = iter(times)
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(ticks))


def test_the_line_has_rate_time_left_and_scores(monkeypatch):
    clock(monkeypatch, [0.0, 10.0])
    shown = Progress(300, 0, 50, stream=io.StringIO())
    shown.scores = " | dev 81.00"
    shown.update(100, 0.25)
    line = shown.line(100, 0.25)
    assert line == (
        "step 100/300 epoch 2.00 loss 0.2500 10.0 steps/s left 20.0 s"
        " | dev 81.00"
    )


def test_evaluation_time_does_not_count_as_steps(monkeypatch):
    clock(monkeypatch, [0.0, 10.0, 10.0, 500.0, 510.0])
    shown = Progress(300, 0, 50, stream=io.StringIO())
    shown.update(100, 0.2)
    shown.pause()
    shown.pause()
    shown.update(150, 0.2)
    assert "5.0 steps/s" in shown.line(150, 0.2)


def test_a_terminal_gets_one_line_written_over(monkeypatch):
    clock(monkeypatch, [0.0, 1.0, 2.0])
    stream = Terminal()
    shown = Progress(300, 0, 50, stream=stream)
    shown.update(100, 0.2)
    shown.update(200, 0.1)
    shown.close()
    text = stream.getvalue()
    assert text.count("\r") == 2 and text.count("\n") == 1


def test_elsewhere_a_line_is_logged_now_and_then(monkeypatch, caplog):
    clock(monkeypatch, [0.0, 1.0, 16.0])
    stream = io.StringIO()
    shown = Progress(300, 0, 50, stream=stream)
    with caplog.at_level("INFO", logger="absl"):
        shown.update(10, 0.2)
        assert not caplog.records
        shown.update(20, 0.2)
    assert "step 20/300" in caplog.text and stream.getvalue() == ""
