"""Transfer to each task from all others: `python -m launch.transfer`."""

import os
import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.programs import common_flags, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of all turns: sources/TASK, targets/TASK and their results. "
        "To continue stopped turns, repeat the command",
    )
    common_flags.define_data(values)
    common_flags.define_strategy(values)
    flags.DEFINE_list(
        "targets",
        [],
        "tasks to leave out in turn, such as books,dvd; if not given: all",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "control",
        None,
        ["random", "fresh_vectors"],
        "train a control instead of the transfer, from the same first models. "
        "Its results are in controls/CONTROL:\n"
        "* random: the frozen shared weights are random, as drawn at the "
        "start.\n"
        "* fresh_vectors: the word vectors of the first model are not used.",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> int:
    """Takes all turns and prints the table of results."""
    from mtl_tf.config_fields import validation
    from mtl_tf.runs import set_by_hand

    config = validation.validate(values.config.to_dict())
    set_by_hand.check_used(
        config,
        values["config"].overridden,
        os.path.join(values.model_dir, "transfer.json"),
        "config",
    )

    from mtl_tf.evaluation.tables import tables
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
    Measures transfer to new tasks. For each task of a config in turn, it trains
    one model on all other tasks, freezes the shared weights, and then trains
    this task (Chen et al. 2018, Table 3, last column). The table of scores on
    these tasks goes to standard output, progress to standard error.

    You can stop it at any time with Ctrl-C. The same command continues it.
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
            "How good the word vectors from the other tasks are on their own",
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
