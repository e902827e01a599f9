"""Trains a model on the tasks of a config: `python -m launch.train`."""

import os
import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.programs import common_flags, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of the run: config, vocabulary, checkpoints, results. To "
        "continue a stopped run, repeat the command",
    )
    common_flags.define_data(values)
    common_flags.define_strategy(values)
    flags.DEFINE_list(
        "callbacks",
        [],
        "what else logs the training, apart from TensorBoard, separated by "
        "commas: wandb or mlflow (pip install 'mtl_tf[trackers]'), or a class "
        "of your own as FILE.py:CLASS or MODULE:CLASS",
        flag_values=values,
    )
    flags.DEFINE_boolean(
        "compare_single",
        False,
        "also train each task alone, with the same settings, in the folder "
        "single of --model_dir. The table then shows these scores next to "
        "those of the joint model",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> int:
    """Trains, evaluates and prints the table of results."""
    from mtl_tf.config_fields import validation
    from mtl_tf.runs import set_by_hand

    config = validation.validate(values.config.to_dict())
    set_by_hand.check_used(
        config,
        values["config"].overridden,
        os.path.join(values.model_dir, "config.json"),
        trains_alone=values.compare_single,
    )

    from mtl_tf.baselines import yardsticks
    from mtl_tf.evaluation.tables import tables
    from mtl_tf.experiments import single_tasks
    from mtl_tf.runs import training_run
    from mtl_tf.training import callbacks
    from mtl_tf.training.distribution import strategies

    adds_yardsticks = config["evaluation"]["yardsticks"]
    do = single_tasks.train if values.compare_single else training_run.train
    results = do(
        config,
        model_dir=values.model_dir,
        data_dir=values.data_dir,
        manual_dir=values.manual_dir,
        strategy=values.strategy,
        beside=yardsticks.add if adds_yardsticks else None,
        callbacks=callbacks.by_name(values.callbacks),
    )
    # Of several workers one shows them.
    if strategies.is_chief(values.strategy):
        print(tables.console(results, terminal.width(sys.stdout)))
    return 0


PROGRAM = runner.Program(
    name="train",
    summary="""
    Trains one model on several tasks, evaluates it and writes all results to
    --model_dir. Builds the datasets first if needed.

    Prints the table of scores to standard output and the progress to standard
    error. The table also has the scores of two baselines that a model should
    beat: the most frequent label and, if scikit-learn is installed, a linear
    model.

    You can stop the training at any time with Ctrl-C. The same command
    continues it.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Four small tasks that come with the package, about a minute",
            "--config=quickstart --model_dir=runs/quickstart",
        ),
        (
            "The same with other settings",
            "--config=quickstart --model_dir=runs/longer "
            "--config.training.epochs=20",
        ),
        (
            "Meta-MTL on the sixteen tasks of FDU-MTL, with the corpus in "
            "corpora/fdu_mtl",
            "--config=fdu_mtl_meta --model_dir=runs/meta --manual_dir=corpora",
        ),
    ),
    required=("model_dir",),
    takes_config=True,
)


def run() -> None:
    """Entry point of `mtl-train`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
