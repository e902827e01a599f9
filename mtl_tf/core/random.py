"""Seeds as pure functions of a base seed and names or numbers.

Nothing in the library uses a global random generator. Random values are
functions of `(seed, task, epoch)` or `(seed, step)`. So a run that is killed
anywhere resumes to the same result.
"""

import hashlib

import numpy as np


def fold(seed: int, *parts: int | str) -> int:
    """A 63-bit seed derived from `seed` and `parts`, the same everywhere."""
    text = "\x1f".join([str(int(seed))] + [str(part) for part in parts])
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def generator(seed: int, *parts: int | str) -> np.random.Generator:
    """A NumPy generator seeded with `fold(seed, *parts)`."""
    return np.random.Generator(np.random.PCG64(fold(seed, *parts)))
