"""The only list of task types by name.

Each room has one object for a task type, `TYPE` in the room's module
`task_types/NAME.py`: in `tasks` it reads examples, in `models` it is the head,
in `evaluation` the scorer, in `prediction` the predictions, in `export` the
served functions. A new type adds such modules and its name here; no other
module names a type.

A user's own type is outside the package and is named by its place,
"my_type.py:MyType": a class with an attribute for each of `ROOMS`.
"""

import importlib
import os
from typing import Any

from mtl_tf.core import digests, own_functions
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
#: The type of a task that does not name one.
DEFAULT = NAMES[0]


#: The attributes that a user's own type must have.
ROOMS = ("tasks", "models", "evaluation", "prediction", "export", "baselines")


def find(package: str, name: str, base: type | None = None) -> Any:
    """A room's object for a task type.

    Args:
        package: the room's package of task types, such as
            `mtl_tf.tasks.task_types`.
        name: the type's name, or its place.
        base: the required class of a user's object, or in `export` its
            base class.

    Returns:
        The `TYPE` of the type's module, which is imported on first use; for an
        own type, the attribute of its class with the room's name.

    Raises:
        ConfigError: there is no such type; the message offers the nearest
            names. Or it is the user's own, and a part of it is missing or
            wrong.
    """
    if own_functions.is_own(name):
        return _of_own(package, own_functions.absolute(name), base)
    look_up(name, dict.fromkeys(NAMES), "task type")
    return importlib.import_module(f"{package}.{name}").TYPE


def title(name: str) -> str:
    """The type's title: its name, or that of the user's class."""
    return own_functions.name_of(name)


def place(name: str) -> str:
    """The type's name, or its place with an absolute path."""
    return own_functions.absolute(name) if own_functions.is_own(name) else name


def known() -> tuple[str, ...]:
    """The built-in types, and the user's own types that were loaded."""
    return (*NAMES, *_LOADED)


def read_changed() -> None:
    """Lets the next training read the files again that have changed.

    Otherwise a notebook would train with a type that its file does not have
    any more, while the run notes the file as it is.
    """
    for name, digest in list(_DIGESTS.items()):
        if _digest(name) not in ("", digest):
            _LOADED.pop(name, None)


# The user's own types by place. A process keeps what it has loaded, so that a
# run has one type throughout, even if the file changes.
_LOADED: dict[str, Any] = {}
# The digests of their files when they were read.
_DIGESTS: dict[str, str] = {}


def _digest(name: str) -> str:
    """The digest of the file in a type's place; "" if there is none."""
    file = name.rpartition(":")[0]
    return digests.of_file(file) if os.path.isfile(file) else ""


def _of_own(package: str, name: str, base: type | None) -> Any:
    if name not in _LOADED:
        digest = _digest(name)
        _LOADED[name] = _checked(name, own_functions.load(name, "class"))
        _DIGESTS[name] = digest
    room = package.split(".")[-2]
    part = getattr(_LOADED[name], room)
    # A part that is an own type's place could lead back to this one.
    if isinstance(part, str) and not own_functions.is_own(part):
        return find(package, part, base)
    asks_class = room == "export"
    if asks_class:
        # Compared by name, as `export` and `mtl_tf.export` may both exist, with
        # a class each.
        classes = part.__mro__ if isinstance(part, type) else ()
        fits = base is None or base.__name__ in [c.__name__ for c in classes]
    else:
        fits = base is None or isinstance(part, base)
    # Objects of an abstract class do not come into being.
    lacking = sorted(getattr(part, "__abstractmethods__", ()))
    if fits and asks_class and lacking:
        del _LOADED[name]
        raise ConfigError(
            f"{name}: {room} is the class {part.__name__}, which lacks the "
            f"methods {', '.join(lacking)}: write them, or derive it from a "
            "class that has them"
        )
    if not fits:
        del _LOADED[name]  # In a notebook, the file may be fixed and reloaded.
        raise ConfigError(
            f"{name}: {room} must be {'a class' if asks_class else 'an object'}"
            f" of {base.__module__}.{base.__qualname__}, or the name of a type "
            f"that has it, got {part!r:.60}"
        )
    return part


def _checked(name: str, declared: Any) -> Any:
    """Refuses a class without the attributes that every room needs."""
    if missing := [room for room in ROOMS if not hasattr(declared, room)]:
        raise ConfigError(
            f"{name} has no {', '.join(missing)}: a task type of your own is a "
            f"class with the attributes {', '.join(ROOMS)} "
            "(docs/add_a_task_type.md)"
        )
    return declared
