"""What multi label has to beat."""

from mtl_tf.baselines.yardstick import CommonLabels

TYPE = CommonLabels()
