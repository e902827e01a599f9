"""Two virtual CPU devices for every test, so that replicas can be tried."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import pytest
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration()] * 2,
)


@pytest.fixture(scope="session")
def two_replicas() -> tf.distribute.MirroredStrategy:
    # One for the whole session: two strategies in a process use the same keys
    # for their collectives, and TensorFlow then mixes them up.
    return tf.distribute.MirroredStrategy(["cpu:0", "cpu:1"])
