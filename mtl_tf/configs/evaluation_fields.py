"""Config fields of scoring: splits, folds, sweeps."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Fields, Group

EVALUATION: Fields = {
    "evaluation": Group("How the trained model is scored."),
    "evaluation.splits": Field(
        ("test",), rules.SOME_NAMES, "On which splits; results name the first."
    ),
    "evaluation.batch_size": Field(
        64, rules.POSITIVE_INTEGER, "Examples at a time."
    ),
    "evaluation.yardsticks": Field(
        True,
        rules.BOOLEAN,
        "Whether the scores of the most frequent label and of the linear "
        "baseline stand beside those of the model.",
    ),
    "evaluation.calibrate": Field(
        False,
        rules.BOOLEAN,
        "Whether a temperature is fitted to each task's probabilities on its "
        "validation examples, and results tell how good they are.",
    ),
    "evaluation.group": Field(
        (),
        rules.ANY_TASKS,
        "Entries as of tasks: a test text that is among the training texts of "
        "any of them is not in the clean part; () for the tasks themselves.",
    ),
    "cross_validation": Group(
        "Folds in place of the corpora's own splits (mtl_tf/tasks/folds.py)."
    ),
    "cross_validation.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "In how many folds the examples are divided; 0 for none.",
    ),
    "cross_validation.fold": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Which fold is tested, from 0; the others are trained on.",
    ),
    "sweep": Group("What launch.sweep tries. Training itself ignores it."),
    "sweep.grid": Field(
        "",
        rules.TEXT,
        "Fields and their values, such as training.l2=0,1e-5;"
        "training.optimizer.learning_rate=0.1,0.01.",
    ),
    "sweep.folds": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Folds of cross-validation, a run each; 0 for none.",
    ),
    "sweep.seeds": Field(
        1, rules.POSITIVE_INTEGER, "How many seeds, from seed on."
    ),
}
