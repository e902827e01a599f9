"""LSTM for the sixteen tasks of FDU-MTL: one each (`single`) or one for all.

Paper: Chen et al. 2018, "Meta Multi-Task Learning for Sequence Modeling",
table 3, row LSTM (`fdu_mtl_lstm:single`: a model per task) with embeddings
200, LSTM 100, Adagrad 0.1, L2 1e-5, batch 16; and the plainest joint model
beside it (`fdu_mtl_lstm:shared`: one LSTM, an output layer per task), which
the table does not have.

Command: python -m launch.train --config=fdu_mtl_lstm:single
    --model_dir=runs/lstm --manual_dir=FOLDER (that holds fdu_mtl/)

Time and score: mean accuracy on half of the test texts, on one shared core of
an AMD EPYC: `single` 80.0 % with vectors learnt from the corpus, 19 min;
without, and with the defaults before version 2, `single` 66.7 % and `shared`
84.9 %, 9 to 14 min (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks


def get_config(mode: str = "single") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        mode: `single` trains a model per task, `shared` one for all.
    """
    checks.one_of("fdu_mtl_lstm argument", mode, ("single", "shared"))
    config = base.fdu_mtl(f"fdu_mtl_lstm_{mode}")
    if mode == "single":
        base.alone(config)
    config.model.scheme = config_dict.ConfigDict(base.lstm())
    return config
