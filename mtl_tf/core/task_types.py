"""The task types by name: the one list of them.

What a task type is to a room is one object, `TYPE` of the module
`task_types/NAME.py` of that room: how its examples are read in `tasks`, its
head in `models`, its scorer in `evaluation`, its predictions in `runs`, what
is served of it in `export`. A new type adds such modules and its name here;
no other module names a type.
"""

import importlib
from typing import Any

from mtl_tf.core.names import look_up

NAMES = (
    "classification",
    "multi_label",
    "pair_classification",
    "pair_regression",
    "question_answering",
    "regression",
    "tagging",
    "translation",
)
#: The type of a task that does not say its own.
DEFAULT = NAMES[0]


def find(package: str, name: str) -> Any:
    """What a task type is to a room.

    Args:
        package: the room's package of task types, such as
            `mtl_tf.tasks.task_types`.
        name: of the type.

    Returns:
        The `TYPE` of the type's module, which is imported when it is asked
        for first.

    Raises:
        ConfigError: there is no such type; the nearest names are offered.
    """
    look_up(name, dict.fromkeys(NAMES), "task type")
    return importlib.import_module(f"{package}.{name}").TYPE
