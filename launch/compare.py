"""Tells whether one run is better than another: `python -m launch.compare`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "runs",
        [],
        "the two runs, or folders of seeds (seed_1, seed_2, ...); also given "
        "without the flag's name, one after the other",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        "test",
        "split whose predictions the runs have kept",
        flag_values=values,
    )
    flags.DEFINE_list(
        "tasks",
        [],
        "names of tasks, a,b; those that both have if not given",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "draws",
        2000,
        "how many test sets are drawn; corpus scores such as BLEU take long",
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
    comparison = compare.compare(
        *(first, second, values.split, values.tasks, values.draws)
    )
    streams.write_json(values.output, comparison)
    if values.output == "-":
        return
    for title, runs in zip("AB", comparison["runs"]):
        print(f"{title}: {', '.join(runs)}")
    print()
    print(compare.table(comparison, ("A", "B"), terminal.width(sys.stdout)))
    print(
        "\nScores with the standard error of the test set; the gain of B over "
        f"A, {comparison['draws']:,} test sets\nand choices of seeds drawn "
        "with replacement, two-sided p; * below 0.05."
    )


PROGRAM = runner.Program(
    name="compare",
    summary="""
    Tells whether one run is better than another, for each task and for the
    mean: a paired bootstrap over the examples of the test set, and over the
    seeds where folders of seeds are given. It reads what trainings keep of
    each example and needs neither models nor data.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("Two runs", "runs/lstm runs/meta"),
        (
            "Two rows of a table with all their seeds, two tasks of it",
            "runs/meta_mtl_3/lstm runs/meta_mtl_3/meta_mtl --tasks=books,dvd",
        ),
    ),
    arguments="runs",
)


def run() -> None:
    """Entry point of `mtl-compare`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
