"""Seeds as pure functions of a base seed and names or numbers.

Nothing in the library uses a global random generator. Random values are
functions of `(seed, task, epoch)` or `(seed, step)`. So a run that is killed
anywhere resumes to the same result.
"""

import contextlib
import hashlib
import random
from collections.abc import Iterator

import numpy as np


def fold(seed: int, *parts: int | str) -> int:
    """A 63-bit seed derived from `seed` and `parts`, the same everywhere."""
    text = "\x1f".join([str(int(seed))] + [str(part) for part in parts])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def generator(seed: int, *parts: int | str) -> np.random.Generator:
    """A NumPy generator seeded with `fold(seed, *parts)`."""
    return np.random.Generator(np.random.PCG64(fold(seed, *parts)))


@contextlib.contextmanager
def default_seeds(seed: int) -> Iterator[None]:
    """Within the block, what Keras draws without a seed depends on this one.

    Keras takes the seeds of such initializers and dropouts from Python's
    `random`. The layers of this project have seeds; a user's own may not.
    """
    state = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(state)
