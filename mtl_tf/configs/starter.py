"""One's own data: what to start from, for 200 to 100,000 examples a task.

Paper: none, and no table. A bidirectional LSTM that all tasks share, which
reads words, their characters and casing; above it one of each task's own, so
that tasks which learn at different speeds do not hold each other back; beside
what heads of whole texts read, hashed n-grams of words and characters, of all
tasks and of each (`model.wide`): with few examples they are what a linear
model knows, and it is hard to beat there. Learned weights of the tasks' losses
(uncertainty) keep those with greater losses from moving what is shared most.
Dropout, gradient clipping, Adam, a moving average of the weights, since
validation scores of few examples are noisy, and patience decide by these how
long to train.

It changes no more than that: tasks of one's own are a config file that starts
from it.

    from mtl_tf.configs import starter

    def get_config():
        config = starter.get_config()
        config.tasks = (MAILS, NAMES)
        return config

Command: python -m launch.train --config=starter --model_dir=runs/starter

Time and score: on the four sample tasks (seed 0) mean accuracy 93.1; the
linear baseline has 82.8. The time was not measured on an idle machine.
docs/results/own_configs.md has more.
"""

from ml_collections import config_dict

from mtl_tf.configs import base


def get_config() -> config_dict.ConfigDict:
    """Returns the config; it takes no argument."""
    config = base.default_config()
    config.name = "starter"
    config.tasks = ("sample_reviews",)
    config.model.scheme = config_dict.ConfigDict(
        {
            "name": "ssp",
            "units": 100,
            "private_input": "shared",
            **base.recurrent(bidirectional=True),
            "pooling": "max",
        }
    )
    base.spelling(config, filters=50)
    config.model.wide.buckets = 1 << 17
    config.model.wide.character_ngrams = 5
    config.training.average = 0.99
    # Adam goes as far for a loss of 2 as for one of 0.1: of the weights that
    # tasks share, those with the greater losses would move most.
    config.training.loss_weighting = "uncertainty"
    config.training.optimizer.lazy = True
    return config
