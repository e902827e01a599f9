"""Runs of small models with random weights: nothing is trained."""

import os

import numpy as np

from mtl_tf.runs import building
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.training.checkpoints.saved_weights import BestWeights


def written(folder, name, text):
    """Writes a file; returns its path."""
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def write_weights(directory, chosen, favoured=None, data_dir=None):
    """Writes a run of random weights.

    Args:
        directory: where to.
        chosen: its config.
        favoured: of translation, what every output layer adds to the logits
            of some ids.
        data_dir: where prepared datasets are.

    Returns:
        The run's directory, and what it says of its tasks.
    """
    run = RunDirectory(str(directory))
    run.claim(chosen)
    loaded = run_data.load(chosen, run, data_dir, None)
    described = [task.to_json() for task in loaded.tasks]
    model = building.build(chosen, loaded.encoder, described, seed=1)
    # Far from one another, so that no two paths are as good.
    for weight in model.trainable_variables:
        weight.assign(3 * weight)
    for decoder in model.decoders if favoured else ():
        bias = np.zeros(decoder.output_layer.vocabulary_size)
        bias[list(favoured)] = list(favoured.values())
        decoder.output_layer.bias.assign(bias)
    BestWeights(run.file("best"), model).save(1, 50.0)
    return run, described
