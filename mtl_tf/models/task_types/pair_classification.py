"""Classification of pairs: the classification head on two texts."""

from mtl_tf.models.task_types.classification import Classification
from mtl_tf.models.text_pairs import PairHeadType

TYPE = PairHeadType(Classification())
