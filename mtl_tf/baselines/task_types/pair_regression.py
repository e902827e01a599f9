"""What pair regression has to beat."""

from mtl_tf.baselines.yardstick import Mean

TYPE = Mean()
