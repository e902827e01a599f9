"""Options of the searches of all models that write text."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar, Self

from mtl_tf.core.names import completed
from mtl_tf.layers.beam_search import check_options


@dataclasses.dataclass(frozen=True)
class SearchOptions:
    """Options of a search for texts.

    Attributes:
        group: the field group of `evaluation` for a kind of search.
        beam: hypotheses per text; 1 is greedy search.
        length_penalty: see `layers.beam_search.BeamSearch`.
        n_best: texts per input.

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
        """The options from their group in a run's config.

        Args:
            config: the run's config.
            **changes: fields that replace the config's.

        Raises:
            ConfigError: an unknown field or a wrong value.
        """
        values = {**config["evaluation"][cls.group], **changes}
        fields = {f.name: f.default for f in dataclasses.fields(cls)}
        return cls(**completed(f"evaluation.{cls.group}", values, fields))
