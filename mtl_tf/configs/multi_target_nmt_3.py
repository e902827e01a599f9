"""Row of table 3 of Dong et al. 2015: English to four languages on Europarl.

Paper: Dong et al. 2015, "Multi-Task Learning for Multiple Language
Translation", table 3, with its sizes: vectors and states of 1000, 30,000 words
a language, Adadelta, batch 50, blocks of 1000 minibatches, weights drawn
within [-0.01, 0.01], beam 10. The rows: `single` (a model a pair) and `multi`
(one for all); a pair, such as `en-fr`, is that model of `single` alone.
Corpus: Europarl v7; pairs without files are left out by launch.reproduce, and
for launch.train by --config.tasks="('multi_target_nmt/en-es', ...)".

The paper trains until convergence. Here a pair has at most 160,000
minibatches, some 4 epochs, alone or among others, and is evaluated every
4,000. Gradients are clipped at norm 1 and pairs with more than 50 tokens are
left out: the paper says neither.

Command: python -m launch.train --config=multi_target_nmt_3:multi
    --model_dir=runs/nmt_3 --manual_dir=FOLDER (that holds europarl/)
Whole table: python -m launch.reproduce --table=multi_target_nmt/3
    --model_dir=runs/multi_target_nmt_3 --manual_dir=FOLDER
A small machine: --table=multi_target_nmt/3_multi30k

Time and score: needs a graphics card; not run to its end yet.
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

PAIRS = ("en-es", "en-fr", "en-nl", "en-pt")
ROWS = ("single", "multi")
_STEPS, _EVALUATE_EVERY = 160_000, 4_000  # of a pair


def get_config(row: str = "multi") -> config_dict.ConfigDict:
    """Returns the config of a row.

    Args:
        row: one of `ROWS`, or of `PAIRS`.
    """
    checks.one_of("multi_target_nmt_3 argument", row, (*ROWS, *PAIRS))
    pairs = (row,) if row in PAIRS else PAIRS
    config = base.paper_config()
    config.name = f"multi_target_nmt_3_{row}"
    config.tasks = tuple(f"multi_target_nmt/{pair}" for pair in pairs)
    config.train_separately = row == "single"
    config.text.tokenizer.name = "reversible"
    config.text.max_size = 30_000
    config.text.max_length = config.text.target_max_length = 50
    config.pipeline.batch_size = 50
    config.pipeline.mixing = config_dict.ConfigDict(
        {"name": "blocks", "block": 1000}
    )
    translation = config.model.translation
    translation.embedding_dim = translation.units = 1000
    translation.init = config_dict.ConfigDict(
        {"name": "uniform", "range": 0.01}
    )
    _train(config, len(pairs) if row == "multi" else 1)
    config.evaluation.paper_scoring = True
    config.evaluation.decoding.beam = 10
    return config


def _train(config: config_dict.ConfigDict, together: int) -> None:
    """Sets how models of so many pairs are trained."""
    training = config.training
    training.optimizer.name = "adadelta"
    training.optimizer.learning_rate = 1.0
    training.optimizer.options = config_dict.ConfigDict(
        {"rho": 0.95, "epsilon": 1e-6}
    )
    training.clip_norm = 1.0
    training.l2 = 0.0
    training.steps = together * _STEPS
    training.evaluate_every = together * _EVALUATE_EVERY
    training.patience = 10
