"""Small Meta-MTL for four small review tasks that come with the package.

Paper: the model of Chen et al. 2018, "Meta Multi-Task Learning for Sequence
Modeling", at about a third of its size, on the sample_reviews corpus that
comes with the package. No table of the paper.

Command: python -m launch.train --config=quickstart --model_dir=runs/quickstart

Time and score: 86.4 % mean test accuracy, 17 s of training on 2 cores that
other jobs shared (docs/results.md).
"""

from ml_collections import config_dict

from mtl_tf.configs import base


def get_config() -> config_dict.ConfigDict:
    """Returns the config; it takes no argument."""
    config = base.paper_config()
    config.name = "quickstart"
    config.tasks = ("sample_reviews",)
    config.text.max_length = 60
    config.pipeline.buckets = 2
    config.model.embedding_dim = 64
    config.model.scheme.units = 48
    config.model.scheme.meta_units = 16
    config.model.scheme.meta_vector = 16
    config.model.init.range = 0.5
    config.training.epochs = 8
    config.training.clip_norm = 1.0
    config.training.optimizer.options.initial_accumulator_value = 1e-3
    return config
