"""What a config field is: its default, its rule and its sentence."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from mtl_tf.configs.rules import Rule


@dataclasses.dataclass(frozen=True)
class Field:
    """A value of the config.

    Attributes:
        default: the value that a config starts from. It does what code from
            before the field did: runs of older versions are completed with it.
        rule: what a value has to be.
        doc: what it does, in a sentence or two.
    """

    default: Any
    rule: Rule
    doc: str


@dataclasses.dataclass(frozen=True)
class Group:
    """Fields that belong together, such as `training.optimizer`.

    Attributes:
        doc: what they are about, in a sentence or two.
        open: whether a config may have other fields there, and may lack all
            but `name`: those of another choice than the default one. What
            makes the choice checks that it has such an option.
    """

    doc: str
    open: bool = False


#: Fields and groups by dotted path, a group before its fields.
Fields = Mapping[str, Field | Group]
