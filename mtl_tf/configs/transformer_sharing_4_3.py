"""Row of table 4.3 of Sun 2019 (Transformers): sixteen review tasks.

Paper: Sun 2019, "Multi-Task Learning for Natural Language Processing Based on
Transformers" (a thesis in Chinese), table 4.3: FDU-MTL with 4 layers of 300
units, 6 heads and a feed-forward layer of 512, learned positions, Adam 5e-4
(word vectors 5e-5), batch 50, at most 30 epochs of rounds over the tasks in
shuffled order. The rows: `single` (a model per task), `s_p`, `s_c`, `l_i` and
`l_e` (one for all). S-P and the single model have a hidden layer in the head;
its size, 300, is ours.

Dropout (0.5 on the input and before the head, 0.1 in the blocks), clipping at
norm 1, matrices from a normal distribution of deviation 0.05, and lower-cased
texts cut at 400 tokens are those of the code that made the table. The paper
starts from 300-d GloVe vectors: give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=transformer_sharing_4_3:l_i
    --model_dir=runs/l_i --manual_dir=FOLDER (that holds fdu_mtl/)
Whole table: python -m launch.reproduce --table=transformer_sharing/4.3
    --model_dir=runs/transformer_sharing_4_3 --manual_dir=FOLDER
Five epochs of it: the same with --override=training.epochs=5

Time and score: not run to its end; 5 of the 30 epochs, mean accuracy on half
of the test texts, with vectors learnt from the corpus, on shared cores:
`s_p` 80.7 %, 1 h 53 min; `s_c` 81.9 %, 1 h 57 min; `l_i` 82.4 %, 2 h 22 min;
`l_e` 81.2 %, 1 h 44 min; `single` 80.5 %, 1 h 49 min (docs/results.md).
Measured before the defaults of version 2 (see there).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

# Row -> its scheme: the single models read out as S-P does.
_SCHEMES = {
    "single": "s_p",
    "s_p": "s_p",
    "s_c": "s_c",
    "l_i": "l_i",
    "l_e": "l_e",
}
ROWS = tuple(_SCHEMES)


def get_config(row: str = "l_i") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("transformer_sharing_4_3 argument", row, ROWS)
    config = base.paper_config()
    config.name = f"transformer_sharing_4_3_{row}"
    config.tasks = ("fdu_mtl",)
    config.train_separately = row == "single"
    config.pipeline.batch_size = 50
    # Batches are as long as their longest text: any length may be a bucket's.
    config.pipeline.buckets = 32
    config.pipeline.bucket_multiple = 1
    config.pipeline.mixing.name = "shuffled_rounds"
    config.model = config_dict.ConfigDict(_model(_SCHEMES[row]))
    config.training.epochs = 30
    config.training.l2 = 0.0
    config.training.clip_norm = 1.0
    config.training.optimizer.name = "adam"
    config.training.optimizer.learning_rate = 5e-4
    config.training.optimizer.embedding_learning_rate = 5e-5
    return config


def _model(scheme: str) -> dict:
    model = base.paper_config().model.to_dict()
    return {
        **model,
        "embedding_dim": 300,
        # The input's dropout is the scheme's: it also meets the task rows.
        "dropout": {"embedding": 0.0, "head": 0.5},
        "init": {"name": "normal", "range": 0.05},
        "head": {
            **model["head"],
            "hidden_units": 300 if scheme == "s_p" else 0,
        },
        "scheme": {
            "name": scheme,
            "layers": 4,
            "units": 300,
            "heads": 6,
            "feed_forward": 512,
            "dropout": 0.1,
            "input_dropout": 0.5,
            "positions": "learned",
            "max_positions": 400,
            "norm": "pre",
        },
    }
