"""Row of table 4 of Liu et al. 2016 (shared memory): product reviews.

Paper: Liu, Qiu and Huang 2016, "Deep Multi-Task Learning with Shared Memory",
table 4: books, DVDs, electronics and kitchen with embeddings and hidden
states of 100, a memory of 50 x 20, Adagrad 0.1, L2 1e-5, batch 16. The rows:
`lstm` and `me_lstm` (a model per task), `arc_i`, `arc_ii`, `mt_cnn` and
`mt_dnn` (one for all).

It differs from the paper where that leaves settings open
(`mtl_tf.configs.base.shared_memory`). The paper starts from 100-d GloVe
vectors: give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=shared_memory_4:arc_i
    --model_dir=runs/arc_i --manual_dir=FOLDER (that holds fdu_mtl/)
Whole table: python -m launch.reproduce --table=shared_memory/4
    --model_dir=runs/shared_memory_4 --manual_dir=FOLDER

Time and score: mean accuracy on half of the test texts, with vectors learnt
from FDU-MTL, on one shared core of an AMD EPYC: `lstm` 81.2 %, 4 min;
`me_lstm` 81.9 %, 8 min; `arc_i` 81.4 %, 11 min; `arc_ii` 79.5 %, 12 min;
`mt_cnn` 86.0 %, 5 min; `mt_dnn` 83.7 %, 1 min (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

# The paper has NBOW in its table 3 only.
ROWS = tuple(row for row in base.SHARED_MEMORY_ROWS if row != "nbow")


def get_config(row: str = "arc_i") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("shared_memory_4 argument", row, ROWS)
    config = base.shared_memory("shared_memory_4", row)
    config.tasks = ("product_reviews",)
    config.training.optimizer.learning_rate = 0.1
    config.training.l2 = 1e-5
    config.training.epochs = 30
    config.training.patience = 5
    if row in base.SHARED_MEMORY_SINGLE:
        base.alone(config)
    # Its texts are FDU-MTL's, which also repeat one another across tasks.
    config.evaluation.group = ("fdu_mtl",)
    return config
