"""Long passes over many examples, whose progress is logged."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from absl import logging

_Batch = TypeVar("_Batch")
_SECONDS = 15.0


def logged(
    batches: Iterable[_Batch],
    doing: str,
    batch_size: int | Callable[[Any], int] = len,
    total: int = -1,
) -> Iterator[_Batch]:
    """Yields batches and logs every 15 seconds how far they are.

    Args:
        batches: batches of examples.
        doing: what is done with them, such as "books: encoding".
        batch_size: examples in each batch but the last, or a function that
            counts those of a batch.
        total: examples in all batches; negative if unknown.
    """
    last_logged = time.monotonic()
    whole = f" of {total:,}" if total >= 0 else ""
    done = 0
    for batch in batches:
        # Before the batch is used, which may change it.
        done += batch_size(batch) if callable(batch_size) else batch_size
        yield batch
        if time.monotonic() - last_logged >= _SECONDS:
            last_logged = time.monotonic()
            count = min(done, total) if total >= 0 else done
            logging.info("%s, %s%s examples", doing, f"{count:,}", whole)
