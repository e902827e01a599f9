"""The config of a run on fewer tasks than those of a config."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.pipelines import mixing
from mtl_tf.tasks import registry

#: The fields of `training` that count steps. With `steps_per_epoch`, epochs
#: are steps, too: they give the length, and the time between evaluations.
STEPS = ("steps", "min_steps", "steps_per_epoch", "evaluate_every")
#: Fields of configs from here that older versions derived in another way. A
#: run that has begun keeps its own; see `RunDirectory.as_begun`.
DERIVED = (
    "text.vocabulary_tasks",
    "evaluation.group",
    "pipeline.mixing",
    "training.main_tasks",
    "training.loss_weights",
    "training.best_per_task",
    *(f"training.{name}" for name in STEPS),
)


def config_for(
    config: Mapping[str, Any], entries: Sequence[registry.Entry]
) -> dict[str, Any]:
    """The config of a run on some of a config's tasks.

    What the config says of tasks that are left out goes. Names of no task at
    all stay among main tasks and weights, where they are refused later.

    Args:
        config: the config of all tasks.
        entries: the entries of those that are left, one for each task.
    """
    every = list(
        map(registry.name_of, registry.single_entries(config["tasks"]))
    )
    left = set(map(registry.name_of, entries))
    absent = set(every) - left
    pipeline, training = config["pipeline"], config["training"]
    mixed = mixing.without_tasks(pipeline["mixing"], absent)
    return {
        **config,
        "tasks": list(entries),
        "pipeline": {
            **pipeline,
            "fractions": {
                name: part
                for name, part in pipeline["fractions"].items()
                if name in left
            },
            "mixing": _with_phases_of(mixed, left),
        },
        "training": {
            **training,
            "main_tasks": [
                n for n in training["main_tasks"] if n not in absent
            ],
            "loss_weights": {
                name: weight
                for name, weight in training["loss_weights"].items()
                if name not in absent
            },
        },
    }


def _with_phases_of(mixed: Mapping[str, Any], left: set[str]) -> dict[str, Any]:
    """The mixing with phases of the tasks that are left.

    Without any, it is the mixing that comes after them. Unlike weights, phases
    also lose names of no task: those of a table's config name all of its tasks,
    and the table may be asked for with few of them.
    """
    if not mixed.get("phases"):
        return dict(mixed)
    phases = [
        {**phase, "tasks": [name for name in phase["tasks"] if name in left]}
        for phase in mixed["phases"]
    ]
    phases = [phase for phase in phases if phase["tasks"]]
    if phases:
        return {**mixed, "phases": phases}
    after = mixed.get("mixing") or "uniform"
    return {"name": after} if isinstance(after, str) else dict(after)


def part_of(
    config: Mapping[str, Any], entries: Sequence[registry.Entry]
) -> dict[str, Any]:
    """The config of one of several runs that together are of all tasks.

    It has the vocabulary of all of them: with that of its own texts alone, it
    would lack many of the pretrained vectors. It is scored on the texts that
    none of them has trained on. Of one task, there is nothing to choose or to
    balance.

    Args:
        config: the config of all tasks.
        entries: see `config_for`.
    """
    part, everything = config_for(config, entries), list(config["tasks"])
    text, evaluation = config["text"], config["evaluation"]
    known = text["vocabulary_tasks"] or everything
    alone = {"main_tasks": [], "loss_weights": {}, "best_per_task": False}
    return {
        **part,
        "text": {**text, "vocabulary_tasks": known},
        "evaluation": {
            **evaluation,
            "group": evaluation["group"] or everything,
        },
        "training": part["training"] | (alone if len(entries) == 1 else {}),
    }


def share_of_steps(training: Mapping[str, Any], parts: int) -> dict[str, Any]:
    """The `training` with one of equal shares of the steps, rounded up.

    Args:
        training: of the config of all tasks.
        parts: the number of shares.
    """
    shares = {name: -(-training[name] // parts) for name in STEPS}
    return {**training, **shares}
