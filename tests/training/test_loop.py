import glob
import os
import signal

import numpy as np
import pytest
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError, Interrupted, RunError
from mtl_tf.training.distribution.workers import Workers
from tests.training import toy
from tests.training.killing import run_killed
from tests.training.toy import assert_same


def test_evaluates_on_time_and_at_the_end(whole):
    stage = whole
    assert [r["step"] for r in stage.records] == [5, 10, 12]
    assert stage.records[0]["epoch"] == round(5 / 6, 4)
    assert set(stage.records[0]["train_loss"]) == {"first", "second"}
    assert stage.records[0]["loss_weights"] == {"first": 1.0, "second": 2.0}


@pytest.mark.by_default("scores0")
@pytest.mark.parametrize(
    "scores",
    [
        {5: 10.0, 10: 30.0, 12: 20.0},
        # Of errors, which count with a minus.
        {5: -30.0, 10: -10.0, 12: -20.0},
    ],
)
def test_keeps_the_weights_of_the_best_score(tmp_path, scores):
    stage = toy.Stage(tmp_path, scores=scores.get)
    kept = {}
    record = stage.loop.record

    def watch(entry):
        kept[entry["step"]] = stage.model.table.numpy()
        record(entry)

    stage.loop.record = watch
    stage.run()
    best = stage.checkpoints.best.load()
    assert (best["step"], best["score"]) == (10, scores[10])
    np.testing.assert_array_equal(stage.model.table.numpy(), kept[10])
    names = os.listdir(tmp_path / "best")
    assert not [n for n in names if n.startswith(("weights-5", "weights-12"))]


def test_a_mistake_found_while_tracing_is_raised_as_it_is(tmp_path):
    stage = toy.Stage(tmp_path)

    def call(batch, **options):
        raise ConfigError("the scheme must return 'summary'")

    stage.model.call = call
    with pytest.raises(ConfigError, match="must return 'summary'"):
        stage.run()


@pytest.fixture
def told(caplog):
    """What is logged for information, too."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity(logging.INFO)
    caplog.set_level("INFO")
    yield caplog
    logging.set_verbosity(verbosity)


def test_patience_ends_the_stage_and_stays_ended(tmp_path, told):
    scores = {5: 40.0, 10: 30.0, 15: 20.0}
    settings = {"total_steps": 60, "patience": 2, "scores": scores.get}
    first = toy.Stage(tmp_path, **settings).run()
    assert [r["step"] for r in first.records] == [5, 10, 15]
    assert (
        "Stopped early after epoch 2.5 (step 15 of 60): no better validation "
        "score for 2 evaluations; the best is 40.00 at step 5."
    ) in told.text
    again = toy.Stage(tmp_path, **settings).run()
    assert again.records == []


@pytest.mark.extended
def test_a_stage_that_goes_to_its_end_did_not_stop_early(tmp_path, told):
    toy.Stage(tmp_path, patience=1).run()
    assert "Compiling" in told.text
    assert "Stopped early" not in told.text


def test_a_longer_training_continues_to_the_same_result(tmp_path, whole):
    toy.Stage(tmp_path, total_steps=10).run()
    continued = toy.Stage(tmp_path, total_steps=12).run()
    assert_same(continued, whole)
    assert continued.records == whole.records[2:]


def test_time_ends_the_stage_with_an_evaluation(tmp_path, told):
    settings = {"total_steps": 60, "steps_per_call": 1}
    timed = {**settings, "max_seconds": 1e-6}
    first = toy.Stage(tmp_path, **timed).run()
    assert [r["step"] for r in first.records] == [1]
    assert (
        "Stopped at step 1 of 60, after the time that training.max_hours gives"
    ) in told.text
    assert toy.Stage(tmp_path, **timed).run().records == []
    # Time of all processes counts, and with more of it the stage goes on.
    longer = {**settings, "total_steps": 12, "max_seconds": 3600.0}
    more = toy.Stage(tmp_path, **longer).run()
    assert [r["step"] for r in more.records] == [5, 10, 12]


@pytest.mark.extended
def test_time_that_was_over_between_evaluations_leaves_none_out(tmp_path):
    """As several workers may be stopped, who look at it where they score."""
    settings = {"total_steps": 60, "steps_per_call": 1}
    stopped = toy.Stage(tmp_path, checkpoint_seconds=0.0, **settings)

    def stop(step, loss):
        if step == 4:
            raise KeyboardInterrupt

    stopped.loop.on_step = stop
    with pytest.raises(KeyboardInterrupt):
        stopped.run()
    timed = {**settings, "max_seconds": 1e-6}
    assert [r["step"] for r in toy.Stage(tmp_path, **timed).run().records] == [
        4
    ]
    assert toy.Stage(tmp_path, **timed).run().records == []


class TwoWorkers(Workers):
    """One of two workers; the numbers that it sums over them are noted."""

    def __init__(self, number):
        super().__init__(tf.distribute.get_strategy())
        self.count, self.number, self.summed = 2, number, []

    def _sum(self, value):
        self.summed.append(value)
        return value


@pytest.mark.by_default("evaluate")
@pytest.mark.parametrize("part", ["evaluate", "record"])
def test_a_mistake_in_an_evaluation_is_one_for_all_workers(tmp_path, part):
    """Such as an own metric's: those who only lost the chief would restart."""

    def fail(*_):
        raise ValueError("no such label")

    chief = toy.Stage(tmp_path / "chief", evaluate_every=1)
    chief.loop.workers = TwoWorkers(0)
    setattr(chief.loop, part, fail)
    with pytest.raises(ValueError, match="no such label"):
        chief.run()
    assert chief.loop.workers.summed[-1] == 0.0
    other = toy.Stage(tmp_path / "other", evaluate_every=1)
    other.loop.workers = TwoWorkers(1)
    with pytest.raises(RunError, match="the chief stopped with an error"):
        other.run()


