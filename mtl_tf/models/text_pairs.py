"""Heads that read pairs of texts."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.models.head_type import HeadType, Task


class PairHeadType(HeadType):
    """The head of a type of texts, applied to pairs of texts.

    A pair that is joined is one text. If the two texts are encoded separately,
    the head reads [u; v; |u - v|; u * v] of the two summaries (Conneau et al.
    2017, section 3.1; InferSent), with any sharing scheme.

    Args:
        single: the type for single texts.
        apart: whether the two texts are encoded separately.
    """

    def __init__(self, single: HeadType, apart: bool = True):
        self._single = single
        self._apart = apart

    def of_tasks(self, tasks: Sequence[Task]) -> "PairHeadType":
        """Sets separate or joined texts, as the tasks' field `pairs` says."""
        forms = {task["pairs"]: task["name"] for task in tasks}
        if len(forms) > 1:
            raise ConfigError(
                "pairs must be the same for all tasks of a type in one run, "
                f"got {' and '.join(f'{f} ({n})' for f, n in forms.items())}"
            )
        (form,) = forms
        return PairHeadType(self._single, form == "apart")

    @property
    def texts(self) -> tuple[str, ...]:
        """The prefixes of one text, or of two."""
        return ("", "text_pair_") if self._apart else ("",)

    def make(
        self,
        tasks: Sequence[Task | None],
        config: Mapping[str, Any],
        **options: Any,
    ) -> keras.layers.Layer:
        """See `HeadType.make`."""
        return self._single.make(tasks, config, **options)

    def units(self, units: int) -> int:
        """Four times the size if two texts are encoded."""
        return 4 * units if self._apart else units

    def combined(self, read: Sequence[tf.Tensor]) -> tf.Tensor:
        """[u; v; |u - v|; u * v]."""
        if not self._apart:
            return read[0]
        u, v = read
        return tf.concat([u, v, tf.abs(u - v), u * v], -1)
