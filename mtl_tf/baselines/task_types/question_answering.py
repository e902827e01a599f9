"""What question answering has to beat."""

from mtl_tf.baselines.yardstick import Yardstick

TYPE = Yardstick()
