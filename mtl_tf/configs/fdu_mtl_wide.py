"""LSTM with a wide part for the sixteen tasks of FDU-MTL.

Paper: none, and no table. A bidirectional LSTM that all tasks share, its
maximum over the words, and hashed words and pairs of words, of all tasks and
of each. Heads have no dropout, since they read the wide part, too, which has
its own. It is made to start from what a language model of the same LSTM has
learnt from the corpus (`launch.pretrain --objective=next_words`), or from word
vectors (`launch.train_vectors`), and to be taught by others, also about the
texts without labels: an ensemble of itself and the linear baseline
(`launch.baseline --probabilities_of=train,unlabelled`).

Command: python -m launch.train --config=fdu_mtl_wide --model_dir=runs/wide
    --manual_dir=FOLDER (that holds fdu_mtl/) --config.training.epochs=5
    --config.model.scheme.units=256 --config.text.vectors=PRETRAINED/vectors.txt
    --config.training.initialize_from=PRETRAINED
    --config.training.teachers=ENSEMBLE.json
    --config.training.distillation.unlabelled=unlabelled
    --config.training.distillation.temperature=1

Time and score: with that command mean accuracy on half of the test texts
90.6 % (seeds 0 to 2), 44 to 52 min on one core of a shared Xeon, after the
language model and the teachers (docs/results/fdu_mtl.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base


def get_config() -> config_dict.ConfigDict:
    """Returns the config; it takes no argument."""
    config = base.default_config()
    config.name = "fdu_mtl_wide"
    config.tasks = ("fdu_mtl",)
    config.pipeline.batch_size = 32
    config.pipeline.buckets = 6
    config.model.embedding_dim = 200
    config.model.dropout.embedding = 0.3
    config.model.scheme = config_dict.ConfigDict(
        {
            "name": "lstm",
            "units": 128,
            "sharing": "shared",
            **base.recurrent(bidirectional=True),
            "pooling": "max",
        }
    )
    config.training.epochs = 4
    config.training.patience = 0
    config.training.optimizer.learning_rate = 1e-3
    config.training.optimizer.pretrained_learning_rate = 1e-3
    config.training.optimizer.schedule = "linear"
    base.wide(config)
    return config
