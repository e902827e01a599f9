"""Classification: a softmax over a text's summary."""

from mtl_tf.layers.classification_head import ClassificationHead
from mtl_tf.models.head_type import HeadType, label_counts


class Classification(HeadType):
    """A `ClassificationHead`."""

    def make(self, tasks, config, **options) -> ClassificationHead:
        """See `HeadType.make`."""
        sharing = config["head"]["sharing"]
        return ClassificationHead(label_counts(tasks), sharing, **options)


TYPE = Classification()
