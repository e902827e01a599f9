"""Classification: a softmax over a text's summary."""

from mtl_tf.layers.heads.classification import ClassificationHead
from mtl_tf.models.head_type import HeadType, label_counts


class Classification(HeadType):
    """A `ClassificationHead`."""

    def make(self, tasks, config, **options) -> ClassificationHead:
        """See `HeadType.make`."""
        head = config["head"]
        options["label_smoothing"] = head["label_smoothing"]
        # Each task's factors of its labels; most tasks have none.
        weights = [(task or {}).get("class_weights") for task in tasks]
        if any(weights):
            options["class_weights"] = weights
        counts = label_counts(tasks)
        return ClassificationHead(counts, head["sharing"], **options)


TYPE = Classification()
