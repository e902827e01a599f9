"""What a config field is: its default, its rule and its sentence."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from mtl_tf.config_fields.rules import Rule


@dataclasses.dataclass(frozen=True)
class Field:
    """A value of the config.

    Attributes:
        default: the value that a config starts from.
        rule: what a value has to be.
        doc: what it does, in a sentence or two.
        before: of another value than the default does what code did before
            the field, or its default, came with version `since`: runs of
            older versions are completed with it.
        since: the version of configs (`mtl_tf.config_fields.fields.VERSION`).
        needs: other fields, one of which has to be set for this one to do
            anything: "a.b" is not 0 or empty, "a.b=c" has that value.
        unless: other fields that count in place of this one where they are
            not 0 or empty.
    """

    default: Any
    rule: Rule
    doc: str
    before: Any = None
    since: int = 0
    needs: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()

    def default_of(self, version: int) -> Any:
        """The value that configs of a version have where they lack it."""
        return self.before if version < self.since else self.default


@dataclasses.dataclass(frozen=True)
class Group:
    """Fields that belong together, such as `training.optimizer`.

    Attributes:
        doc: what they are about, in a sentence or two.
        open: whether a config may have other fields there, and may lack all
            but `name`: those of another choice than the default one. What
            makes the choice checks that it has such an option.
        needs: as of a field, of all fields in it but those that it names.
        only_with: of a group that only one task type has: the other fields
            beside it that such tasks read; None if they read all of them.
    """

    doc: str
    open: bool = False
    needs: tuple[str, ...] = ()
    only_with: tuple[str, ...] | None = None


#: Fields and groups by dotted path, a group before its fields.
Fields = Mapping[str, Field | Group]
