"""Row of table 3 of Liu et al. 2016 (shared memory): movie reviews.

Paper: Liu, Qiu and Huang 2016, "Deep Multi-Task Learning with Shared Memory",
table 3: SST-1, SST-2, SUBJ and IMDB with embeddings and hidden states of 100,
a memory of 50 x 20, Adagrad 0.01, no L2, batch 16. The rows: `lstm`,
`me_lstm` and `nbow` (a model per task), `arc_i`, `arc_ii`, `mt_cnn` and
`mt_dnn` (one for all).

It differs from the paper where that leaves settings open
(`mtl_tf.configs.base.shared_memory`). The paper starts from 100-d GloVe
vectors: give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=shared_memory_3:arc_i
    --model_dir=runs/arc_i --manual_dir=FOLDER (that holds sst/, subj/, imdb/)
Whole table: python -m launch.reproduce --table=shared_memory/3
    --model_dir=runs/shared_memory_3 --manual_dir=FOLDER

Time and score: `lstm` 77.5, `me_lstm` 77.5, `nbow` 75.1, `arc_i` 77.0,
`arc_ii` 77.0, `mt_cnn` 77.1 and `mt_dnn` 76.5 (mean of four; the paper 78.0,
77.9, 74.5, 79.8, 80.9, 78.3 and 76.1), with vectors learnt from the training
texts, seed 1, `nbow` and `mt_dnn` the mean of three; times were measured beside
other jobs only (docs/results/shared_memory_liu2016.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

ROWS = tuple(base.SHARED_MEMORY_ROWS)


def get_config(row: str = "arc_i") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("shared_memory_3 argument", row, ROWS)
    config = base.shared_memory("shared_memory_3", row)
    config.tasks = ("movie_reviews",)
    # IMDB is raw, the others come tokenised.
    config.text.tokenizer.name = "treebank"
    config.training.optimizer.learning_rate = 0.01
    config.training.l2 = 0.0
    # Joint models still learn IMDB when 8 epochs are over.
    config.training.epochs = 30
    config.training.patience = 6
    if row in base.SHARED_MEMORY_SINGLE:
        optimizer = config.training.optimizer
        base.alone(config, vectors_rate=optimizer.pretrained_learning_rate)
    return config
