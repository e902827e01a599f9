"""Where the examples of a task come from."""

import abc
import functools

import tensorflow as tf
from absl import logging

SPLITS = ("train", "validation", "test")
#: A split of examples without targets, which some sources have beside.
UNLABELLED = "unlabelled"


@functools.cache
def tell(message: str, level: int = logging.WARNING) -> None:
    """Logs a sentence about data, once in a process.

    Tasks are looked up anew for training, for scoring and for the texts that
    clean parts leave out.
    """
    logging.log(level, "%s", message)


class Source(abc.ABC):
    """Examples in splits.

    Attributes:
        labels: names of the labels; () where there are none.
        warnings: what was odd in the splits read so far: counted, one
            sentence each. Rows are kept.
    """

    labels: tuple[str, ...] = ()

    def __init__(self):
        self.warnings: list[str] = []

    @property
    @abc.abstractmethod
    def split_names(self) -> tuple[str, ...]:
        """The splits that are known by a name."""

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
            DataError: the data are wrong; the message names the place.
        """

    def place(self, split: str, number: int) -> str:
        """Says where an example stands, for messages.

        Args:
            split: its split.
            number: its place in that, from 0.
        """
        return f"split {split}, example {number}"
