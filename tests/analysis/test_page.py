"""What stands on a page, from results made by hand."""

import pytest

from mtl_tf.analysis.page import page
from mtl_tf.analysis.run_analysis import Analysis
from mtl_tf.evaluation.evaluator import evaluate
from mtl_tf.evaluation.scoring import TaskPredictions

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def errors(*sizes):
    """Two tasks of numbers: one of two is right, the other so far off."""
    tasks = [
        TaskPredictions(
            name,
            labels=[1.0, 2.0],
            predictions=[1.0 + size, 2.0],
            class_names=(),
            type="regression",
            metrics=("mse",),
        )
        for name, size in zip(("stars", "price"), sizes)
    ]
    return evaluate(tasks, "test")


def shown(*results):
    seeds = list(range(len(results)))
    paths = [f"seed_{seed}" for seed in seeds]
    histories = [[] for _ in results]
    return page(
        Analysis(paths, seeds, "test", list(results), {}, histories, {}, "")
    )


def test_a_mean_of_errors_is_an_error():
    """It has the sign and the decimals of the scores above it."""
    one = shown(errors(0.2, 0.1))
    assert ">0.0125<" in one and "-0.0" not in one
    several = shown(errors(0.2, 0.1), errors(0.4, 0.2))
    # Means of 0.0125 and 0.05 of the seeds; their standard deviation.
    for number in ("0.0125", "0.0500", "0.0312", "0.0265"):
        assert f">{number}<" in several
    assert "-0.0" not in several
