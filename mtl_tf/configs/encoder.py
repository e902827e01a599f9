"""Pretrained encoder, fine-tuned on several tasks at once.

Paper: the form of MT-DNN (Liu et al. 2019, "Multi-Task Deep Neural Networks
for Natural Language Understanding"): all tasks share one encoder, each has a
head of its own. Texts are the mean of their pieces' states. AdamW with a
warm-up and a linear decay, as Devlin et al. (2019) tune. It is nobody's
table.

The encoder is no part of the package: `model.encoder.preset` names a folder,
such as that of a BERT in the form of Hugging Face (docs/encoders.md).

Command: python -m launch.train --config=encoder --model_dir=runs/encoder
    --config.model.encoder.preset=FOLDER --config.tasks="('sst/sst2',)"
    --manual_dir=FOLDER (that holds sst/)

Time and score: with MiniLM-L6 in bfloat16 and the trees' phrases, 90.7 % test
accuracy of SST-2 after 27 min on 2 cores that other jobs shared; with
`encoder:wide` 91.4 % on FDU-MTL (three seeds), each after 2 h on one core
(docs/results/own_configs.md and fdu_mtl.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks


def get_config(kind: str = "plain") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        kind: "plain"; or "wide", with hashed n-grams of pieces beside the
            encoder, and longer texts.
    """
    checks.one_of("encoder argument", kind, ("plain", "wide"))
    config = base.default_config()
    config.name = "encoder"
    config.tasks = ("sample_reviews",)
    # The user names it.
    config.model.encoder.preset = config_dict.placeholder(str)
    config.text.max_length = 256
    config.pipeline.batch_size = 32
    config.pipeline.buckets = 6
    config.model.scheme = config_dict.ConfigDict(
        {"name": "direct", "pooling": "mean"}
    )
    config.model.dropout.embedding = 0.0
    config.model.dropout.head = 0.1
    config.training.epochs = 3
    # A few hundred texts are not learnt in three epochs (Mosbach et al. 2021,
    # "On the Stability of Fine-tuning BERT").
    config.training.min_steps = 200
    config.training.patience = 0
    config.training.optimizer.name = "adamw"
    config.training.optimizer.learning_rate = 5e-5
    config.training.optimizer.schedule = "linear"
    config.training.optimizer.warmup_ratio = 0.1
    if kind == "wide":
        config.text.max_length = 512
        base.wide(config)
    return config
