"""Chunks of CoNLL-2000: `words`, `characters` or `best` of a BiLSTM-CRF.

Paper: table 5 of Chen et al. 2018, "Meta Multi-Task Learning for Sequence
Modeling", row LSTM+CRF, after Huang, Xu and Yu 2015. Its sizes (embeddings 100,
LSTMs 100), but regularisation and an optimizer of our own choice
(`mtl_tf.configs.base.tagging`), without pretrained vectors. `words` reads words
alone, `characters` also their characters and casing, `best` is larger.
`meta_mtl_5` has the paper's own settings.

Command: python -m launch.train --config=conll2000:characters
    --model_dir=runs/conll2000 --manual_dir=FOLDER (that holds conll2000/)

Time and score: see docs/results.md.
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks


def get_config(features: str = "characters") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        features: one of `base.TAGGING_FEATURES`.
    """
    checks.one_of("conll2000 argument", features, base.TAGGING_FEATURES)
    return base.tagging("conll2000", "conll2000/chunk", features)
