"""Regression of pairs of texts; predictions are as for single texts."""

from mtl_tf.prediction.task_types.regression import NumberPrediction
from mtl_tf.prediction.text_pairs import PairPrediction


class PairNumberPrediction(PairPrediction, NumberPrediction):
    """See `PairPrediction` and `NumberPrediction`."""


TYPE = PairNumberPrediction()
