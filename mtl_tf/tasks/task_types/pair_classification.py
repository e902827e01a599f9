"""Classification of pairs of texts, such as premise and hypothesis."""

from mtl_tf.tasks.task_types.classification import Classification
from mtl_tf.tasks.text_pairs import TextPairs


class PairClassification(TextPairs, Classification):
    """See `TextPairs` and `Classification`."""

    name = "pair_classification"
    fields = (*Classification.fields, "pairs")


TYPE = PairClassification()
