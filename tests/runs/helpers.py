"""What a run has left in its directory, and a run that is killed."""

import json
import os

import numpy as np
import tensorflow as tf

from mtl_tf.runs import training_run
from tests.training.killing import run_killed


def weights(directory):
    with open(os.path.join(directory, "best", "best.json")) as file:
        name = json.load(file)["weights"]
    reader = tf.train.load_checkpoint(os.path.join(directory, "best", name))
    return {
        key: reader.get_tensor(key)
        for key in reader.get_variable_to_shape_map()
        if "VARIABLE_VALUE" in key
    }


def metrics(directory):
    with open(os.path.join(directory, "metrics.jsonl")) as file:
        return [json.loads(line) for line in file]


def assert_same_weights(one, two):
    one, two = weights(one), weights(two)
    assert set(one) == set(two) and len(one) > 2
    for key, value in one.items():
        np.testing.assert_array_equal(value, two[key], err_msg=key)


def train(config, directory, **options):
    """Trains a run and returns its results."""
    return training_run.train(config, str(directory), **options)


def train_killed(config, directory, saves):
    """Trains until `kill -9` at a save."""
    program = """
from mtl_tf.runs import training_run
training_run.train(json.loads(arguments[0]), arguments[1])
"""
    run_killed(program, saves, json.dumps(config), directory)
