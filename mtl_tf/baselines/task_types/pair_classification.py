"""What pair classification has to beat."""

from mtl_tf.baselines.yardstick import CommonLabel


class PairClassification(CommonLabel):
    """The most frequent label, and the linear baseline."""

    linear = True


TYPE = PairClassification()
