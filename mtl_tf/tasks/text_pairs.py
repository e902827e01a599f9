"""Task types that read pairs of texts, such as premise and hypothesis."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.tasks.features import INPUT, TEXT, Feature, targets
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task_type import Entry
from mtl_tf.tasks.text_task_type import TextTaskType

#: Encode each text separately, or both as one sequence.
APART, JOINED = "apart", "joined"


class TextPairs(TextTaskType):
    """A mixin for examples of two texts and a target.

    The texts' columns are "text" and "text_pair". The entry field `pairs` is
    one of

    - "apart": each text is encoded by itself, and the head reads
      [u; v; |u - v|; u * v] of both summaries (Conneau et al. 2017);
    - "joined": one text follows the other after a separator. If
      `text.max_length` is too short for both, the longer one is cut first.
    """

    texts = {"text": "text", "text_pair": "text_pair"}

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """Two texts, on one or two time axes, and the target."""
        joined = settings.get("pairs") == JOINED
        texts = [
            Feature(name, INPUT, TEXT, ("text" if joined else axis,))
            for name, axis in self.texts.items()
        ]
        return (*texts, *targets(super().features(labels, settings)))

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """The type's settings, and `pairs`."""
        pairs = checks.one_of(
            "pairs", entry.get("pairs") or APART, (APART, JOINED)
        )
        return {**super().settings(entry, source), "pairs": pairs}

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The type's fields, and `pairs`."""
        fixed = super().fixed_fields(labels, settings)
        return {**fixed, "pairs": settings["pairs"]}
