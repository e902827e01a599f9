"""Row of table 4 of Dong et al. 2015 on Multi30k, for a small machine.

Paper: Dong et al. 2015, "Multi-Task Learning for Multiple Language
Translation", table 4, on another corpus: the settings are those of
`mtl_tf.configs.multi_target_nmt_3_multi30k`, but English to German and to Czech
have 15 % of their training pairs. The rows: `single` (a model a pair) and
`multi` (one for all); or a pair.

A pair trains for as many minibatches as it would with all of its data, alone
or among others, and is evaluated as often.

Command: python -m launch.train --config=multi_target_nmt_4_multi30k:multi
    --model_dir=runs/multi --manual_dir=FOLDER (that holds multi30k/)
Whole table: python -m launch.reproduce --table=multi_target_nmt/4_multi30k
    --model_dir=runs/nmt_4_multi30k --manual_dir=FOLDER

Time and score: not run to its end; with 8 epochs, beside other jobs, test
BLEU of German and Czech is 26.7 and 19.3 for `multi` in 115 min, 21.5 and
16.7 for the pairs alone in 20 min each (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import multi_target_nmt_3_multi30k as full
from mtl_tf.core import checks

PAIRS, ROWS = full.PAIRS, full.ROWS
POOR = {"en-de": 0.15, "en-cs": 0.15}
_TRAINING_PAIRS = 29_000  # of each language


def get_config(row: str = "multi") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`, or of `PAIRS`.
    """
    checks.one_of("multi_target_nmt_4_multi30k argument", row, (*ROWS, *PAIRS))
    config = full.get_config(row)
    config.name = f"multi_target_nmt_4_multi30k_{row}"
    config.pipeline.fractions = config_dict.ConfigDict(
        {pair: part for pair, part in POOR.items() if row in (*ROWS, pair)}
    )
    # An epoch of what is left would be short, and of another length for each
    # pair: steps are counted as if nothing had been taken away.
    together = len(PAIRS) if row == "multi" else 1
    minibatches = -(-_TRAINING_PAIRS // config.pipeline.batch_size)
    config.training.steps_per_epoch = together * minibatches
    return config
