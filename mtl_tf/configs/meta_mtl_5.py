"""Row of table 5 of Chen et al. 2018: chunks, entities and parts of speech.

Paper: Chen et al. 2018, "Meta Multi-Task Learning for Sequence Modeling",
table 5 (Exp-II): CoNLL-2000 chunking, CoNLL-2003 named entities and parts of
speech with embeddings 100, bidirectional LSTMs 100, meta network 30, a CRF on
top, and else as in Exp-I (`meta_mtl_3`): Adagrad 0.1, L2 1e-5, batch 16, a
random task at every step. The rows: `lstm` and `meta_lstm` (a model per
task), `ssp` and `meta_mtl` (one for all).

The paper's parts of speech are those of the Wall Street Journal, which has no
free release: here they are the Penn tags (XPOS) of UD English EWT. With files
of the WSJ in columns, name all tasks: --config.tasks="('conll2000/chunk',
'conll2003/ner', {'name': 'wsj', 'type': 'tagging', 'files': {'train': ...}})".

It differs from the paper where that leaves settings open: see
`mtl_tf.configs.base.fdu_mtl` and the comments below. The paper starts from
pretrained GloVe vectors in Exp-I: give yours with --config.text.vectors=FILE.

Command: python -m launch.train --config=meta_mtl_5:meta_mtl
    --model_dir=runs/tagging --manual_dir=FOLDER (that holds conll2000/,
    conll2003/ and a treebank's folder)
Whole table, on those of the corpora that are there:
    python -m launch.reproduce --table=meta_mtl/5
    --model_dir=runs/meta_mtl_5 --manual_dir=FOLDER

Time and score: with vectors learnt from CoNLL-2000 and English EWT, one seed,
all rows take 13 min on one core; chunks 89.1 to 91.8 span F1
(docs/results/meta_mtl_chen2018.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

TASKS = ("conll2000/chunk", "conll2003/ner", "ud_pos/xpos")
_SINGLE = ("lstm", "meta_lstm")
_SIZES = {"units": 100, **base.recurrent(bidirectional=True)}
# The paper gives one "30d Meta-LSTM size"; in Exp-I state and vector are 40.
_META = {
    "name": "meta_lstm",
    "meta_units": 30,
    "meta_vector": 30,
    **_SIZES,
}
_SCHEMES = {
    "lstm": {"name": "lstm", "sharing": "shared", **_SIZES},
    "meta_lstm": _META,
    "ssp": {"name": "ssp", "private_input": "shared", **_SIZES},
    "meta_mtl": _META,
}
ROWS = tuple(_SCHEMES)


def get_config(row: str = "meta_mtl") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`.
    """
    checks.one_of("meta_mtl_5 argument", row, ROWS)
    config = base.fdu_mtl(f"meta_mtl_5_{row}")
    config.tasks = TASKS
    # A sentence has many labels: an epoch of tagging teaches more than one
    # of reviews, and validation decides how many there are.
    config.training.epochs = 12
    config.training.patience = 3
    if row in _SINGLE:
        base.alone(config, epochs=20, patience=3)
    config.text.max_length = 0
    config.model.tagging.per_token = False
    config.model.embedding_dim = 100
    config.model.scheme = config_dict.ConfigDict(_SCHEMES[row])
    return config
