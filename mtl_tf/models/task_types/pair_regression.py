"""Regression of pairs of texts: the type's head on both of them."""

from mtl_tf.models.task_types.regression import Regression
from mtl_tf.models.text_pairs import PairHeadType

TYPE = PairHeadType(Regression())
