"""The cases of the benchmark, with small sizes; no test looks at a clock."""

import dataclasses
import math

import numpy as np
import pytest
import tensorflow as tf

from launch import benchmark
from mtl_tf.benchmarks import cases, result_rows, steps, timing
from mtl_tf.benchmarks import contestants as contestants
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import Timing, compete, ratio
from mtl_tf.core import random
from mtl_tf.core.errors import RunError
from tests.benchmarks.benchmark_testing import (
    SMALL,
    check_form,
    column,
)
from tests.launch.helpers import execute


def test_program_and_cases_have_the_same_names():
    assert list(benchmark.CASES) == list(cases.CASES)


# Cases


@pytest.mark.slow
def test_meta_mtl_compares_four_forms_with_the_stated_targets():
    result = cases.meta_mtl(SMALL, 2)
    check_form(result)
    names = ["mtl_tf", "keras_rnn", "keras_rnn_jit", "keras_rnn_jit_part"]
    assert column(result, "contestant") == names
    assert column(result, "batch") == [16] * 4
    assert column(result, "times_ours")[0] == 1.0
    assert [len(samples) for samples in column(result, "samples_ms")] == [2] * 4
    first = result["rows"][0]
    per_step = first["tokens_per_s"] * first["step_ms"] / 1e3
    assert per_step == pytest.approx(16 * SMALL.length)
    assert [t["limit"] for t in result["targets"]] == [4.0, 2.0, 2.0]
    assert "keras_rnn_jit_part" in result["targets"][2]["what"]
    assert result["targets"][0]["value"] == result["rows"][1]["times_ours"]


@pytest.mark.slow
def test_arc_ii_compares_the_schemes_with_an_lstm():
    result = cases.arc_ii(SMALL, 2)
    check_form(result)
    names = ["lstm", "me_lstm", "arc_i", "arc_ii"]
    assert column(result, "scheme") == names
    assert column(result, "times_lstm")[0] == 1.0
    [target] = result["targets"]
    assert (target["rule"], target["limit"]) == ("at most", 3.0)
    assert target["value"] == result["rows"][3]["times_lstm"]


def test_targets_of_the_large_batch():
    assert steps._RATIOS[64]["keras_rnn"] == 2.0
    assert steps._RATIOS[64]["keras_rnn_jit"] == 1.25
    assert Sizes().batches == tuple(steps._RATIOS)


@pytest.mark.slow
def test_meta_mtl_refuses_contestants_that_compute_something_else(monkeypatch):
    monkeypatch.setattr(
        contestants.KerasModel, "_copy_cell", lambda self, ours: None
    )
    # Steps large enough that another cell shows in the loss.
    monkeypatch.setattr(contestants, "_LEARNING_RATE", 2.0)
    every = steps._contestants

    def two(sizes, batch):
        runs = every(sizes, batch)
        return {name: runs[name] for name in ("mtl_tf", "keras_rnn")}

    monkeypatch.setattr(steps, "_contestants", two)
    with pytest.raises(RunError, match="did not do the same work"):
        cases.meta_mtl(SMALL, 1)


@pytest.mark.slow
def test_pipeline_is_timed_beside_training_on_the_same_batches(monkeypatch):
    taken = []

    def seconds_of(run, steps):
        taken.append(run(steps))
        return [1.0, 8.0][len(taken) % 2]

    monkeypatch.setattr(cases, "seconds_of", seconds_of)
    result = cases.pipeline(SMALL, 2)
    check_form(result)
    assert column(result, "stream") == ["pipeline", "training"]
    [target] = result["targets"]
    assert (target["value"], target["limit"]) == (0.125, 5.0)
    pipeline, training = column(result, "samples")
    # What the pipeline counted is what its rate was computed from.
    assert [8.0 * rate for rate in pipeline] == [taken[0], taken[2]]
    assert training == [8.0 * rate for rate in pipeline]


