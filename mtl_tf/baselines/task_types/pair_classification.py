"""What pair classification has to beat."""

from mtl_tf.baselines.yardstick import CommonLabel

TYPE = CommonLabel()
