"""What the searches of all models that write text can be told."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from mtl_tf.core.names import completed
from mtl_tf.layers.beam_search import check_options


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """How a text is looked for.

    Attributes:
        group: the fields of `evaluation` that a kind of search has.
        beam: hypotheses of a text; 1 is greedy search.
        length_penalty: see `layers.beam_search.BeamSearch`.
        n_best: texts for an input.

    Raises:
        ConfigError: a value is wrong.
    """

    group: ClassVar[str]

    beam: int = 1
    length_penalty: float = 0.0
    n_best: int = 1

    def __post_init__(self):
        check_options(self.beam, self.n_best, self.length_penalty)

    @classmethod
    def of_config(cls, config: Mapping[str, Any], **changes: Any) -> Self:
        """From the group of a run's config.

        Args:
            config: the run's.
            **changes: fields in place of the config's.

        Raises:
            ConfigError: an unknown field or a wrong value.
        """
        values = {**config["evaluation"][cls.group], **changes}
        fields = {f.name: f.default for f in dataclasses.fields(cls)}
        return cls(**completed(f"evaluation.{cls.group}", values, fields))
