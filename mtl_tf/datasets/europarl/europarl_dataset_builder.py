"""Europarl v7 from its aligned files; validation and test are drawn."""

import hashlib
import os

import tensorflow_datasets as tfds

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.corpus_folders import corpus_directory
from mtl_tf.datasets.europarl import CONFIGS
from mtl_tf.datasets.parallel import ParallelCorpusBuilder, packed_or_not
from mtl_tf.datasets.parallel_lines import TextPair

_MOST = 2000  # pairs of a drawn split, approximately
_SHARE = 0.05  # largest share of the corpus for a drawn split
_LEAST = 40


class Builder(ParallelCorpusBuilder):
    """Builds a pair of Europarl: train, validation and test."""

    FOLDERS = ("europarl", "europarl-v7", "training-parallel-europarl-v7")
    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the aligned files of the pairs that you want, such as
    europarl-v7.fr-en.fr and europarl-v7.fr-en.en, packed (.gz) or not, into
    manual_dir/europarl/ or into manual_dir itself. See the README beside this
    builder.
    """

    @classmethod
    def files_of_splits(
        cls, pair: str, manual_dir: str
    ) -> dict[str, tuple[str, str]]:
        """Paths of both files.

        Raises:
            DataError: there is no such folder.
        """
        languages = pair.split("-")
        (foreign,) = {*languages} - {"en"}
        names = [f"europarl-v7.{foreign}-en.{x}" for x in languages]
        holds = [[name] for name in names]
        directory = corpus_directory(manual_dir, cls.FOLDERS, holds)
        source, target = (
            packed_or_not(os.path.join(directory, name)) for name in names
        )
        return {"all": (source, target)}

    def divide(
        self, parts: dict[str, list[TextPair]]
    ) -> dict[str, list[TextPair]]:
        """Draws the validation and the test split by the English text.

        So a sentence is in the same split in every pair that has it, up to
        differences of the corpora's sizes, and equal sentences stay together.

        Raises:
            DataError: there are too few pairs to draw from.
        """
        pairs = parts["all"]
        if len(pairs) < _LEAST:
            raise DataError(
                f"europarl: {len(pairs)} pairs, of which parts are drawn to "
                f"validate and test; at least {_LEAST} are needed"
            )
        english = self.builder_config.name.split("-").index("en")
        share = min(_SHARE, _MOST / len(pairs))
        splits = {"train": [], "validation": [], "test": []}
        for pair in pairs:
            place = _place(pair[english])
            if place < share:
                splits["test"].append(pair)
            elif 0.5 <= place < 0.5 + share:
                splits["validation"].append(pair)
            else:
                splits["train"].append(pair)
        return splits


def _place(text: str) -> float:
    """A number from 0 to 1 that depends only on the text."""
    plain = " ".join(text.lower().split()).encode()
    digest = hashlib.blake2b(plain, digest_size=8, key=b"europarl").digest()
    return int.from_bytes(digest, "little") / 2**64
