"""The task types by name: the one list of them.

What a task type is to a room is one object, `TYPE` of the module
`task_types/NAME.py` of that room: how its examples are read in `tasks`, its
head in `models`, its scorer in `evaluation`, its predictions in `runs`, what
is served of it in `export`. A new type adds such modules and its name here;
no other module names a type.

A type of the user's own stands outside the package and is named by its place,
"my_type.py:MyType": a class with an attribute for each of `ROOMS`.
"""

import importlib
from typing import Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
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


#: What a type of the user's own has to declare.
ROOMS = ("tasks", "models", "evaluation", "runs", "export", "baselines")


def find(package: str, name: str, base: type | None = None) -> Any:
    """What a task type is to a room.

    Args:
        package: the room's package of task types, such as
            `mtl_tf.tasks.task_types`.
        name: of the type, or its place.
        base: the class that it has to be of, or in `export` derived from, if
            it is the user's own.

    Returns:
        The `TYPE` of the type's module, which is imported when it is asked
        for first; of a type of the user's own the attribute of its class that
        is called like the room.

    Raises:
        ConfigError: there is no such type; the nearest names are offered. Or
            it is the user's own, and a part of it is missing or wrong.
    """
    if own_functions.is_own(name):
        return _of_own(package, own_functions.absolute(name), base)
    look_up(name, dict.fromkeys(NAMES), "task type")
    return importlib.import_module(f"{package}.{name}").TYPE


def title(name: str) -> str:
    """How a type is called: its name, or that of the user's class."""
    return own_functions.name_of(name)


def place(name: str) -> str:
    """The type's name, or its place from the root on."""
    return own_functions.absolute(name) if own_functions.is_own(name) else name


def known() -> tuple[str, ...]:
    """The types that there are, and those of the user's own that were used."""
    return (*NAMES, *_LOADED)


# The user's own by their places. A process keeps what it has read: a run has
# one type from its first step to its last, whatever is saved meanwhile.
_LOADED: dict[str, Any] = {}


def _of_own(package: str, name: str, base: type | None) -> Any:
    if name not in _LOADED:
        _LOADED[name] = _checked(name, own_functions.load(name, "class"))
    room = package.split(".")[-2]
    part = getattr(_LOADED[name], room)
    # A part that is another own type could be that of this one again.
    if isinstance(part, str) and not own_functions.is_own(part):
        return find(package, part, base)
    asks_class = room == "export"
    if asks_class:
        # By its name: `export` and `mtl_tf.export` may both be there, with a
        # class each.
        classes = part.__mro__ if isinstance(part, type) else ()
        fits = base is None or base.__name__ in [c.__name__ for c in classes]
    else:
        fits = base is None or isinstance(part, base)
    if not fits:
        del _LOADED[name]  # In a notebook the file may be mended.
        raise ConfigError(
            f"{name}: {room} must be {'a class' if asks_class else 'an object'}"
            f" of {base.__module__}.{base.__qualname__}, or the name of a type "
            f"that has it, got {part!r:.60}"
        )
    return part


def _checked(name: str, declared: Any) -> Any:
    """Refuses a class that does not declare what every room asks for."""
    if missing := [room for room in ROOMS if not hasattr(declared, room)]:
        raise ConfigError(
            f"{name} has no {', '.join(missing)}: a task type of your own is a "
            f"class with the attributes {', '.join(ROOMS)} "
            "(docs/add_a_task_type.md)"
        )
    return declared
