"""Config fields of scoring: splits, folds, sweeps."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Fields, Group

EVALUATION: Fields = {
    "evaluation": Group("How the trained model is scored."),
    "evaluation.splits": Field(
        ("test",),
        rules.SOME_NAMES,
        "Splits to score. Results are named after the first one.",
    ),
    "evaluation.batch_size": Field(
        64, rules.POSITIVE_INTEGER, "Examples per batch."
    ),
    "evaluation.yardsticks": Field(
        True,
        rules.BOOLEAN,
        "Whether to add the scores of two baselines: the most frequent label "
        "and a linear model.",
    ),
    "evaluation.calibrate": Field(
        False,
        rules.BOOLEAN,
        "Whether to fit a temperature to the probabilities of each task on "
        "its validation examples. The results then have scores of the "
        "probabilities.",
    ),
    "evaluation.group": Field(
        (),
        rules.ANY_TASKS,
        "Tasks that determine the clean part of the test set, with entries as "
        "in tasks: a test text that is also among their training texts is not "
        "in it. () takes the trained tasks.",
    ),
    "cross_validation": Group(
        "Cross-validation: folds instead of the splits of the corpora "
        "(mtl_tf/tasks/splits/folds.py)."
    ),
    "cross_validation.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of folds; 0 for no cross-validation.",
    ),
    "cross_validation.fold": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of the test fold, from 0. The other folds are trained on.",
    ),
    "sweep": Group("What launch.sweep tries. Training ignores it."),
    "sweep.grid": Field(
        "",
        rules.TEXT,
        "Config fields and their values, such as "
        "training.l2=0,1e-5;training.optimizer.learning_rate=0.1,0.01.",
    ),
    "sweep.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of folds of a cross-validation, with a run for each; 0 for "
        "none.",
    ),
    "sweep.seeds": Field(
        1, rules.POSITIVE_INTEGER, "Number of seeds, counted from seed."
    ),
}
