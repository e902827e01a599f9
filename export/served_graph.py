"""What an export serves: of one run, or of an ensemble of runs."""

import dataclasses
import itertools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import ConfigError
from mtl_tf.runs.building import build
from mtl_tf.runs.loaded.loaded_ensemble import LoadedEnsemble
from mtl_tf.runs.loaded.loaded_run import Run

from .averaged import Averaged, Part
from .serving import Served, Tensors, all_served, functions
from .stored_weights import StoredWeights


@dataclasses.dataclass(frozen=True)
class ServedGraph:
    """The functions of an export, and what they read.

    Attributes:
        functions: the function of each signature, strings to outputs.
        inputs: the names of the inputs of each task's signature.
        names_tasks: whether each row of `serving_default` names its task.
        weights: the stored weights of all models.
        tables: the lookup tables of all vocabularies.
        files: further JSON files, by name.
    """

    functions: Mapping[str, Callable[..., Tensors]]
    inputs: Mapping[str, Sequence[str]]
    names_tasks: bool
    weights: Sequence[StoredWeights]
    tables: Sequence[Any]
    files: Mapping[str, Any]


def of(source: Run | LoadedEnsemble, form: str) -> ServedGraph:
    """The graph of a run or an ensemble.

    Args:
        source: the run or the ensemble.
        form: the format of the stored weights; see `stored_weights`.

    Raises:
        ConfigError: a task of an ensemble has no probabilities to average.
    """
    if isinstance(source, LoadedEnsemble):
        return _of_ensemble(source, form)
    served, weights = _served(source, form)
    names = ("labels.json", "results.json", "config.json")
    files = {
        name: source.directory.read(name)
        for name in names
        if source.directory.has(name)
    }
    for item in served.values():
        files |= item.extra
    return ServedGraph(
        functions(served, source.tasks),
        {n: item.inputs for item in served.values() for n in item.names},
        next(iter(served.values())).names_tasks,
        weights,
        _tables(source, served),
        files,
    )


def _of_ensemble(ensemble: LoadedEnsemble, form: str) -> ServedGraph:
    served, weights, tables = {}, [], []
    for run in ensemble.runs:
        names = {t["name"] for t in run.tasks} & set(ensemble.members)
        served[id(run)], more = _served(run, form, names)
        weights += more
        tables += _tables(run, served[id(run)])
    parts: dict[str, list[Part]] = {}
    by_type: dict[str, list[int]] = {}
    for number, task in enumerate(ensemble.tasks):
        name = task["name"]
        by_type.setdefault(task["type"], []).append(number)
        parts[name] = []
        for run, weight, order in ensemble.members[name]:
            of_type: Served = served[id(run)][task["type"]]
            if of_type.answers is None:
                raise ConfigError(
                    f"the task {name} is of the type {task['type']}, which has "
                    "no probabilities of whole examples to average"
                )
            function = of_type.for_task(run.task_index(name))
            parts[name].append(Part(function, order, weight, of_type))
    averaged = {
        task_type: Averaged(ensemble.tasks, numbers, parts)
        for task_type, numbers in by_type.items()
    }
    return ServedGraph(
        functions(averaged, ensemble.tasks),
        {n: item.inputs for item in averaged.values() for n in item.names},
        True,
        weights,
        tables,
        {
            "labels.json": {"tasks": list(ensemble.tasks)},
            "results.json": ensemble.results,
        },
    )


def _served(
    run: Run, form: str, names: Collection[str] = ()
) -> tuple[dict[str, Served], list[StoredWeights]]:
    """How a run's tasks are served, by type, and its stored weights.

    Args:
        run: the run.
        form: the format of the stored weights.
        names: the names of the served tasks; all by default.
    """
    models = _models(run, names)
    # Stored instead of the models, as Keras's archive writes their weights
    # twice.
    stored = {
        number: StoredWeights(model, form)
        for number, model in {id(m): m for m in models if m is not None}.items()
    }
    return all_served(run, models, stored), list(stored.values())


def _tables(run: Run, served: Mapping[str, Served]) -> list[Any]:
    of_types = [item.tables for item in served.values()]
    return [*run.encoder.tables, *itertools.chain(*of_types)]


def _models(run: Run, names: Collection[str] = ()) -> list:
    """The model of each task; copies where fine-tuned weights differ.

    None for a task that `names` lacks, if there are any.
    """
    by_weights: dict[str, Any] = {}
    models = []
    for task in run.tasks:
        if names and task["name"] not in names:
            models.append(None)
            continue
        path = run.weights_for(task["name"])
        if path not in by_weights:
            # An export computes in float32, whatever the precision of training.
            training = {**run.config["training"], "mixed_precision": "float32"}
            config = {**run.config, "training": training}
            copy = build(config, run.encoder, run.tasks)
            copy.set_weights(run.model.get_weights())
            by_weights[path] = copy
        models.append(by_weights[path])
    return models
