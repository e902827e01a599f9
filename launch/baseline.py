"""Trains a linear baseline: `python -m launch.baseline`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.programs import common_flags, runner

FEATURES = ("shared_private", "private", "shared")


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values, "folder of the results: results.json, results.md"
    )
    common_flags.define_data(values)
    flags.DEFINE_enum(
        "features",
        "shared_private",
        FEATURES,
        "shared_private: one SVM for the tasks with the same labels, which "
        "has each feature once for all tasks and once for each; private: an "
        "SVM for each task; shared: one SVM that does not know the task. Each "
        "task of numbers has a ridge regression of its own",
        flag_values=values,
    )
    flags.DEFINE_list(
        "probabilities_of",
        [],
        "splits, a,b, also of texts without labels, whose probabilities are "
        "kept for training.teachers of other runs, since the SVM is not",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "seed", None, "in place of the config's seed", flag_values=values
    )


def main(values: flags.FlagValues) -> int:
    """Trains, evaluates and prints the table of results."""
    from mtl_tf.configs import validation

    config = validation.validate(values.config.to_dict())
    if values.seed is not None:
        config["seed"] = values.seed

    from mtl_tf.baselines import linear
    from mtl_tf.evaluation import tables

    results = linear.train(
        config,
        model_dir=values.model_dir,
        data_dir=values.data_dir,
        manual_dir=values.manual_dir,
        features=values.features,
        probabilities_of=[name.strip() for name in values.probabilities_of],
    )
    print(tables.console(results, terminal.width(sys.stdout)))
    return 0


PROGRAM = runner.Program(
    name="baseline",
    summary="""
    Trains a linear SVM on TF-IDF features of single words and pairs, on the
    tasks and texts of a config: the score that a model of that config has to
    beat. It needs scikit-learn (pip install 'mtl_tf[baselines]'). C is chosen
    on the validation sets. The table of scores goes to standard output.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Beside the quickstart's model",
            "--config=quickstart --model_dir=runs/quickstart_linear",
        ),
        (
            "The sixteen FDU-MTL tasks, whole texts, an SVM for each task",
            "--config=fdu_mtl_meta --model_dir=runs/linear "
            "--manual_dir=corpora --features=private "
            "--config.text.max_length=0",
        ),
    ),
    required=("model_dir",),
    takes_config=True,
)


def run() -> None:
    """Entry point of `mtl-baseline`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
