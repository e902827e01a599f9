"""Trains a linear baseline: `python -m launch.baseline`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.programs import common_flags, runner

FEATURES = ("shared_private", "private", "shared")


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values, "folder to write results.json and results.md to"
    )
    common_flags.define_data(values)
    flags.DEFINE_enum(
        "features",
        "shared_private",
        FEATURES,
        "what the SVMs share. Each regression task has its own ridge "
        "regression:\n"
        "* shared_private: one SVM for all tasks with the same labels. It has "
        "each feature once for all tasks and once for each task.\n"
        "* private: an SVM for each task.\n"
        "* shared: one SVM, which does not know the task.",
        flag_values=values,
    )
    flags.DEFINE_list(
        "probabilities_of",
        [],
        "splits whose probabilities are stored for training.teachers of other "
        "runs, separated by commas. They may be splits without labels. The "
        "SVM itself is not stored",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "seed", None, "used instead of the config's seed", flag_values=values
    )


def main(values: flags.FlagValues) -> int:
    """Trains, evaluates and prints the table of results."""
    from mtl_tf.config_fields import validation

    config = validation.validate(values.config.to_dict())
    if values.seed is not None:
        config["seed"] = values.seed

    from mtl_tf.baselines import linear
    from mtl_tf.evaluation.tables import tables

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
    Trains a linear SVM for the tasks and texts of a config, on TF-IDF features
    of single words and word pairs. A model of this config should have a better
    score than the SVM. C is chosen on the validation sets. The table of scores
    goes to standard output.

    It needs scikit-learn: pip install 'mtl_tf[baselines]'.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "The baseline of the quickstart",
            "--config=quickstart --model_dir=runs/quickstart_linear",
        ),
        (
            "The sixteen tasks of FDU-MTL, uncut texts, an SVM for each task",
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
