"""Exports a trained run for TensorFlow Serving: `export.saved_model`."""

import os
from typing import TYPE_CHECKING

from absl import flags, logging

from mtl_tf.core import checks, files
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.core.names import RESERVED_TASKS
from mtl_tf.programs import common_flags, runner

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_ensemble import LoadedEnsemble
    from mtl_tf.runs.loaded.loaded_run import Run

    Source = Run | LoadedEnsemble

WEIGHTS = ("float32", "bfloat16", "int8")


def next_version(export_dir: str) -> int:
    """One more than the largest version in `export_dir`, or 1."""
    names = os.listdir(export_dir) if os.path.isdir(export_dir) else []
    return max((int(n) for n in names if n.isdecimal()), default=0) + 1


def export(
    source: "Source",
    export_dir: str,
    version: int = 0,
    weights: str = "float32",
) -> str:
    """Writes a run or an ensemble as one version directory of a SavedModel.

    The export has float32 weights and computes in float32, in whatever
    precision the run was trained, as servers' processors do best. It has a
    signature for each task, by the task's name, with the inputs and outputs of
    its type, such as `text -> label, scores, classes` (see
    `export.task_types`). If all tasks have one type, `serving_default(text,
    task)` takes rows of any task (for question answering
    `serving_default(question, context)`). Several types have different outputs,
    so there is no `serving_default`. The vocabularies are saved as assets.
    Labels, results, decoding options and warm-up requests are in
    `assets.extra`.

    Args:
        source: the return value of `mtl_tf.load`.
        export_dir: the parent of the versions, as a model server expects.
        version: the version number; 0 for the next free one.
        weights: the format of the stored weights; see `stored_weights`.

    Returns:
        The version directory.

    Raises:
        RunError: the version exists already, or `export_dir` is not writable.
        ConfigError: a task has the name of a reserved signature, the format of
            weights is unknown, or the run was loaded with its last weights.
    """
    check(source, export_dir, version, weights)
    for run in source.runs:
        if not run.directory.has("results.json"):
            logging.warning(
                "The training in %s has not come to its end: its best weights "
                "so far are exported.",
                run.directory.path,
            )
    with files.hidden_directory(_path(export_dir, version)) as directory:
        _write(source, directory, weights)
        return _published(directory, export_dir, version)


def _write(source: "Source", directory: str, weights: str) -> None:
    from . import served_graph, writing

    writing.write(served_graph.of(source, weights), directory)


def check(
    source: "Source", export_dir: str, version: int, weights: str
) -> None:
    """Refuses what `export` refuses, with the same arguments and errors."""
    from mtl_tf.runs.loaded.single_runs import SingleRuns

    if not export_dir:
        raise ConfigError("export_dir must name a folder, got ''")
    checks.one_of("weights", weights, WEIGHTS)
    if isinstance(source, SingleRuns):
        raise ConfigError(
            f"{source.directory.path} holds one run for each task: export one "
            f"of {source.directory.file('tasks')}/*"
        )
    for run in source.runs:
        run.check_best("an export, with its results.json,")
    checks.not_negative_integer("version", version)
    for task in source.tasks:
        # Configs refuse such names, but a run may be older than that check.
        if task["name"] in RESERVED_TASKS:
            raise ConfigError(
                f"a task cannot be exported under the name {task['name']!r}: "
                f"{', '.join(RESERVED_TASKS)} are reserved"
            )
    with files.hidden_directory(_path(export_dir, version)):
        pass  # It will be created.


def _path(export_dir: str, version: int) -> str:
    return os.path.join(export_dir, str(version or next_version(export_dir)))


