"""BiLSTM-CRF for Penn tags of a UD treebank: `words`, `characters` or `best`.

Paper: the model of table 5 of Chen et al. 2018, "Meta Multi-Task Learning for
Sequence Modeling", row LSTM+CRF, on a free corpus. Its sizes (embeddings 100,
LSTMs 100), but regularisation and an optimizer of our own choice
(`mtl_tf.configs.base.tagging`), without pretrained vectors. `words` reads words
alone, `characters` also their characters and casing, `best` is larger.
`meta_mtl_5` has the paper's own settings.

Command: python -m launch.train --config=ud_pos:characters
    --model_dir=runs/ud_pos --manual_dir=FOLDER (that holds a treebank)

Time and score: `characters` 95.0 % test accuracy on English EWT, 9 min on one
shared core of an AMD EPYC; none for `words` and `best` yet (docs/results.md).
Measured before the defaults of version 2 (see there).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks


def get_config(features: str = "characters") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        features: one of `base.TAGGING_FEATURES`.
    """
    checks.one_of("ud_pos argument", features, base.TAGGING_FEATURES)
    return base.tagging("ud_pos", "ud_pos/xpos", features)
