"""Regression of pairs of texts, such as sentences and their similarity."""

from mtl_tf.tasks.task_types.regression import Regression
from mtl_tf.tasks.text_pairs import TextPairs


class PairRegression(TextPairs, Regression):
    """See `TextPairs` and `Regression`."""

    name = "pair_regression"
    fields = (*Regression.fields, "pairs")


TYPE = PairRegression()
