"""The benchmark cases by name, and those that use a whole corpus."""

import statistics
import time
from collections.abc import Callable

import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.benchmarks import contestants
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks.crf import crf
from mtl_tf.benchmarks.encoder import encoder
from mtl_tf.benchmarks.mqan import mqan
from mtl_tf.benchmarks.result_rows import (
    Result,
    check_same,
    make_target,
)
from mtl_tf.benchmarks.scaling import scaling
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.steps import arc_ii, meta_mtl
from mtl_tf.benchmarks.timing import (
    Run,
    compete,
    peak_memory_mb,
    ratio,
    seconds_of,
)
from mtl_tf.benchmarks.transformer import transformer
from mtl_tf.benchmarks.translation import beam_search, translation
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.pipelines.batches import BatchPlan, training_dataset
from mtl_tf.training.trainer import Trainer

# Number of steps taken before timing starts, to use up prefetched batches.
_DRAINED = 96


def _batches_between(plan: BatchPlan, start: int, stop: int) -> dict[str, int]:
    """Numbers of examples, tokens and cells (with padding) in the steps."""
    steps = plan.steps(start, stop)
    counts = {"examples": int(np.sum(steps.rows >= 0)), "tokens": 0}
    for task, split in enumerate(plan.splits):
        rows = steps.rows[steps.tasks == task]
        counts["tokens"] += int(split.lengths[rows[rows >= 0]].sum())
    counts["cells"] = int(steps.lengths.sum()) * plan.batch_size
    return counts


def _trained_corpus(sizes: Sizes) -> tuple[BatchPlan, Trainer, float]:
    """Plan, trainer, and the seconds until every bucket was compiled."""
    plan = data.plan(sizes)
    logging.info(
        "%d examples, buckets %s", sizes.corpus_examples, plan.boundaries
    )
    start = time.perf_counter()
    trainer = contestants.make_trainer(sizes, sizes.corpus_vocabulary)
    lengths = plan.steps(0, plan.steps_per_epoch).lengths
    _, places = np.unique(lengths, return_index=True)
    for place in places:
        dataset = training_dataset(plan, int(place), stop_step=int(place) + 1)
        contestants.trainer_run(trainer, dataset)(1)
    seconds = time.perf_counter() - start
    logging.info("%d lengths compiled in %.1f s", len(places), seconds)
    return plan, trainer, seconds


def pipeline(sizes: Sizes, rounds: int) -> Result:
    """Examples per second of the input pipeline, and of training on it."""
    plan, trainer, _ = _trained_corpus(sizes)

    @tf.function(reduce_retracing=True)
    def consume(iterator, steps):
        examples = tf.constant(0.0)
        for _ in tf.range(steps):
            examples += tf.reduce_sum(next(iterator)["weight"])
        return examples

    def alone(dataset):
        iterator = trainer.iterate(lambda replicas, part: dataset)
        return lambda steps: float(consume(iterator, tf.constant(steps)))

    def training(dataset):
        return contestants.trainer_run(trainer, dataset)

    steps, rates = sizes.pipeline_steps, {"pipeline": [], "training": []}
    for number in range(rounds):
        first = _DRAINED + number * steps
        examples = _batches_between(plan, first, first + steps)["examples"]
        for name, make in (("pipeline", alone), ("training", training)):
            # Both start at the same steps with nothing prefetched.
            drained = _DRAINED if name == "pipeline" else 1
            run = make(training_dataset(plan, first - drained))
            run(drained)
            rates[name].append(examples / seconds_of(run, steps))
        logging.info("round %d of %d", number + 1, rounds)
    return _pipeline_result(rates, sizes)


def _pipeline_result(rates: dict[str, list[float]], sizes: Sizes) -> Result:
    pairs = zip(rates["pipeline"], rates["training"])
    times = statistics.median(p / t for p, t in pairs)
    rows = [
        {
            "stream": name,
            "examples_per_s": statistics.median(samples),
            "slowest": min(samples),
            "fastest": max(samples),
            "batches_per_s": statistics.median(samples) / sizes.corpus_batch,
            "samples": samples,
        }
        for name, samples in rates.items()
    ]
    description = "examples a second of the pipeline alone over training's"
    return {
        "rows": rows,
        "targets": [make_target(description, times, "at least", 5.0)],
        "notes": ["both over the same batches, each with all cores"],
    }


