"""Multi-label: one sigmoid per label over a text's summary."""

from mtl_tf.layers.heads.multi_label import MultiLabelHead
from mtl_tf.models.head_type import HeadType, check_private, label_counts


class MultiLabel(HeadType):
    """A `MultiLabelHead`."""

    def make(self, tasks, config, **options) -> MultiLabelHead:
        """See `HeadType.make`."""
        check_private(config, "multi-label tasks")
        return MultiLabelHead(label_counts(tasks), **options)


TYPE = MultiLabel()
