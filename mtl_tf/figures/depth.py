"""Accuracy of finished runs against their number of layers."""

import dataclasses
from collections.abc import Iterable, Mapping

from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.evaluation.tables.spread import spread
from mtl_tf.runs.directory.run_directory import RunDirectory

# How figures name the structures of Sun (2019).
_TITLES = {"s_p": "S-P", "s_c": "S-C", "l_i": "L-I", "l_e": "L-E"}


@dataclasses.dataclass(frozen=True)
class Depth:
    """A finished run.

    Attributes:
        structure: what it is called.
        layers: how many its scheme has.
        score: its mean over the tasks' primary metrics, in percent.
        split: of which split.
    """

    structure: str
    layers: int
    score: float
    split: str


def read(path: str, structure: str = "") -> Depth:
    """Reads a run directory.

    Args:
        path: the run directory; of a model for each task, the whole.
        structure: the name, "" for that of the scheme.

    Raises:
        RunError: it holds no finished run.
        ConfigError: its scheme has no layers to count.
    """
    directory = RunDirectory(path)
    for name in ("config.json", "results.json"):
        if not directory.has(name):
            raise RunError(f"{path} holds no finished run: it has no {name}")
    config = directory.read("config.json")
    scheme = config["model"]["scheme"]
    if "layers" not in scheme:
        raise ConfigError(
            f"the run {path} has no number of layers (model.scheme.layers in "
            f"its config): its scheme is {scheme['name']}"
        )
    if not structure:
        structure = _TITLES.get(scheme["name"], scheme["name"])
        if config["train_separately"]:
            structure += ", single tasks"
    results = directory.read("results.json")
    score = results["mean"]["overall"]
    return Depth(structure, scheme["layers"], score, results["split"])


def lines(
    depths: Iterable[Depth],
) -> Mapping[str, list[tuple[int, float, float, int]]]:
    """The lines of a figure.

    Returns:
        By structure, in the order of the runs: per number of layers that
        number, the mean score, its standard deviation (0 for one run) and
        the number of runs, from few layers to many.

    Raises:
        ConfigError: the runs were scored on different splits.
    """
    scores_of: dict[str, dict[int, list[float]]] = {}
    splits = set()
    for depth in depths:
        splits.add(depth.split)
        by_layers = scores_of.setdefault(depth.structure, {})
        by_layers.setdefault(depth.layers, []).append(depth.score)
    if len(splits) > 1:
        raise ConfigError(
            f"the runs were scored on different splits: {sorted(splits)}"
        )
    return {
        structure: [
            (layers, *_mean_and_deviation(scores), len(scores))
            for layers, scores in sorted(by_layers.items())
        ]
        for structure, by_layers in scores_of.items()
    }


def _mean_and_deviation(scores: list[float]) -> tuple[float, float]:
    known = spread(scores)
    return known["mean"], known["std"] or 0.0