def test_a_disk_that_fails_the_chief_does_not_stop_the_others(tmp_path):
    """They lose it, and all are started again."""

    def fail():
        raise OSError("disk quota exceeded")

    chief = toy.Stage(tmp_path, evaluate_every=1)
    chief.loop.workers, chief.loop.evaluate = TwoWorkers(0), fail
    with pytest.raises(OSError, match="disk quota exceeded"):
        chief.run()
    assert chief.loop.workers.summed == []


STAGE = """
from tests.training import toy
toy.Stage(arguments[0], optimizer="adam", steps_per_call=1,
          checkpoint_seconds=0.0).run()
"""


def test_what_ends_at_a_save_resumes_bit_equal(tmp_path, whole):
    """As `kill -9` ends it in the test below, which starts a process."""
    stage = toy.Stage(tmp_path, steps_per_call=1, checkpoint_seconds=0.0)
    save, steps = stage.checkpoints.save, []

    def ended():
        save()
        steps.append(int(stage.checkpoints.step))
        if len(steps) == 7:
            raise SystemExit

    stage.checkpoints.save = ended
    with pytest.raises(SystemExit):
        stage.run()
    resumed = toy.Stage(tmp_path)
    assert resumed.checkpoints.restore() == steps[-1] == 7
    assert_same(resumed.run(), whole)
    assert stage.records + resumed.records == whole.records


