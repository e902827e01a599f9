"""Distribution strategies by name."""

import tensorflow as tf

from mtl_tf.core.names import look_up


def _one_device() -> tf.distribute.Strategy:
    gpus = tf.config.list_logical_devices("GPU")
    return tf.distribute.OneDeviceStrategy("gpu:0" if gpus else "cpu:0")


def _mirrored() -> tf.distribute.Strategy:
    gpus = tf.config.list_logical_devices("GPU")
    cpus = tf.config.list_logical_devices("CPU")
    return tf.distribute.MirroredStrategy([d.name for d in gpus or cpus])


def _auto() -> tf.distribute.Strategy:
    many = len(tf.config.list_logical_devices("GPU")) > 1
    return _mirrored() if many else _one_device()


STRATEGIES = {
    "auto": _auto,
    "one_device": _one_device,
    "mirrored": _mirrored,
}


def make_strategy(name: str) -> tf.distribute.Strategy:
    """The strategy that `--strategy` names.

    `auto` mirrors over the GPUs if there are several and else takes one
    device; `mirrored` uses all GPUs, or all (virtual) CPU devices.

    Raises:
        ConfigError: an unknown name.
    """
    return look_up(name, STRATEGIES, "strategy")()
