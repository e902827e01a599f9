"""Multi-task Transformer for chunks and parts of speech of CoNLL-2000.

Paper: Sun 2019, "Multi-Task Learning for Natural Language Processing Based on
Transformers" (a thesis in Chinese), whose outlook leaves tagging open: here the
heads, CRFs, read the words' own final states. The rows: `s_p` (no pooling),
`l_i` (the task's row in front of the words) and `l_e` (the rows of both tasks).

It is not a row of the thesis's table 4.3; that is `transformer_sharing_4_3`.
The corpus is small for a Transformer: two layers of 200 units, word vectors of
100 that start at random, and the characters and casing of the BiLSTM-CRF in
`conll2000:characters`. No part of speech is an input. The settings are a first
choice and were not tuned.

Command: python -m launch.train --config=conll2000_transformer:l_i
    --model_dir=runs/conll2000_l_i --manual_dir=FOLDER (that holds conll2000/)

Time and score: test F1 of chunks and accuracy of parts of speech on one
shared core of an AMD EPYC: `s_p` 89.5 and 97.5, 19 min; `l_i` 90.0 and 97.6,
21 min; `l_e` is not measured yet (docs/results.md).
Measured before the defaults of version 2 (see there).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

ROWS = ("s_p", "l_i", "l_e")


def get_config(row: str = "l_i") -> config_dict.ConfigDict:
    """Returns the config of a structure.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("conll2000_transformer argument", row, ROWS)
    config = base.tagging(
        "conll2000_transformer", "conll2000/chunk", "characters"
    )
    config.name = f"conll2000_transformer_{row}"
    config.tasks = ("conll2000/chunk", "conll2000/pos")
    # Batches are as long as their longest sentence.
    config.pipeline.bucket_multiple = 1
    # The input's dropout is the scheme's: it also meets the task rows.
    config.model.dropout.embedding = 0.0
    config.model.scheme = config_dict.ConfigDict(
        {
            "name": row,
            "layers": 2,
            "units": 200,
            "heads": 4,
            "feed_forward": 400,
            "dropout": 0.1,
            "input_dropout": 0.3,
            # No sentence is too long for them.
            "positions": "sinusoidal",
            "norm": "pre",
        }
    )
    config.training.optimizer.learning_rate = 1e-3
    config.training.optimizer.warmup_steps = 500
    return config
