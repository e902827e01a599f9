"""The base class of sources of a task's examples."""

import abc
import functools

import tensorflow as tf
from absl import logging

SPLITS = ("train", "validation", "test")
#: The split of examples without targets, which some sources have besides.
UNLABELLED = "unlabelled"


@functools.cache
def tell(message: str, level: int = logging.WARNING) -> None:
    """Logs a warning about data, once in a process.

    Tasks are looked up several times: for training, for scoring, and for the
    texts that clean parts leave out.
    """
    logging.log(level, "%s", message)


class Source(abc.ABC):
    """Examples in splits.

    Attributes:
        labels: the label names; () if there are none.
        warnings: what was odd in the splits read so far, with counts, one
            sentence each. Odd rows are kept.
    """

    labels: tuple[str, ...] = ()

    def __init__(self):
        self.warnings: list[str] = []

    @property
    @abc.abstractmethod
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits."""

    @abc.abstractmethod
    def size(self, split: str) -> int:
        """Returns how many examples `split` has."""

    @abc.abstractmethod
    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split, in source order.

        Returns:
            Elements with the features that the source's task type declares.

        Raises:
            ConfigError: there is no such split.
            DataError: the data are wrong; the message says where.
        """

    def place(self, split: str, number: int) -> str:
        """The location of an example, for messages.

        Args:
            split: the example's split.
            number: its index there, from 0.
        """
        return f"split {split}, example {number}"
