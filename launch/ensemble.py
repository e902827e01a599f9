"""Scores the mean of several runs: `python -m launch.ensemble`."""

import glob
import os
import sys

from absl import flags

from mtl_tf.core import files, terminal
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_multi_string(
        "model_dir",
        [],
        "folder of a finished run, of launch.train or launch.baseline, a "
        "folder of seeds (seed_1, seed_2, ... or seed=1, ...), or a pattern "
        "such as 'runs/seed_*'; to be repeated",
        flag_values=values,
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "split",
        "test",
        "split that is scored beside the validation split",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "names of tasks, a,b; those that all runs have if not given",
        flag_values=values,
    )
    flags.DEFINE_bool(
        "greedy",
        False,
        "choose members and their weights on the validation examples: the run "
        "that helps most is added round by round, with repetition",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "rounds", 20, "of --greedy", lower_bound=1, flag_values=values
    )
    flags.DEFINE_integer(
        "draws",
        2000,
        "test sets of the paired bootstrap of the ensemble against the member "
        "that is best on the validation examples",
        lower_bound=1,
        flag_values=values,
    )
    common_flags.define_output(
        values, more=", which training.teachers of a config takes, too"
    )
    flags.DEFINE_string(
        "save_probabilities",
        None,
        "folder that gets TASK.npz, the mean probabilities of the training "
        "and validation texts, for training.teachers",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Averages, scores, and prints the tables."""
    paths = [path for pattern in values.model_dir for path in matching(pattern)]
    if values.save_probabilities:
        files.make_directory(values.save_probabilities)

    from mtl_tf.evaluation import folding
    from mtl_tf.experiments import compare, ensemble

    directories = (values.data_dir, values.manual_dir)
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
    Scores the mean of the probabilities that several runs give to the labels
    of their tasks, on the validation examples and on those of a split: a
    table of each run and of the ensemble, and a paired bootstrap of the
    ensemble against the best run. Runs may differ in all but their tasks;
    the linear baseline may be among them.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("All seeds of a config", "--model_dir='runs/lstm/seed_*'"),
        (
            "Two models and the linear baseline, weights chosen greedily",
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