@pytest.mark.extended
@pytest.mark.parametrize("saves", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_kill_9_anywhere_resumes_bit_equal(tmp_path, saves):
    run_killed(STAGE, saves, tmp_path / "a")
    resumed = toy.Stage(tmp_path / "a", optimizer="adam")
    assert resumed.checkpoints.restore() == saves
    resumed.run()
    whole = toy.Stage(tmp_path / "b", optimizer="adam").run()
    assert_same(resumed, whole)
    missing = len(whole.records) - len(resumed.records)
    assert missing == sum(s <= saves for s in (5, 10, 12))
    assert resumed.records == whole.records[missing:]


@pytest.mark.slow
def test_kill_9_resumes_bit_equal_where_gradients_are_accumulated(tmp_path):
    text = STAGE.replace('"adam"', '"adam", accumulate=2')
    run_killed(text, 3, tmp_path / "a")
    options = {"optimizer": "adam", "accumulate": 2}
    resumed = toy.Stage(tmp_path / "a", **options)
    assert resumed.checkpoints.restore() == 3
    resumed.run()
    assert_same(resumed, toy.Stage(tmp_path / "b", **options).run())


@pytest.mark.by_default("15")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_saves_and_stops_and_the_same_command_continues(
    tmp_path, whole, number
):
    def send(step, full):
        if step == 7:
            os.kill(os.getpid(), number)
        return full

    stage = toy.Stage(tmp_path / "a", steps_per_call=1, change=send)
    before = signal.getsignal(number)
    with pytest.raises(Interrupted, match="the same command continues") as got:
        stage.run()
    assert got.value.signal_number == number
    assert signal.getsignal(number) is before
    assert_same(toy.Stage(tmp_path / "a").run(), whole)


def test_a_signal_at_the_last_step_is_not_lost(tmp_path, whole):
    def score(step):
        if step == 12:
            os.kill(os.getpid(), signal.SIGTERM)
        return float(step)

    with pytest.raises(Interrupted, match="at step 12 of 12"):
        toy.Stage(tmp_path / "a", scores=score).run()
    resumed = toy.Stage(tmp_path / "a").run()
    assert resumed.records == []
    assert_same(resumed, whole)


def damage(directory, newest):
    """Truncates the files of one of the two states."""
    paths = glob.glob(str(directory / "checkpoints" / "*.data-*"))
    paths.sort(key=lambda p: int(p.rsplit("-", 4)[1].split(".")[0]))
    path = paths[-1] if newest else paths[0]
    with open(path, "r+b") as file:
        file.truncate(10)


def test_a_truncated_checkpoint_falls_back_and_says_so(finished, whole, caplog):
    damage(finished, newest=True)
    stage = toy.Stage(finished)
    with caplog.at_level("WARNING"):
        assert stage.checkpoints.restore() == 10
    assert "ckpt-12 is damaged" in caplog.text
    assert_same(stage.run(), whole)


def test_no_readable_checkpoint_is_an_error(finished):
    damage(finished, newest=True)
    damage(finished, newest=False)
    with pytest.raises(RunError, match="no checkpoint in .* is readable"):
        toy.Stage(finished).checkpoints.restore()


@pytest.mark.extended
@pytest.mark.parametrize("left", [0, 30])
def test_a_damaged_list_of_states_is_made_anew(tmp_path, whole, caplog, left):
    toy.Stage(tmp_path / "a", total_steps=10).run()
    path = tmp_path / "a" / "checkpoints" / "checkpoint"
    path.write_bytes(path.read_bytes()[:left])
    stage = toy.Stage(tmp_path / "a")
    with caplog.at_level("WARNING"):
        assert stage.checkpoints.restore() == 10
    assert "checkpoints/checkpoint is damaged" in caplog.text
    assert_same(stage.run(), whole)
    # No more than two states are kept, those from before included.
    assert len(glob.glob(f"{path.parent}/*.index")) == 2


def test_a_damaged_list_without_states_is_an_error(finished):
    for name in os.listdir(finished / "checkpoints"):
        os.truncate(finished / "checkpoints" / name, 0)
        if name != "checkpoint":
            os.unlink(finished / "checkpoints" / name)
    with pytest.raises(RunError, match="damaged, and there is no state"):
        toy.Stage(finished).checkpoints.restore()


def leave_killed_saves(folder):
    """What three saves leave that were killed at different moments."""
    (folder / "ckpt-3_temp").mkdir(parents=True)
    (folder / "ckpt-3_temp" / "part-00000-of-00001.index").touch()
    (folder / "ckpt-4.data-00000-of-00001").write_bytes(b"all")
    (folder / "ckpt-4.index").touch()
    (folder / "checkpoint.tmp7").touch()


@pytest.mark.extended
def test_a_first_save_that_was_killed_begins_anew(tmp_path, whole):
    left = tmp_path / "a" / "checkpoints"
    leave_killed_saves(left)
    resumed = toy.Stage(tmp_path / "a")
    assert resumed.checkpoints.restore() == 0
    assert os.listdir(left) == []
    assert_same(resumed.run(), whole)


def test_what_killed_saves_left_is_removed(finished):
    folder = finished / "checkpoints"
    before = sorted(os.listdir(folder))
    leave_killed_saves(folder)
    (folder / "notes.txt").touch()
    assert toy.Stage(finished).checkpoints.restore() == 12
    assert sorted(os.listdir(folder)) == [*before, "notes.txt"]


def test_states_without_a_list_are_listed(finished, caplog):
    folder = finished / "checkpoints"
    os.unlink(folder / "checkpoint")
    leave_killed_saves(folder)
    with caplog.at_level("WARNING"):
        assert toy.Stage(finished).checkpoints.restore() == 12
    assert "checkpoints/checkpoint is missing" in caplog.text
    names = {name.partition(".")[0] for name in os.listdir(folder)}
    assert names == {"checkpoint", "ckpt-10", "ckpt-12"}


@pytest.mark.extended
def test_what_a_killed_write_of_best_weights_left_is_removed(tmp_path):
    left = tmp_path / "best" / "weights-5_temp"
    left.mkdir(parents=True)
    (left / "part-00000-of-00001.data-00000-of-00001.tempstate7").touch()
    toy.Stage(tmp_path).run()
    names = os.listdir(tmp_path / "best")
    assert {name.partition(".")[0] for name in names} == {"best", "weights-12"}


@pytest.mark.extended
def test_a_loss_that_becomes_nan_stops_and_keeps_the_last_state(tmp_path):
    def poison(step, full):
        if step == 8:
            full["weight"][0, 0] = np.nan
        return full

    stage = toy.Stage(tmp_path, change=poison)
    with pytest.raises(
        RunError, match=r"task 'first' is not finite at step 8.*ckpt-5"
    ):
        stage.run()
    assert toy.Stage(tmp_path).checkpoints.restore() == 5


def test_weights_that_are_not_finite_are_never_saved(tmp_path):
    stage = toy.Stage(tmp_path, total_steps=5)
    stage.run()
    stage.model.table.assign(np.full((toy.WORDS, toy.WIDTH), np.inf))
    stage.checkpoints.step.assign(6)
    with pytest.raises(RunError, match="table is not finite after step 6"):
        stage.checkpoints.save()
    assert toy.Stage(tmp_path).checkpoints.restore() == 5


def test_lines_of_progress_show_scores_as_told(tmp_path):
    stage = toy.Stage(
        tmp_path, scores=lambda step: -step, told="loss {:.1f}".format
    )
    stage.run()
    shown = stage.loop.progress.scores
    assert shown == ("| dev loss -12.0", "best loss -5.0 at 5")


def test_weights_not_finite_before_the_first_state_are_named(tmp_path):
    stage = toy.Stage(tmp_path)
    stage.checkpoints.restore()
    stage.model.table.assign(np.full((toy.WORDS, toy.WIDTH), np.inf))
    with pytest.raises(RunError, match="it has no checkpoint yet"):
        stage.checkpoints.save()


def test_weights_that_are_not_finite_are_never_the_best(tmp_path):
    def scores(step):
        if step == 10:
            table = stage.model.table
            table.assign(np.full(table.shape, np.nan))
        return step

    stage = toy.Stage(tmp_path, scores=scores)
    with pytest.raises(RunError, match="table is not finite after step 10"):
        stage.run()
    assert stage.checkpoints.best.load()["step"] == 5


def test_what_improves_without_the_mean_is_not_waited_for(tmp_path):
    """As tasks do that keep weights of their own."""
    improved = {5: True, 10: False, 15: True, 20: False, 25: False, 30: True}
    stage = toy.Stage(
        tmp_path, total_steps=60, patience=2, scores=lambda step: 1.0
    )
    evaluate = stage.loop.evaluate
    stage.loop.evaluate = lambda: (
        evaluate() | {"improved": improved[int(stage.checkpoints.step)]}
    )
    stage.run()
    assert [entry["step"] for entry in stage.records] == [5, 10, 15, 20, 25]
    assert int(stage.checkpoints.best_step) == 5
    assert all("improved" not in e["validation"] for e in stage.records)
