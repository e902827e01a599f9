"""The structure of `results.json`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.evaluation import environment, evaluator


def parameters_of(runs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The numbers of parameters of several models together.

    Args:
        runs: facts of each one's run.
    """
    names = ("parameters", "trainable_parameters")
    names += ("parameters_without_embedding",)
    # Those of older versions counted what is trained alone.
    return {
        name: sum(run.get(name, run["parameters"]) for run in runs)
        for name in names
    }


def parts_by_split(results: Iterable[Mapping[str, Any]]) -> list[dict]:
    """The scores of runs with different tasks as those of one run.

    Args:
        results: of each run, as `train` returns them.

    Returns:
        A structure as `evaluator.evaluate` returns it for each split.
    """
    collected: dict[str, dict] = {}
    for result in results:
        for part in (result, *result["other_splits"].values()):
            collected.setdefault(part["split"], {}).update(part["tasks"])
    return [
        {"split": split, "tasks": scores, "mean": evaluator.mean(scores)}
        for split, scores in collected.items()
    ]


def joined(parts: Sequence[dict], about: dict[str, Any]) -> dict[str, Any]:
    """The structure of `results.json`.

    Args:
        parts: what `evaluator.evaluate` returned for each split.
        about: facts of the run.
    """
    first, *others = parts
    return {
        **first,
        "other_splits": {part["split"]: part for part in others},
        "run": about,
    }


def run_facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Facts for `results.json` that do not depend on what was trained."""
    return {
        "name": config["name"],
        "seed": config["seed"],
        "precision": config["training"]["mixed_precision"],
        "hardware": environment.hardware(),
        "versions": environment.versions(),
    }
