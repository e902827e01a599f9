"""Scores a trained run: `python -m launch.evaluate`."""

import json
import math
from collections.abc import Mapping
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.programs import common_flags, runner, streams

from . import labelled_files

_SMALLEST = 1e-30  # keeps the loss of a score of 0 finite


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(values, "folder of a trained run")
    common_flags.define_data(values)
    flags.DEFINE_string(
        "split",
        "test",
        "split to score: train, validation, test, or any that the tasks' "
        "source has",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks", [], "names of tasks, a,b; all if not given", flag_values=values
    )
    flags.DEFINE_multi_string(
        "files",
        [],
        "TASK=PATH scores a file of yours in place of a split, in the format "
        "of the task's own files; may be repeated",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output",
        None,
        "JSON file for the results; - prints JSON in place of the table",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Scores the run and prints the table."""
    import mtl_tf
    from mtl_tf.evaluation import tables

    run = mtl_tf.load(values.model_dir)
    known = {task["name"]: task["name"] for task in run.tasks}
    tasks = [look_up(name.strip(), known, "task") for name in values.tasks]
    if values.files:
        if tasks or values["split"].present:
            raise ConfigError("--files takes neither --split nor --tasks")
        results = evaluate_files(
            run, labelled_files.parse(values.files, run.tasks)
        )
    else:
        results = run.evaluate(
            split=values.split,
            tasks=tasks or None,
            data_dir=values.data_dir,
            manual_dir=values.manual_dir,
        )
    if values.output:
        text = json.dumps(results, indent=2, ensure_ascii=False)
        with streams.writing(values.output) as output:
            output.write(f"{text}\n".encode())
    if values.output != "-":
        print(tables.console(results))


def evaluate_files(run: Any, paths: Mapping[str, str]) -> dict[str, Any]:
    """Scores a run on labelled files.

    Args:
        run: what `mtl_tf.load` returns.
        paths: files by task name.

    Returns:
        The structure of `results.json`, with split `files` and without clean
        parts, and the path of each task's file as `file`.
    """
    from mtl_tf.evaluation import evaluator

    tasks = {task["name"]: task for task in run.tasks}
    read = {
        name: labelled_files.read(path, tasks[name], run.config["tasks"])
        for name, path in paths.items()
    }
    predictions = [
        _predictions(run, tasks[name], texts, labels)
        for name, (texts, labels) in read.items()
    ]
    results = evaluator.evaluate(predictions, "files")
    for name, path in paths.items():
        results["tasks"][name]["file"] = path
    return results


def _predictions(
    run: Any, task: Mapping[str, Any], texts: list[str], labels: list[int]
) -> Any:
    from mtl_tf.evaluation import evaluator

    names = list(task["labels"])
    answers = run.predict(task["name"], texts)
    right = [answer["scores"][names[n]] for answer, n in zip(answers, labels)]
    return evaluator.TaskPredictions(
        name=task["name"],
        kind=task["kind"],
        class_names=names,
        metrics=tuple(task["metrics"]),
        labels=labels,
        predictions=[names.index(answer["label"]) for answer in answers],
        losses=[-math.log(max(score, _SMALLEST)) for score in right],
    )


PROGRAM = runner.Program(
    name="evaluate",
    summary="""
    Scores a trained run: every task by itself, their mean, and both on the
    clean part as well (the examples whose text was in no training or
    validation file). The table goes to standard output.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("The test sets of all tasks", "--model_dir=runs/quickstart"),
        (
            "Two tasks on their validation sets",
            "--model_dir=runs/meta --split=validation --tasks=books,dvd "
            "--manual_dir=corpora",
        ),
        (
            "A file of your own, with lines of label, tab and text",
            "--model_dir=runs/meta --files=books=my_books.tsv "
            "--output=scores.json",
        ),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-evaluate`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
