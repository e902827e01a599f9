"""Classification of pairs of texts is scored as that of texts."""

from mtl_tf.evaluation.task_types.classification import ClassScoring

TYPE = ClassScoring()
