"""Transfer to each task from all others: `python -m launch.transfer`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.programs import common_flags, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of all turns: sources/TASK, targets/TASK and their results. "
        "The same command again continues where it was stopped",
    )
    common_flags.define_data(values)
    common_flags.define_strategy(values)
    flags.DEFINE_list(
        "targets",
        [],
        "the tasks that get a turn, such as books,dvd; all by default",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "control",
        None,
        ["random", "fresh_vectors"],
        "instead of the transfer a control, on the same first models: random "
        "freezes shared weights as they were drawn, fresh_vectors takes no "
        "word vectors. Its results are in controls/CONTROL",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> int:
    """Takes all turns and prints the table of results."""
    from mtl_tf.configs import validation

    config = validation.validate(values.config.to_dict())

    from mtl_tf.evaluation import tables
    from mtl_tf.experiments import transfer

    results = transfer.transfer(
        config,
        model_dir=values.model_dir,
        data_dir=values.data_dir,
        manual_dir=values.manual_dir,
        strategy=values.strategy,
        targets=values.targets or None,
        control=values.control or "",
    )
    print(tables.console(results, terminal.width(sys.stdout)))
    return 0


PROGRAM = runner.Program(
    name="transfer",
    summary="""
    Takes turns over the tasks of a config: trains one model on all tasks but
    one, freezes the weights that the tasks share, and trains the one that was
    left out (Chen et al. 2018, Table 3, last column). The table of the left
    out tasks' scores goes to standard output, progress to standard error.

    Stop it with Ctrl-C whenever you like: the same command continues.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Four small tasks that come with the package, some minutes",
            "--config=quickstart --model_dir=runs/transfer",
        ),
        (
            "Two of the sixteen turns on FDU-MTL",
            "--config=fdu_mtl_meta --model_dir=runs/transfer_meta "
            "--manual_dir=corpora --targets=books,dvd",
        ),
        (
            "What the word vectors alone, learnt on the other tasks, give",
            "--config=quickstart --model_dir=runs/transfer --control=random",
        ),
    ),
    required=("model_dir",),
    takes_config=True,
)


def run() -> None:
    """Entry point of `mtl-transfer`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
