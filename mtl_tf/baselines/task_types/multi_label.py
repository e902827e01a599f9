"""What multi label has to beat."""

from mtl_tf.baselines.yardstick import CommonLabels


class MultiLabel(CommonLabels):
    """The labels of most examples, and a linear baseline of each label."""

    linear = True


TYPE = MultiLabel()
