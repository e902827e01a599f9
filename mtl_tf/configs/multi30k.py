"""Translation from English to German, French and Czech on Multi30k.

Paper: Dong et al. 2015, "Multi-Task Learning for Multiple Language
Translation", tables 3 and 4, whose corpus is Europarl; this is its model on a
small machine.
Corpus: Multi30k (Elliott et al. 2016), 29,000 captions a pair, lower-cased and
tokenised. It differs from the paper in its sizes (256 for 1000), its optimizer
(Adam for Adadelta), subwords for words, dropout and label smoothing, and blocks
of 50 minibatches for 1000: an epoch of a pair has 454.

Command: python -m launch.train --config=multi30k --model_dir=runs/multi30k
    --manual_dir=FOLDER (that holds multi30k/)
One pair alone: --config=multi30k:en-de

Time and score: test BLEU 36.0 (German), 56.8 (French) and 29.8 (Czech) in 87
min on one shared core of an AMD EPYC; a pair alone 33.3, 52.4 or 27.8 in some
30 min (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

PAIRS = ("en-de", "en-fr", "en-cs")
MULTI = "multi"


def get_config(selection: str = MULTI) -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        selection: "multi" for all pairs in one model, or one of `PAIRS`.
    """
    checks.one_of("multi30k argument", selection, (MULTI, *PAIRS))
    pairs = PAIRS if selection == MULTI else (selection,)
    config = base.paper_config()
    config.name = f"multi30k_{selection}"
    config.tasks = tuple(f"multi30k/{pair}" for pair in pairs)
    config.text.tokenizer = config_dict.ConfigDict(
        {"name": "sentencepiece", "lowercase": True}
    )
    config.text.max_size = 5000
    config.text.max_length = config.text.target_max_length = 60
    config.pipeline.batch_size = 64
    config.pipeline.buckets = 4
    config.pipeline.mixing = config_dict.ConfigDict(
        {"name": "blocks", "block": 50}
    )
    translation = config.model.translation
    translation.embedding_dim = translation.units = 256
    translation.dropout.embedding = translation.dropout.encoding = 0.2
    translation.dropout.readout = 0.3
    translation.label_smoothing = 0.1
    config.training.optimizer.name = "adam"
    config.training.optimizer.learning_rate = 1e-3
    config.training.optimizer.schedule = "linear"
    config.training.clip_norm = 1.0
    config.training.l2 = 0.0
    config.training.epochs = 11
    config.evaluation.splits = ("test_2016_flickr",)
    return config
