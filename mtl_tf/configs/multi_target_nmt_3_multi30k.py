"""Row of table 3 of Dong et al. 2015 on Multi30k, for a small machine.

Paper: Dong et al. 2015, "Multi-Task Learning for Multiple Language
Translation", table 3, on another corpus: the settings are those of
`mtl_tf.configs.multi30k`. The rows: `single` (a model a pair) and `multi` (one
for all); or a pair. It also scores as the paper does.

Command: python -m launch.train --config=multi_target_nmt_3_multi30k:multi
    --model_dir=runs/multi --manual_dir=FOLDER (that holds multi30k/)
Whole table: python -m launch.reproduce --table=multi_target_nmt/3_multi30k
    --model_dir=runs/nmt_3_multi30k --manual_dir=FOLDER

Time and score: test BLEU of German, French and Czech on one shared core of an
AMD EPYC: `multi` 36.0, 56.8 and 29.8 in 87 min; `single` 33.3, 52.4 and 27.8
in some 30 min a pair (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import multi30k
from mtl_tf.core import checks

PAIRS, ROWS = multi30k.PAIRS, ("single", "multi")


def get_config(row: str = "multi") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`, or of `PAIRS`.
    """
    checks.one_of("multi_target_nmt_3_multi30k argument", row, (*ROWS, *PAIRS))
    # A pair's settings, for each of them, are those of the models of `single`.
    config = multi30k.get_config(PAIRS[0] if row == "single" else row)
    config.name = f"multi_target_nmt_3_multi30k_{row}"
    if row == "single":
        config.tasks = tuple(f"multi30k/{pair}" for pair in PAIRS)
    config.train_separately = row == "single"
    config.evaluation.paper_scoring = True
    return config
