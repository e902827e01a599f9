"""Scores a trained run: `python -m launch.evaluate`."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of a trained run, also of one with a model for each task; for "
        "--files also the file that launch.ensemble --output wrote",
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "split",
        "test",
        "split to score: train, validation, test, or any other split of the "
        "tasks' data",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "tasks to score, separated by commas; if not given: all",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "files",
        [],
        "TASK=PATH scores a file of yours instead of a split; may be "
        "repeated. The file has the format of the task's own files. If mtl_tf "
        "reads the task's corpus itself: csv or jsonl with the columns text "
        "and label; other files have lines of label, tab, text. For "
        "translation PAIR=SOURCE,REFERENCE or PAIR=TABLE",
        flag_values=values,
    )
    flags.DEFINE_string(
        "predictions_dir",
        None,
        "folder to write the predictions to, a file for each task: TASK.conll "
        "with lines of token, correct tag and predicted tag, or TASK.jsonl",
        flag_values=values,
    )
    common_flags.define_output(values)
    flags.DEFINE_bool(
        "keep",
        False,
        "store the predictions in the run for launch.compare. Training does "
        "this for the splits that it scores",
        flag_values=values,
    )
    common_flags.define_weights(values)
    common_flags.define_decoding(values)


def main(values: flags.FlagValues) -> None:
    """Scores the run and prints the table."""
    import mtl_tf
    from mtl_tf.evaluation.tables import tables

    decoding = common_flags.decoding(values)
    run = mtl_tf.load(values.model_dir, decoding, values.weights)
    known = {task["name"]: task["name"] for task in run.tasks}
    tasks = [look_up(name.strip(), known, "task") for name in values.tasks]
    if values.files:
        if tasks or values["split"].present or values.keep:
            raise ConfigError("--files takes no --split, --tasks and --keep")
        results = run.evaluate(
            predictions_dir=values.predictions_dir,
            data=parse_files(values.files, run.tasks),
        )
    else:
        results = run.evaluate(
            split=values.split,
            tasks=tasks or None,
            data_dir=values.data_dir,
            manual_dir=values.manual_dir,
            predictions_dir=values.predictions_dir,
            keep=values.keep,
        )
    streams.write_json(values.output, results)
    if values.output != "-":
        print(tables.console(results, terminal.width(sys.stdout)))


def parse_files(
    arguments: Sequence[str], tasks: Sequence[Mapping[str, Any]]
) -> dict[str, str]:
    """Reads arguments of the form `task=path`.

    Args:
        arguments: what was given as `--files`.
        tasks: the tasks of the run.

    Returns:
        Paths by task name.

    Raises:
        ConfigError: an argument has another form, names an unknown task or
            one that had a file already.
    """
    known = {task["name"]: task["name"] for task in tasks}
    paths: dict[str, str] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if not equals or not path:
            raise ConfigError(f"--files must be TASK=PATH, got {argument!r}")
        name = look_up(name, known, "task")
        if name in paths:
            raise ConfigError(f"--files names the task {name} twice")
        paths[name] = path
    return paths


PROGRAM = runner.Program(
    name="evaluate",
    summary="""
    Scores a trained run. The table has the score of each task and their mean.
    It also has both on the clean part: the examples whose text is in no
    training or validation file. The table goes to standard output.

    With --predictions_dir, it also writes the predictions into files. Tags are
    in columns that any tagging scorer reads.
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
            "The weights of the last checkpoint instead of the best ones",
            "--model_dir=runs/quickstart --split=validation --weights=last",
        ),
        (
            "A file of your own, with lines of label, tab and text",
            "--model_dir=runs/meta --files=books=my_books.tsv "
            "--output=scores.json",
        ),
        (
            "Sentences of your own, in columns of tokens and tags; writes the "
            "predicted tags as a third column",
            "--model_dir=runs/chunks --files=chunk=my_sentences.conll "
            "--predictions_dir=predicted",
        ),
        (
            "Translations of your own, with a file of sources and one of "
            "references",
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