def _published(directory: str, export_dir: str, version: int) -> str:
    """Renames a complete export to its version and returns the path.

    Another export may have taken the version in the meantime.
    """
    while True:
        path = _path(export_dir, version)
        try:
            files.publish(directory, path)
        except RunError:
            if version:
                raise
        else:
            return path


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "model_dir",
        None,
        "folder of the trained run, or the file that launch.ensemble --output "
        "wrote, for the mean of its runs' probabilities",
        flag_values=values,
    )
    flags.DEFINE_string(
        "export_dir",
        None,
        "folder to write the numbered version to, in the layout of model "
        "servers",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "version",
        0,
        "number of the version; 0 for the next one",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "weights",
        "float32",
        WEIGHTS,
        "type of the stored weights. bfloat16 and int8 (with a scale for each "
        "channel) are converted to float32 when a text is read. The change of "
        "the scores is printed",
        flag_values=values,
    )
    flags.DEFINE_string(
        "score_split",
        "validation",
        'split on which to measure the change of the scores; "" for none',
        flag_values=values,
    )
    common_flags.define_data(values)
    common_flags.define_decoding(values)
    common_flags.define_alignments(values, "as an output of signatures")


def main(values: flags.FlagValues) -> None:
    """Exports and prints the version directory."""
    import tensorflow as tf

    # With a visible GPU, an export can contain kernels for GPUs only.
    tf.config.set_visible_devices([], "GPU")
    import mtl_tf
    from mtl_tf.training.signals import sigterm_raises

    source = mtl_tf.load(values.model_dir, common_flags.decoding(values))
    with sigterm_raises("stopped before the export was complete"):
        # Before writing anything, as a flag may be wrong.
        check(source, values.export_dir, values.version, values.weights)
        change = _change(source, values)
        path = export(source, values.export_dir, values.version, values.weights)
    if values.weights != "float32":
        _print_size(source, path, values.weights)
    for name, (metric, before, after) in change.items():
        print(
            f"{name} {values.score_split} {metric}: {before:.2f} as float32, "
            f"{after:.2f} as {values.weights}, {after - before:+.2f}"
        )
    logging.info("Check it with: %s --model=%s", _check_command(), path)
    print(path)


def _change(source: "Source", values: flags.FlagValues) -> dict[str, tuple]:
    """How much the stored format changes the scores, if asked for."""
    from . import stored_weights

    if values.weights == "float32" or not values.score_split:
        return {}
    if source.runs != [source]:
        logging.warning(
            "What %s costs is not measured for an ensemble: export one of its "
            "runs to see it.",
            values.weights,
        )
        return {}
    run = source
    directories = Directories(values.data_dir, values.manual_dir)
    try:
        return stored_weights.change_of_scores(
            run, values.weights, values.score_split, directories
        )
    except DataError as error:
        logging.warning("The scores are not compared: %s", error)
        return {}
    finally:
        run.loaded = None  # its weights are rounded now


def _print_size(source: "Source", path: str, weights: str) -> None:
    """Prints how much space the stored format saves."""
    size = sum(
        os.path.getsize(os.path.join(path, "variables", name))
        for name in os.listdir(os.path.join(path, "variables"))
    )
    full_size = 0
    for run in source.runs:
        copies = len({run.weights_for(task["name"]) for task in run.tasks})
        full_size += 4 * copies * run.model.count_params()
    print(
        f"weights: {size / 1e6:.1f} MB as {weights}, "
        f"{full_size / 1e6:.1f} MB as float32"
    )


def _check_command() -> str:
    """The command of `export.check` for the way this program was started."""
    if PROGRAM.command() == PROGRAM.installed_as():
        return "mtl-check"  # The package `export` is not here to start.
    return "python -m export.check"


PROGRAM = runner.Program(
    name="saved_model",
    package="export",
    script="mtl-export",
    summary="""
    Exports the best weights of a trained run as a SavedModel that takes raw
    strings. It has a signature for each task. If all tasks are of one type,
    serving_default takes texts of any task. An export is complete or absent.
    Existing versions are never changed.

    An ensemble can be exported, too: its graph holds all runs, and answers with
    the mean of their probabilities.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Export a run",
            "--model_dir=runs/quickstart --export_dir=runs/quickstart/export",
        ),
        (
            "A quarter of the size",
            "--model_dir=runs/quickstart --export_dir=runs/small "
            "--weights=int8",
        ),
        (
            "The runs of an ensemble in one graph",
            "--model_dir=ensemble.json --export_dir=runs/ensemble",
        ),
    ),
    required=("model_dir", "export_dir"),
)


def run() -> None:
    """Entry point of `mtl-export`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
