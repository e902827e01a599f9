"""Long passes over many examples, whose progress is logged."""

import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from absl import logging

_Batch = TypeVar("_Batch")
_SECONDS = 15.0


def logged(
    batches: Iterable[_Batch], doing: str, batch_size: int, total: int
) -> Iterator[_Batch]:
    """Yields batches and logs every 15 seconds how far they are.

    Args:
        batches: batches of examples, all but the last of `batch_size`.
        doing: what is done with them, such as "books: encoding".
        batch_size: examples in a batch.
        total: examples in all batches; negative if unknown.
    """
    last_logged = time.monotonic()
    whole = f" of {total:,}" if total >= 0 else ""
    for number, batch in enumerate(batches, 1):
        yield batch
        if time.monotonic() - last_logged >= _SECONDS:
            last_logged = time.monotonic()
            done = number * batch_size
            if 0 <= total < done:
                done = total
            logging.info("%s, %s%s examples", doing, f"{done:,}", whole)
