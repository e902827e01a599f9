"""Pairs of texts as what a task type reads: premise and hypothesis."""

from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.tasks.features import INPUT, TEXT, Feature, targets
from mtl_tf.tasks.source import Source
from mtl_tf.tasks.task_type import Entry
from mtl_tf.tasks.text_task_type import TextTaskType

#: Each text is encoded by itself, or both one after the other.
APART, JOINED = "apart", "joined"


class TextPairs(TextTaskType):
    """A mixin: examples are two texts with a target.

    Fields of an entry beside those of the type: the columns "text" and
    "text_pair", and `pairs`: "apart" (each text is encoded by itself, and the
    head reads [u; v; |u - v|; u * v] of both summaries; Conneau et al. 2017)
    or "joined" (one text after the other with a separator between them, the
    longer one cut first where `text.max_length` is too short for both).
    """

    texts = {"text": "text", "text_pair": "text_pair"}

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """Two texts, on one time axis or on two, and the target."""
        joined = settings.get("pairs") == JOINED
        texts = [
            Feature(name, INPUT, TEXT, ("text" if joined else axis,))
            for name, axis in self.texts.items()
        ]
        return (*texts, *targets(super().features(labels, settings)))

    def settings(self, entry: Entry, source: Source) -> dict[str, Any]:
        """Also `pairs`."""
        pairs = checks.one_of(
            "pairs", entry.get("pairs") or APART, (APART, JOINED)
        )
        return {**super().settings(entry, source), "pairs": pairs}

    def fixed_fields(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Also `pairs`."""
        fixed = super().fixed_fields(labels, settings)
        return {**fixed, "pairs": settings["pairs"]}
