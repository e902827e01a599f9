"""Scores a trained run: `python -m launch.evaluate`."""

import json
import math
from collections.abc import Mapping
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.programs import common_flags, runner, streams
from mtl_tf.runs import labelled_files

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
        "of the task's own files; of translation PAIR=SOURCE,REFERENCE; may be "
        "repeated",
        flag_values=values,
    )
    flags.DEFINE_string(
        "predictions_dir",
        None,
        "folder that gets a file of predictions for each task: TASK.conll, "
        "lines of token, right and predicted tag, or TASK.jsonl",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output",
        None,
        "JSON file for the results; - prints JSON in place of the table",
        flag_values=values,
    )
    common_flags.define_decoding(values)


def main(values: flags.FlagValues) -> None:
    """Scores the run and prints the table."""
    import mtl_tf
    from mtl_tf.evaluation import tables

    run = mtl_tf.load(values.model_dir, common_flags.decoding(values))
    known = {task["name"]: task["name"] for task in run.tasks}
    tasks = [look_up(name.strip(), known, "task") for name in values.tasks]
    if values.files:
        if tasks or values["split"].present:
            raise ConfigError("--files takes neither --split nor --tasks")
        results = evaluate_files(
            run,
            labelled_files.parse(values.files, run.tasks),
            values.predictions_dir,
        )
    else:
        results = run.evaluate(
            split=values.split,
            tasks=tasks or None,
            data_dir=values.data_dir,
            manual_dir=values.manual_dir,
            predictions_dir=values.predictions_dir,
        )
    if values.output:
        text = json.dumps(results, indent=2, ensure_ascii=False)
        with streams.writing(values.output) as output:
            output.write(f"{text}\n".encode())
    if values.output != "-":
        print(tables.console(results))


def evaluate_files(
    run: Any, paths: Mapping[str, str], predictions_dir: str | None = None
) -> dict[str, Any]:
    """Scores a run on labelled files.

    Args:
        run: what `mtl_tf.load` returns.
        paths: files by task name.
        predictions_dir: where to write what the run says of each example, if
            given; see `mtl_tf.evaluation.predictions`.

    Returns:
        The structure of `results.json`, with split `files` and without clean
        parts, and the path of each task's file as `file`.

    Raises:
        ConfigError: a translation task has not two files.
        DataError: a file cannot be read or has a wrong line.
    """
    from mtl_tf.evaluation import evaluator, predictions

    tasks = {task["name"]: task for task in run.tasks}
    read = {
        name: labelled_files.read(path, tasks[name], run.config["tasks"])
        for name, path in paths.items()
    }
    said = {
        name: _SAID[tasks[name]["kind"]](run, tasks[name], inputs, right)
        for name, (inputs, right) in read.items()
    }
    results = evaluator.evaluate(said.values(), "files")
    for name, path in paths.items():
        results["tasks"][name]["file"] = path
        if predictions_dir:
            predictions.write(predictions_dir, read[name][0], said[name])
    return results


def _labels(
    run: Any, task: Mapping[str, Any], texts: list[str], labels: list[int]
) -> Any:
    names = list(task["labels"])
    answers = run.predict(task["name"], texts)
    scores = [[answer["scores"][name] for name in names] for answer in answers]
    right = [row[label] for row, label in zip(scores, labels)]
    return _predictions(
        task,
        labels=labels,
        predictions=[names.index(answer["label"]) for answer in answers],
        losses=[-math.log(max(score, _SMALLEST)) for score in right],
        scores=scores,
    )


def _tags(
    run: Any,
    task: Mapping[str, Any],
    sentences: list[list[str]],
    tags: list[list[int]],
) -> Any:
    numbers = {name: number for number, name in enumerate(task["labels"])}
    answers = run.predict(task["name"], sentences)
    return _predictions(
        task,
        labels=tags,
        predictions=[[numbers[t] for t in one["tags"]] for one in answers],
        scheme=task["scheme"],
    )


def _translations(
    run: Any,
    task: Mapping[str, Any],
    sources: list[str],
    references: list[str],
) -> Any:
    answers = run.predict(task["name"], sources)
    said = [answer["translation"] for answer in answers]
    return _predictions(
        task,
        labels=references,
        predictions=said,
        bleu_tokenizer=task["bleu_tokenizer"],
        restricted=run.paper_texts(task["name"], said, references),
    )


def _predictions(task: Mapping[str, Any], **said: Any) -> Any:
    from mtl_tf.evaluation import evaluator

    return evaluator.TaskPredictions(
        name=task["name"],
        kind=task["kind"],
        class_names=list(task["labels"]),
        metrics=tuple(task["metrics"]),
        **said,
    )


_SAID = {
    "classification": _labels,
    "tagging": _tags,
    "translation": _translations,
}


PROGRAM = runner.Program(
    name="evaluate",
    summary="""
    Scores a trained run: every task by itself, their mean, and both on the
    clean part as well (the examples whose text was in no training or
    validation file). The table goes to standard output, and with
    --predictions_dir the predictions into files: columns for any scorer of
    tags.
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
        (
            "Sentences of your own, with columns of tokens and tags, and the "
            "predicted tags as a third column",
            "--model_dir=runs/chunks --files=chunk=my_sentences.conll "
            "--predictions_dir=predicted",
        ),
        (
            "Translations of your own: a file of sources, one of references",
            "--model_dir=runs/menu --files=en-de=mine.en,mine.de",
        ),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-evaluate`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