def epoch(sizes: Sizes, rounds: int) -> Result:
    """One epoch over all tasks, whatever the number of rounds."""
    del rounds
    plan, trainer, compile_seconds = _trained_corpus(sizes)
    steps = plan.steps_per_epoch
    counts = _batches_between(plan, 0, steps)
    run = contestants.trainer_run(trainer, training_dataset(plan))
    start, step, last_logged = time.perf_counter(), 0, 0.0
    processor = time.process_time()
    while step < steps:
        now = min(25, steps - step)
        run(now)
        step += now
        seconds = time.perf_counter() - start
        if seconds - last_logged > 10:
            last_logged = seconds
            logging.info("step %d of %d, %.0f s", step, steps, seconds)
    processor = time.process_time() - processor
    memory = peak_memory_mb()
    row = {
        "steps": steps,
        "examples": counts["examples"],
        "tokens": counts["tokens"],
        "padding_percent": 100 * (1 - counts["tokens"] / counts["cells"]),
        "compile_s": compile_seconds,
        "epoch_s": seconds,
        "with_compile_s": compile_seconds + seconds,
        "cpu_s": processor,
        "steps_per_s": steps / seconds,
        "tokens_per_s": counts["tokens"] / seconds,
        "peak_mb": memory,
    }
    total = row["with_compile_s"]
    return {
        "rows": [row],
        "targets": [
            make_target("seconds, with compilation", total, "at most", 90.0),
            make_target("peak memory in MB", memory, "at most", 3000.0),
        ],
        "notes": [
            "from encoded texts in memory; compile_s builds the model and "
            f"compiles the lengths {plan.boundaries}; cpu_s: processor time "
            "of the epoch on all cores together"
        ],
    }


# Latency


def latency(sizes: Sizes, rounds: int) -> Result:
    """The forward pass of a single text per call."""
    model = contestants.make_model(sizes, sizes.vocabulary)
    other = contestants.KerasModel(model)
    batch = next(iter(data.batches(sizes, 1)))
    batch = {name: batch[name] for name in ("task", "tokens")}
    forward = {
        "mtl_tf_jit": _call(lambda b: model(b)["logits"], batch, inner=True),
        "mtl_tf": _call(lambda b: model(b)["logits"], batch, inner=False),
        "keras_rnn": _call(lambda b: other(b), batch),
        "keras_rnn_jit": _call(lambda b: other(b), batch, jit_compile=True),
    }
    timings = compete(forward, rounds * sizes.latency_calls, 0.0)
    check_same([timing.first for timing in timings.values()])
    ours = timings["mtl_tf_jit"]
    rows = [
        {
            "contestant": name,
            "median_ms": 1e3 * timing.median,
            "p90_ms": 1e3 * timing.percentile(0.9),
            "p99_ms": 1e3 * timing.percentile(0.99),
            "times_jit": ratio(timing, ours),
            "warm_up_s": timing.warm_up,
        }
        for name, timing in timings.items()
    ]
    calls = rounds * sizes.latency_calls
    note = f"one text of {sizes.length} tokens, {calls} calls each, in turns"
    return {"rows": rows, "targets": [], "notes": [note]}


def _call(
    function: Callable,
    batch: dict[str, tf.Tensor],
    inner: bool | None = None,
    jit_compile: bool = False,
) -> Run:
    """Calls a compiled function; `inner` is the jit of the recurrence."""
    compiled = tf.function(function, jit_compile=jit_compile, autograph=False)
    with recurrence.options(jit=inner):
        concrete = compiled.get_concrete_function(batch)

    def run(steps: int) -> float:
        for _ in range(steps):
            logits = concrete(batch).numpy()
        return float(logits.ravel()[0])

    return run


CASES = {
    "meta_mtl": meta_mtl,
    "arc_ii": arc_ii,
    "transformer": transformer,
    "encoder": encoder,
    "pipeline": pipeline,
    "epoch": epoch,
    "latency": latency,
    "crf": crf,
    "translation": translation,
    "beam_search": beam_search,
    "mqan": mqan,
    "scaling": scaling,
}
