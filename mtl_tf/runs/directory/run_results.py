"""The structure of `results.json`."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import RunError
from mtl_tf.evaluation import environment, evaluator


def parameters_of(runs: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The total parameter counts of several models.

    Args:
        runs: facts about each run.
    """
    names = ("parameters", "trainable_parameters")
    names += ("parameters_without_embedding",)
    # Older versions counted only the trained parameters.
    return {
        name: sum(run.get(name, run["parameters"]) for run in runs)
        for name in names
    }


def parts_by_split(results: Iterable[Mapping[str, Any]]) -> list[dict]:
    """Joins the scores of runs with different tasks.

    Args:
        results: the results of each run, as `train` returns them.

    Returns:
        For each split a structure as of `evaluator.evaluate`.
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
        parts: the return value of `evaluator.evaluate` for each split.
        about: facts about the run.
    """
    first, *others = parts
    return {
        **first,
        "other_splits": {part["split"]: part for part in others},
        "run": about,
    }


def run_facts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Facts for `results.json` that do not depend on the training."""
    main = config["training"]["main_tasks"]
    return {
        "name": config["name"],
        "seed": config["seed"],
        "precision": config["training"]["mixed_precision"],
        "hardware": environment.hardware(),
        "versions": environment.versions(),
        **({"main_tasks": list(main)} if main else {}),
    }


def facts_of(results: Mapping[str, Any], path: str) -> dict[str, Any]:
    """The facts about a run (`run_facts`) in its results.

    Args:
        results: those of a finished run.
        path: their file.

    Raises:
        RunError: they have none.
    """
    if "run" not in results:
        raise RunError(
            f"{path} is damaged: run is missing. Restore it from a copy, or "
            "begin the run anew in another --model_dir"
        )
    return results["run"]
