"""Multi-label: a sigmoid for each label over a text's summary."""

from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.multi_label_head import MultiLabelHead
from mtl_tf.models.head_type import HeadType, label_counts


class MultiLabel(HeadType):
    """A `MultiLabelHead`."""

    def make(self, tasks, config, **options) -> MultiLabelHead:
        """See `HeadType.make`."""
        sharing = config["head"]["sharing"]
        if sharing != "private":
            raise ConfigError(
                "model.head.sharing must be 'private' where there are "
                f"multi-label tasks, got {sharing!r}"
            )
        return MultiLabelHead(label_counts(tasks), **options)


TYPE = MultiLabel()
