"""Classification of pairs of texts; predictions are as for single texts."""

from mtl_tf.prediction.task_types.classification import ClassPrediction
from mtl_tf.prediction.text_pairs import PairPrediction


class PairClassPrediction(PairPrediction, ClassPrediction):
    """See `PairPrediction` and `ClassPrediction`."""


TYPE = PairClassPrediction()
