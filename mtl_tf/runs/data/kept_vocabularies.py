"""Vocabularies that several trainings of one program have in common.

The models of single tasks, the turns of a transfer and the runs of a table know
the words of the same tasks. Reading all their texts anew may take longer than
such a training.
"""

import contextlib
import contextvars
import json
from collections.abc import Callable, Iterator
from typing import Any

_kept: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar(
    "kept_vocabularies", default=None
)


@contextlib.contextmanager
def keeping() -> Iterator[None]:
    """Within it, `of` builds what depends on the same things once.

    For trainings that follow one another, during which the files of the tasks
    stay as they are. Only the last one is kept, in memory.
    """
    if _kept.get() is not None:
        yield
        return
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def of(parts: Any, build: Callable[[], Any]) -> Any:
    """What `build` returns, or has returned for the same parts.

    Args:
        parts: all that it depends on, as JSON holds it.
        build: builds it.
    """
    kept = _kept.get()
    if kept is None:
        return build()
    key = json.dumps(parts, sort_keys=True, default=str)
    if key not in kept:
        kept.clear()
        kept[key] = build()
    return kept[key]
