"""Scores the mean of several runs: `python -m launch.ensemble`."""

import contextlib
import glob
import os
import sys

from absl import flags

from mtl_tf.core import files, terminal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_multi_string(
        "model_dir",
        [],
        "folder of a finished run of launch.train or launch.baseline, folder "
        "of seeds (seed_1, seed_2, ... or seed=1, ...), or a pattern such as "
        "'runs/seed_*'; may be repeated, or given without the flag's name",
        flag_values=values,
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "split",
        "test",
        "split to score in addition to the validation split",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "tasks to score, separated by commas; if not given: those that all "
        "runs have",
        flag_values=values,
    )
    flags.DEFINE_bool(
        "greedy",
        False,
        "choose the runs and their weights on the validation examples. In "
        "each round, the run that helps most is added; a run can be added "
        "more than once",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "rounds", 20, "rounds of --greedy", lower_bound=1, flag_values=values
    )
    flags.DEFINE_integer(
        "draws",
        2000,
        "number of test sets that the paired bootstrap draws. It compares the "
        "ensemble with the run that is best on the validation examples",
        lower_bound=1,
        flag_values=values,
    )
    common_flags.define_output(
        values, more=", which can be used as training.teachers"
    )
    flags.DEFINE_string(
        "save_probabilities",
        None,
        "folder to write TASK.npz to: the mean probabilities of the training "
        "and validation texts, for training.teachers",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Averages, scores, and prints the tables."""
    if values["rounds"].present and not values.greedy:
        raise ConfigError("--rounds does nothing without --greedy")
    paths = [path for pattern in values.model_dir for path in matching(pattern)]
    with contextlib.ExitStack() as stack:
        folder = values.save_probabilities
        if folder:
            stack.enter_context(files.no_empty_directories(folder))
            files.make_directory(folder)
        _average(values, paths)


def _average(values: flags.FlagValues, paths: list[str]) -> None:
    from mtl_tf.evaluation.tables import folding
    from mtl_tf.experiments import compare, ensemble

    directories = Directories(values.data_dir, values.manual_dir)
    saved = ("train", ensemble.VALIDATION) if values.save_probabilities else ()
    averaged = ensemble.ensemble(
        paths,
        values.split,
        [name.strip() for name in values.tasks],
        values.rounds if values.greedy else 0,
        directories,
        saved,
    )
    results = averaged.to_json(values.split, values.draws)
    if saved:
        ensemble.save_probabilities(
            averaged, values.save_probabilities, saved, directories
        )
    streams.write_json(values.output, results)
    if values.output == "-":
        return
    columns = terminal.width(sys.stdout)
    for split in dict.fromkeys([ensemble.VALIDATION, values.split]):
        rows = ensemble.table(results, split)
        for block in folding.blocks(rows, columns):
            print("\n".join(block) + "\n")
    best = averaged.paths[averaged.best]
    print(f"The ensemble against {best}, the best on validation:\n")
    compared = results["comparison"]
    print(compare.table(compared, ("best", "ensemble"), columns))


def matching(pattern: str) -> list[str]:
    """The folders that a path or a pattern stands for, sorted.

    Raises:
        ConfigError: there is none.
    """
    if os.path.isdir(pattern):
        return [pattern]
    folders = sorted(path for path in glob.glob(pattern) if os.path.isdir(path))
    if not folders:
        raise ConfigError(f"--model_dir={pattern} matches no folder")
    return folders


PROGRAM = runner.Program(
    name="ensemble",
    summary="""
    Scores an ensemble: the mean of the label probabilities of several runs. It
    prints a table of the scores of each run and of the ensemble, on the
    validation split and on --split. A paired bootstrap compares the ensemble
    with the best run.

    The runs may differ in everything but their tasks. The linear baseline can
    be one of them.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("All seeds of one config", "--model_dir='runs/lstm/seed_*'"),
        (
            "Two models and the linear baseline, with weights that are chosen "
            "greedily",
            "--model_dir=runs/lstm --model_dir=runs/meta "
            "--model_dir=runs/linear --greedy --output=ensemble.json",
        ),
    ),
    required=("model_dir",),
    arguments="model_dir",
)


def run() -> None:
    """Entry point of `mtl-ensemble`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