@pytest.mark.slow
def test_epoch_trains_on_every_step_once(monkeypatch):
    taken = []
    trainer_run = contestants.trainer_run

    def counting(trainer, dataset):
        run = trainer_run(trainer, dataset)

        def counted(count):
            taken.append(count)
            return run(count)

        return counted

    monkeypatch.setattr(contestants, "trainer_run", counting)
    result = cases.epoch(SMALL, 1)
    check_form(result)
    [row] = result["rows"]
    plan = data.plan(SMALL)
    steps = plan.steps(0, plan.steps_per_epoch)
    assert row["steps"] == plan.steps_per_epoch
    # One step a bucket compiles, ahead of the epoch.
    assert sum(taken) == len(np.unique(steps.lengths)) + row["steps"]
    assert row["examples"] == np.sum(steps.rows >= 0)
    tokens, cells = plan.cells(plan.steps_per_epoch)
    padding = 100 * (1 - tokens / cells)
    assert row["padding_percent"] == pytest.approx(padding)
    total = row["compile_s"] + row["epoch_s"]
    assert row["with_compile_s"] == pytest.approx(total)
    assert [t["limit"] for t in result["targets"]] == [90.0, 3000.0]
    assert result["targets"][0]["value"] == row["with_compile_s"]


@pytest.mark.extended
def test_latency_of_four_forms_that_agree():
    result = cases.latency(SMALL, 2)
    check_form(result)
    names = ["mtl_tf_jit", "mtl_tf", "keras_rnn", "keras_rnn_jit"]
    assert column(result, "contestant") == names
    assert column(result, "times_jit")[0] == 1.0
    for row in result["rows"]:
        assert row["median_ms"] <= row["p90_ms"] <= row["p99_ms"]
    assert "5 tokens, 4 calls" in result["notes"][0]


def test_latency_compiles_our_recurrence_only_where_it_says_so():
    model = contestants.make_model(SMALL, SMALL.vocabulary)
    batch = next(iter(data.batches(SMALL, 1)))
    batch = {name: batch[name] for name in ("task", "tokens")}
    compiled = []

    def forward(batch):
        logits = model(batch)["logits"]
        graph = tf.compat.v1.get_default_graph().as_graph_def()
        compiled.append("_XlaMustCompile" in str(graph))
        return logits

    for inner in (True, False):
        cases._call(forward, batch, inner=inner)
    assert compiled == [True, False]


def test_outcomes_that_differ_are_refused():
    result_rows.check_same([1.0, 1.00005])
    with pytest.raises(RunError, match="did not do the same work"):
        result_rows.check_same([1.0, 1.001])
    with pytest.raises(RunError):
        result_rows.check_same([1.0, math.nan])


@pytest.mark.parametrize(
    ("value", "rule", "met"),
    [
        (4.0, "at least", True),
        (3.9, "at least", False),
        (4.0, "at most", True),
        (4.1, "at most", False),
    ],
)
def test_targets(value, rule, met):
    assert result_rows.make_target("x", value, rule, 4.0)["met"] is met


# Contestants


@pytest.mark.extended
def test_keras_model_has_our_parameters_and_our_scores():
    model = contestants.make_model(SMALL, SMALL.vocabulary)
    for weight in model.trainable_variables:
        draw = random.generator(1, weight.path)
        weight.assign(draw.normal(0, 0.7, weight.shape))
    other = contestants.KerasModel(model)
    sizes = [np.prod(v.shape) for v in model.trainable_variables]
    others = [np.prod(v.shape) for v in other.trainable_variables]
    assert sum(sizes) == sum(others)
    scores = []
    for batch in data.batches(SMALL, 4).take(6):
        tokens = batch["tokens"] * tf.sequence_mask([[5, 3, 1, 0]], 5, tf.int32)
        batch = {**batch, "tokens": tokens}
        scores.append(other(batch).numpy())
        ours = model(batch)["logits"][0]
        # Keras's RNN starts a text without tokens from zeros as ours does.
        np.testing.assert_allclose(scores[-1], ours, atol=1e-5)
    assert np.std(scores) > 0.1


@pytest.mark.slow
def test_contestants_lose_alike_over_many_steps():
    trainer = contestants.make_trainer(SMALL, SMALL.vocabulary)
    model = contestants.KerasModel(trainer.model)
    dataset = data.batches(SMALL, 4)
    theirs = contestants.keras_run(model, dataset)
    ours = contestants.trainer_run(trainer, dataset)
    losses = [(ours(steps), theirs(steps)) for steps in (1, 20, 20)]
    np.testing.assert_allclose(*zip(*losses), rtol=1e-4)
    assert losses[2][0] < losses[1][0]


