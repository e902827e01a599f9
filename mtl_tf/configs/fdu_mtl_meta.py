"""Meta-MTL of Chen et al. 2018 for the sixteen tasks of FDU-MTL.

Paper: Chen et al. 2018, "Meta Multi-Task Learning for Sequence Modeling",
table 3, row Meta-MTL: embeddings 200, LSTM 100, meta network 40, meta vector
40, Adagrad 0.1, L2 1e-5, batch 16, a random task at every step. The paper
starts from 200-d GloVe vectors: give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=fdu_mtl_meta --model_dir=runs/meta
    --manual_dir=FOLDER (that holds fdu_mtl/)

Time and score: 87.8 % mean accuracy on half of the test texts with vectors
learnt from the corpus; without, and with the defaults before version 2,
83.5 %; 8 to 15 min on one shared core of an AMD EPYC (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base


def get_config() -> config_dict.ConfigDict:
    """Returns the config; it takes no argument."""
    config = base.fdu_mtl("fdu_mtl_meta")
    config.model.scheme = config_dict.ConfigDict(base.meta_lstm())
    return config
