"""Regression of pairs: the regression head on two texts."""

from mtl_tf.models.task_types.regression import Regression
from mtl_tf.models.text_pairs import PairHeadType

TYPE = PairHeadType(Regression())
