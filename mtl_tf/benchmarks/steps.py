"""Benchmark cases: training steps of recurrent models."""

from absl import logging

from mtl_tf.benchmarks import contestants
from mtl_tf.benchmarks import made_data as data
from mtl_tf.benchmarks.result_rows import (
    Result,
    check_same,
    make_row,
    make_target,
)
from mtl_tf.benchmarks.sizes import Sizes
from mtl_tf.benchmarks.timing import Run, compete

_RATIOS = {
    16: {"keras_rnn": 4.0, "keras_rnn_jit": 2.0, "keras_rnn_jit_part": 2.0},
    64: {"keras_rnn": 2.0, "keras_rnn_jit": 1.25, "keras_rnn_jit_part": 1.25},
}


def meta_mtl(sizes: Sizes, rounds: int) -> Result:
    """A training step, compared with the same cell in `keras.layers.RNN`."""
    result = {"rows": [], "targets": [], "notes": []}
    for batch in sizes.batches:
        logging.info("batch %d", batch)
        timings = compete(
            _contestants(sizes, batch), rounds, sizes.round_seconds
        )
        check_same([timing.first for timing in timings.values()])
        ours = timings["mtl_tf"]
        for name, timing in timings.items():
            row = make_row(timing, ours, batch=batch, contestant=name)
            tokens = batch * sizes.length / timing.median
            result["rows"].append(row | {"tokens_per_s": tokens})
            if limit := _RATIOS.get(batch, {}).get(name):
                description = f"batch {batch}: time of {name} over mtl_tf's"
                result["targets"].append(
                    make_target(
                        description, row["times_ours"], "at least", limit
                    )
                )
    result["notes"] += [
        "embedding, head, loss and optimizer are part of every step; all "
        "contestants start from the same parameters and read the same "
        "batches, and their first losses agree",
        "keras_rnn: a plain tf.function; keras_rnn_jit: the step in "
        "jit_compile=True; keras_rnn_jit_part: all of it but the "
        "optimizer's update",
    ]
    return result


def _contestants(sizes: Sizes, batch: int) -> dict[str, Run]:
    dataset = data.batches(sizes, batch)
    trainer = contestants.make_trainer(sizes, sizes.vocabulary)
    forms = {
        "keras_rnn": "",
        "keras_rnn_jit": "step",
        "keras_rnn_jit_part": "gradients",
    }
    # Copied now, because our first steps change the initial values.
    runs = {
        name: contestants.keras_run(
            contestants.KerasModel(trainer.model), dataset, compiled
        )
        for name, compiled in forms.items()
    }
    return {"mtl_tf": contestants.trainer_run(trainer, dataset), **runs}


def arc_ii(sizes: Sizes, rounds: int) -> Result:
    """A training step of each scheme of paper 1, and of an LSTM per task."""
    sizes = sizes.of_memories()
    lstm = {"name": "lstm", "units": sizes.units, "sharing": "private"}
    schemes = {"lstm": lstm} | {
        name: contestants.memory_scheme(sizes, name)
        for name in ("me_lstm", "arc_i", "arc_ii")
    }
    result = {"rows": [], "targets": [], "notes": []}
    for batch in sizes.batches:
        logging.info("batch %d", batch)
        runs = {
            name: contestants.trainer_run(
                contestants.make_trainer(sizes, sizes.vocabulary, scheme),
                data.batches(sizes, batch),
            )
            for name, scheme in schemes.items()
        }
        timings = compete(runs, rounds, sizes.round_seconds)
        for name, timing in timings.items():
            row = make_row(timing, timings["lstm"], batch=batch, scheme=name)
            row["times_lstm"] = row.pop("times_ours")
            result["rows"].append(row)
        times = result["rows"][-1]["times_lstm"]
        description = f"batch {batch}: time of arc_ii over lstm's"
        result["targets"].append(
            make_target(description, times, "at most", 3.0)
        )
    result["notes"].append(
        "all with parameters per task, in the trainer of launch.train; the "
        "paper claims 2 for ARC-II"
    )
    return result
