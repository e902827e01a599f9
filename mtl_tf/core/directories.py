"""Where data are on disk."""

from typing import NamedTuple


class Directories(NamedTuple):
    """The folders that the flags of the same names give.

    Attributes:
        data_dir: the directory of prepared datasets; None takes that of
            TensorFlow Datasets.
        manual_dir: the directory of the corpora's own files; None if nothing
            needs it.
    """

    data_dir: str | None = None
    manual_dir: str | None = None


#: The folder of TensorFlow Datasets, and none of corpora.
DEFAULT_DIRECTORIES = Directories()
