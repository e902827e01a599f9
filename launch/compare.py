"""Tells whether one run is better than another: `python -m launch.compare`."""

import os
import sys
from collections.abc import Sequence

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "runs",
        [],
        "the two runs, or two folders of seeds (seed_1, seed_2, ...) or of the "
        "folds of a cross-validation (launch.sweep --folds). You can also name "
        "them without the flag, one after the other",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        "test",
        "split to compare. The runs must have stored their predictions for it",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "tasks to compare, separated by commas; if not given: those that both "
        "runs have",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "draws",
        2000,
        "number of test sets that the bootstrap draws. With corpus scores "
        "such as BLEU this takes long",
        lower_bound=1,
        flag_values=values,
    )
    common_flags.define_output(values)


def main(values: flags.FlagValues) -> None:
    """Compares the runs and prints the table."""
    from mtl_tf.experiments import compare

    if len(values.runs) != 2:
        raise ConfigError(
            "name two runs, or two folders of seeds: got "
            f"{', '.join(values.runs) or 'none'}"
        )
    first, second = values.runs
    tasks = [name.strip() for name in values.tasks or ()]
    comparison = compare.compare(
        first, second, values.split, tasks, values.draws
    )
    streams.write_json(values.output, comparison)
    if values.output == "-":
        return
    for title, runs in zip("AB", comparison["runs"]):
        print(f"{title}: {_listed(runs)}")
    print()
    print(compare.table(comparison, ("A", "B"), terminal.width(sys.stdout)))
    print(
        "\nScores with the standard error of the test set; the gain of B over "
        f"A, {comparison['draws']:,} test sets\nand choices of seeds drawn "
        "with replacement, two-sided p; * below 0.05."
    )


def _listed(runs: Sequence[str]) -> str:
    """The path of a run, or that of several with their names."""
    if len(runs) == 1:
        return runs[0]
    names = ", ".join(map(os.path.basename, runs))
    return f"{os.path.dirname(runs[0])}: {names}"


PROGRAM = runner.Program(
    name="compare",
    summary="""
    Tests whether one run is better than another, for each task and for the
    mean. It uses a paired bootstrap over the examples of the test set and, for
    folders of seeds, also over the seeds. The folds of a cross-validation are
    compared on the examples of all of them. It reads the predictions that
    training stores in the runs, and needs neither the models nor the data.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("Two runs", "runs/lstm runs/meta"),
        (
            "Two rows of a table with all their seeds, for two tasks",
            "runs/meta_mtl_3/lstm runs/meta_mtl_3/meta_mtl --tasks=books,dvd",
        ),
        (
            "Two cross-validations of launch.sweep, each of one setting",
            "runs/folds_lstm runs/folds_meta",
        ),
    ),
    arguments="runs",
)


def run() -> None:
    """Entry point of `mtl-compare`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
