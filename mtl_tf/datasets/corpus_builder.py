"""The builder that those of our own corpora are made from.

TFDS prepares a dataset in one go, and anew after it was killed. What takes
longest of it, by far, is to serialize the examples. Here they are serialized
in parts, each in a file of a folder beside the build, so that a killed build
goes on behind its last whole part, and so that several workers can write the
parts (`mtl_tf.datasets.beam`). From the parts TFDS writes what it always
writes; the bytes are the same however often it was killed, which TFDS's own
are not even from one process to the next.
"""

import itertools
import os
import shutil
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer, splits, writer

from mtl_tf.core import files

#: A part takes about a second.
EXAMPLES_A_PART = 8192

_Rows = Iterable[tuple[int, dict[str, Any]]]


class CorpusBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """Builds its splits part by part.

    Builders read their files in `_split_generators`, and number the examples
    that they generate from 0 on.

    Attributes:
        parts_directory: where whole parts are kept until the build is there;
            "" for nowhere. Its name has to tell what they are of.
    """

    parts_directory = ""

    def missing_parts(self, manual_dir: str) -> int:
        """How many whole parts are not there yet.

        Args:
            manual_dir: folder of the corpus's files.

        Raises:
            DataError: one of them is wrong.
        """
        parts = self._whole_parts(manual_dir)
        return sum(not os.path.exists(path) for path, _ in parts)

    def write_parts(self, manual_dir: str, worker: int, workers: int) -> None:
        """Writes a worker's share of the parts that are not there.

        Args:
            manual_dir: folder of the corpus's files.
            worker: number of the worker, from 0 on.
            workers: how many there are.
        """
        for number, (path, part) in enumerate(self._whole_parts(manual_dir)):
            if number % workers == worker and not os.path.exists(path):
                _write(path, self._serialized(part))

    def _whole_parts(
        self, manual_dir: str
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The file and the examples of each part that is kept."""
        manager = types.SimpleNamespace(manual_dir=manual_dir)
        for split, rows in self._split_generators(manager).items():
            for number, part in enumerate(_parts(rows)):
                if len(part) == EXAMPLES_A_PART:
                    yield self._part_path(split, number), part

    def _generate_splits(
        self,
        dl_manager: tfds.download.DownloadManager,
        download_config: tfds.download.DownloadConfig,
    ) -> Sequence[splits.SplitInfo]:
        """Called by TFDS; writes the splits into the folder of the build."""
        generators = self._split_generators(dl_manager)
        written = [
            self._split(name, rows, download_config)
            for name, rows in generators.items()
        ]
        shutil.rmtree(self.parts_directory, ignore_errors=True)
        return written

    def _split(
        self, name: str, rows: _Rows, config: tfds.download.DownloadConfig
    ) -> splits.SplitInfo:
        template = self._get_filename_template(split_name=name)
        written = writer.Writer(
            serializer=_Serialized(),
            filename_template=template,
            hash_salt=name,
            disable_shuffling=self.info.disable_shuffling,
            example_writer=self._example_writer(),
            shard_config=config.get_shard_config(),
        )
        rows = itertools.islice(rows, config.max_examples_per_split)
        for index, example in enumerate(self._serialized_examples(name, rows)):
            written.write(index, example)
        lengths, size = written.finalize()
        return splits.SplitInfo(
            name=name,
            shard_lengths=lengths,
            num_bytes=size,
            filename_template=template,
        )

    def _serialized_examples(self, split: str, rows: _Rows) -> Iterator[bytes]:
        """The serialized examples of a split; keeps whole parts in files."""
        for number, part in enumerate(_parts(rows)):
            path = self._part_path(split, number)
            is_stored = self.parts_directory and len(part) == EXAMPLES_A_PART
            examples = _read(path) if is_stored else None
            if examples is None:
                examples = self._serialized(part)
                if is_stored:
                    _write(path, examples)
            yield from examples

    def _part_path(self, split: str, number: int) -> str:
        return os.path.join(self.parts_directory, f"{split}-{number:06}")

    def _serialized(self, part: Sequence[dict[str, Any]]) -> list[bytes]:
        features = self.info.features
        serializer = example_serializer.ExampleSerializer(
            features.get_serialized_info()
        )
        encoded = map(features.encode_example, part)
        # `serialize_example` has the features in the order of the process.
        return [
            serializer.get_tf_example(example).SerializeToString(
                deterministic=True
            )
            for example in encoded
        ]


class _Serialized:
    """Stands for a serializer where examples are serialized already."""

    def serialize_example(self, example: bytes) -> bytes:
        """Returns the example."""
        return example


def _parts(rows: _Rows) -> Iterator[list[dict[str, Any]]]:
    """Examples in lists, of which only the last may be shorter."""
    examples = (example for _, example in rows)
    while part := list(itertools.islice(examples, EXAMPLES_A_PART)):
        yield part


def _write(path: str, examples: Sequence[bytes]) -> None:
    with files.replacing(path) as temporary:
        with tf.io.TFRecordWriter(temporary) as file:
            for example in examples:
                file.write(example)


def _read(path: str) -> list[bytes] | None:
    """The examples of a part, or None if it is missing or damaged."""
    if not os.path.isfile(path):
        return None
    try:
        examples = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    except tf.errors.DataLossError:
        return None
    return examples if len(examples) == EXAMPLES_A_PART else None
