"""What tagging has to beat."""

from mtl_tf.baselines.yardstick import CommonTag

TYPE = CommonTag()
