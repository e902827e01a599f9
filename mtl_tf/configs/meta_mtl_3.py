"""Row of table 3 of Chen et al. 2018 (Meta-MTL): sixteen review tasks.

Paper: Chen et al. 2018, "Meta Multi-Task Learning for Sequence Modeling",
table 3: FDU-MTL with embeddings 200, LSTMs 100, meta network 40, meta vector
40, Adagrad 0.1, L2 1e-5, batch 16, a random task at every step. The rows:
`lstm`, `hyper_lstm` and `meta_lstm` (a model per task), `asp`, `psp`, `ssp`
and `meta_mtl` (one for all). SSP's private layer reads the shared states
alone, as the table's parameter count says; HyperLSTM's hyper network has 100
units and vectors of 16, which fits the table's count best.

It differs from the paper where that leaves settings open
(`mtl_tf.configs.base.fdu_mtl`). The paper starts from 200-d GloVe vectors:
give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=meta_mtl_3:meta_mtl
    --model_dir=runs/meta_mtl --manual_dir=FOLDER (that holds fdu_mtl/)
Whole table: python -m launch.reproduce --table=meta_mtl/3
    --model_dir=runs/meta_mtl_3 --manual_dir=FOLDER

Time and score: mean accuracy on half of the test texts, with vectors learnt
from the corpus, on one shared core of an AMD EPYC: `lstm` 80.0 %, 19 min;
`hyper_lstm` 79.5 %, 36 min; `meta_lstm` 78.6 %, 13 min; `asp` 87.3 %, 18 min;
`psp` 87.5 %, 7 min; `ssp` 88.0 %, 16 min; `meta_mtl` 87.8 %, 9 min
(docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

_SINGLE = ("lstm", "hyper_lstm", "meta_lstm")
_SIZES = {"units": 100, **base.recurrent()}
_SCHEMES = {
    "lstm": base.lstm(),
    "hyper_lstm": {
        "name": "hyper_lstm",
        "hyper_units": 100,
        "hyper_vector": 16,
        "sharing": "private",
        **_SIZES,
    },
    "meta_lstm": base.meta_lstm(),
    "asp": {
        "name": "asp",
        "adversarial_weight": 0.05,
        "adversarial_schedule": "constant",
        "adversarial_start": 0,
        "adversarial_steps": 0,
        "orthogonality_weight": 0.01,
        "orthogonality_mean": False,
        **_SIZES,
    },
    "psp": {"name": "psp", **_SIZES},
    "ssp": {"name": "ssp", "private_input": "shared", **_SIZES},
    "meta_mtl": base.meta_lstm(),
}
ROWS = tuple(_SCHEMES)


def get_config(row: str = "meta_mtl") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("meta_mtl_3 argument", row, ROWS)
    config = base.fdu_mtl(f"meta_mtl_3_{row}")
    if row in _SINGLE:
        base.alone(config)
    config.model.scheme = config_dict.ConfigDict(_SCHEMES[row])
    return config
