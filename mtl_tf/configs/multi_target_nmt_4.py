"""Row of table 4 of Dong et al. 2015: little data for two of four languages.

Paper: Dong et al. 2015, "Multi-Task Learning for Multiple Language
Translation", table 4: the settings of its table 3
(`mtl_tf.configs.multi_target_nmt_3`), but English to Dutch and to Portuguese
have 15 % of their training pairs. The rows: `single` (a model a pair) and
`multi` (one for all); or a pair. All pairs train for as many minibatches as in
table 3, so that those with little data see it more often.

Command: python -m launch.train --config=multi_target_nmt_4:multi
    --model_dir=runs/nmt_4 --manual_dir=FOLDER (that holds europarl/)
Whole table: python -m launch.reproduce --table=multi_target_nmt/4
    --model_dir=runs/multi_target_nmt_4 --manual_dir=FOLDER
A small machine: --table=multi_target_nmt/4_multi30k

Time and score: needs a graphics card; not run to its end yet.
"""

from ml_collections import config_dict

from mtl_tf.configs import multi_target_nmt_3
from mtl_tf.core import checks

PAIRS, ROWS = multi_target_nmt_3.PAIRS, multi_target_nmt_3.ROWS
POOR = {"en-nl": 0.15, "en-pt": 0.15}


def get_config(row: str = "multi") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`, or of `PAIRS`.
    """
    checks.one_of("multi_target_nmt_4 argument", row, (*ROWS, *PAIRS))
    config = multi_target_nmt_3.get_config(row)
    config.name = f"multi_target_nmt_4_{row}"
    config.pipeline.fractions = config_dict.ConfigDict(
        {pair: part for pair, part in POOR.items() if row in (*ROWS, pair)}
    )
    return config