# Data


def test_words_follow_zipf_and_are_never_padding():
    words = data.draw_words(np.random.default_rng(0), 100, 20_000)
    assert (words.min(), words.max()) == (2, 99)
    counts = np.bincount(words, minlength=100)
    assert counts[2] > 2 * counts[6] > 0
    assert counts[2] / 20_000 == pytest.approx(0.1, abs=0.03)


def test_batches_are_of_drawn_tasks_and_have_no_filler():
    sizes = dataclasses.replace(SMALL, tasks=16)
    found = list(data.batches(sizes, 4).take(32))
    assert {b["task"].shape[0] for b in found} == {1}
    assert len({int(b["task"][0]) for b in found}) > 8
    assert found[0]["tokens"].shape == (1, 4, 5)
    assert all(np.all(b["tokens"] > 1) for b in found)
    assert all(np.all(b["weight"] == 1) for b in found)
    assert all(b["normalizer"] == 4 for b in found)


def test_corpus_is_like_fdu_mtl():
    sizes = Sizes(corpus_examples=2_001, corpus_vocabulary=1_000)
    splits = data.corpus(sizes)
    assert [len(split) for split in splits] == [126] + [125] * 15
    assert len({split.name for split in splits}) == 16
    lengths = np.concatenate([split.lengths for split in splits])
    assert lengths.min() >= 1
    assert lengths.max() == 400
    assert lengths.mean() == pytest.approx(120, abs=10)
    assert 60 < np.median(lengths) < 110


def test_plan_trains_on_the_corpus():
    plan = data.plan(SMALL)
    assert len(plan.splits) == 3
    assert len(plan.boundaries) == 2
    assert plan.batch_size == 4


# Timing


def test_contestants_run_in_turns_and_begin_in_turns():
    calls = []

    def contestant(name):
        def run(steps):
            calls.append((name, steps))
            return float(len(calls))

        return run

    names = ("a", "b", "c")
    timings = compete({n: contestant(n) for n in names}, 4, 0.0)
    rounds = [name for name, _ in calls[6:]]
    assert "".join(rounds) == "abcbcacababc"
    assert {steps for _, steps in calls[6:]} == {1}
    assert calls[:2] == [("a", timing.FIRST_STEPS), ("a", 1)]
    assert timings["b"].first == 3.0
    assert all(len(t.samples) == 4 for t in timings.values())


@pytest.fixture
def clock(monkeypatch):
    """A clock that only runs when a test moves it."""
    now = [0.0]
    monkeypatch.setattr(
        timing.time, "perf_counter", lambda: now[0], raising=True
    )
    return now


def test_steps_fill_the_round_and_times_are_per_step(clock):
    taken = []

    def run(steps):
        taken.append(steps)
        # The first call compiles for 9 seconds.
        clock[0] += 0.01 * steps + (9 if len(taken) == 1 else 0)
        return 0.0

    timing = compete({"a": run}, 2, 1.0)["a"]
    assert taken[-2:] == [100, 100]
    assert timing.samples == [pytest.approx(0.01)] * 2
    assert timing.warm_up == pytest.approx(9.03)


def test_ratio_compares_each_round_in_itself():
    # The second round met a busy machine.
    slow, fast = Timing(0, 0, [4, 40, 4]), Timing(0, 0, [1, 10, 2])
    assert ratio(slow, fast) == 4
    assert slow.median == 4


def test_percentiles():
    timing = Timing(0, 0, [5, 1, 4, 2, 3, 6, 7, 8, 10, 9])
    assert timing.percentile(0.9) == 9
    assert timing.percentile(0.99) == 10
    assert timing.percentile(0.0) == 1


def test_peak_memory_is_the_process_s_own_and_a_peak():
    code = (
        "from mtl_tf.benchmarks.timing import peak_memory_mb\n"
        "before = peak_memory_mb()\n"
        "held = b'x' * 80_000_000\n"
        "del held\n"
        "print(before, peak_memory_mb() - before)\n"
    )
    status, out, err = execute("-c", code)
    assert status == 0, err
    before, more = map(float, out.split())
    # pytest itself, which started that process, is far above.
    assert before < 150
    assert 75 < more < 95
