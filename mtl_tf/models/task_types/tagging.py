"""Tagging: a CRF, or a softmax per token, over a text's sequence."""

from collections.abc import Sequence

from mtl_tf.core.names import completed
from mtl_tf.layers.crf.constraints import (
    Constraints,
    allowed_transitions,
    span_scheme,
)
from mtl_tf.layers.heads.tagging import TaggingHead
from mtl_tf.models.head_type import (
    HeadType,
    Task,
    check_private,
    label_counts,
)

# The default options of the decoder.
_DEFAULT = {"decoder": "crf", "constraints": True, "per_token": True}


class Tagging(HeadType):
    """A `TaggingHead` with the options of the field `model.tagging`."""

    fields = ("tagging",)

    def make(self, tasks, config, **options) -> TaggingHead:
        """See `HeadType.make`.

        A task may have a "scheme", the scheme of its span labels (see
        `allowed_transitions`), or "" if its labels mark no spans. If it is
        missing, the scheme is derived from the labels (see `span_scheme`).
        """
        tagging = completed("model.tagging", config.get("tagging"), _DEFAULT)
        check_private(config, "tagging tasks")
        fields = {name: tagging[name] for name in ("decoder", "per_token")}
        if tagging["decoder"] == "crf" and tagging["constraints"]:
            fields["constraints"] = _constraints(tasks)
        return TaggingHead(label_counts(tasks), **fields, **options)


def _constraints(tasks: Sequence[Task | None]) -> list[Constraints | None]:
    constraints = []
    for task in tasks:
        scheme = task and task.get("scheme", span_scheme(task["labels"]))
        constraints.append(
            allowed_transitions(task["labels"], scheme) if scheme else None
        )
    return constraints


TYPE = Tagging()
