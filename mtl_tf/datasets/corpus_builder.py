"""The base class of the builders of this project's corpora.

TFDS prepares a dataset in one go, and starts anew after a kill. By far the
longest step is to serialize the examples. Here they are serialized in parts,
each in a file of a folder next to the build. So a killed build resumes after
its last complete part, and several workers can write parts
(`mtl_tf.datasets.beam`). From the parts, TFDS writes its usual files. Their
bytes do not depend on kills, whereas those of plain TFDS differ even between
processes.
"""

import itertools
import os
import shutil
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import example_serializer, splits, writer

from mtl_tf.core import files
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.sources import Fingerprint, identify

#: A part takes about a second.
EXAMPLES_A_PART = 8192

_Rows = Iterable[tuple[int, dict[str, Any]]]


class CorpusBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """Builds its splits part by part.

    Builders read their files in `_split_generators`, and number the examples
    that they generate from 0.

    Attributes:
        FOLDERS: the possible names of the folder of the corpus's files, the
            best first.
        LAYOUT: where the files may be in a folder of another name.
        parts_directory: the folder of complete parts until the build exists; ""
            for none. Its name must identify the parts.
    """

    FOLDERS: Sequence[str] = ()
    LAYOUT: Sequence[str] = ()
    parts_directory = ""

    def described(
        self,
        features: Mapping[str, tfds.features.FeatureConnector],
        supervised: tuple[str, str] | None = None,
    ) -> tfds.core.DatasetInfo:
        """Examples of these features, in source order, with metadata.

        The metadata are part of the build. TFDS writes them before it renames
        the finished folder into place, so that a build and its record always
        agree.

        Args:
            features: the features by name.
            supervised: the names of the input and the target.
        """
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict(dict(features)),
            supervised_keys=supervised,
            disable_shuffling=True,
            metadata=tfds.core.MetadataDict(),
        )

    def record(
        self, sources: Fingerprint, warnings: Sequence[str] = ()
    ) -> None:
        """Records the build's sources and warnings in the build."""
        self.info.metadata["sources"] = sources
        self.info.metadata["warnings"] = list(warnings)

    def record_files(self, read: Sequence[LineFile]) -> None:
        """Records the files that were read, and the warnings about them."""
        self.record(
            {file.name: identify(file.content) for file in read},
            [warning for file in read for warning in file.warnings],
        )

    def generators(self, splits: Mapping[str, Any]) -> dict[str, _Rows]:
        """The numbered examples of each split's rows."""
        return {
            name: self._generate_examples(rows) for name, rows in splits.items()
        }

    def missing_parts(self, manual_dir: str) -> int:
        """The number of complete parts that do not exist yet.

        Args:
            manual_dir: the folder of the corpus's files.

        Raises:
            DataError: one of the files is wrong.
        """
        parts = self._whole_parts(manual_dir)
        return sum(not os.path.exists(path) for path, _ in parts)

    def write_parts(self, manual_dir: str, worker: int, workers: int) -> None:
        """Writes a worker's share of the missing parts.

        Args:
            manual_dir: the folder of the corpus's files.
            worker: the worker's number, from 0.
            workers: the number of workers.
        """
        for number, (path, part) in enumerate(self._whole_parts(manual_dir)):
            if number % workers == worker and not os.path.exists(path):
                _write(path, self._serialized(part))

    def _whole_parts(
        self, manual_dir: str
    ) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        """The file name and the examples of each part that is saved."""
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
        """Writes the splits into the folder of the build; TFDS calls it."""
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
        """The serialized examples of a split; saves complete parts in files."""
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
        # `serialize_example` orders the features differently in each process.
        return [
            serializer.get_tf_example(example).SerializeToString(
                deterministic=True
            )
            for example in encoded
        ]


class _Serialized:
    """Replaces a serializer if examples are already serialized."""

    def serialize_example(self, example: bytes) -> bytes:
        """Returns the example."""
        return example


def _parts(rows: _Rows) -> Iterator[list[dict[str, Any]]]:
    """Lists of examples; only the last one may be shorter."""
    examples = (example for _, example in rows)
    while part := list(itertools.islice(examples, EXAMPLES_A_PART)):
        yield part


def _write(path: str, examples: Sequence[bytes]) -> None:
    with files.replacing(path) as temporary:
        with tf.io.TFRecordWriter(temporary) as file:
            for example in examples:
                file.write(example)


def _read(path: str) -> list[bytes] | None:
    """The examples of a part; None if it is missing or damaged."""
    if not os.path.isfile(path):
        return None
    try:
        examples = list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    except tf.errors.DataLossError:
        return None
    return examples if len(examples) == EXAMPLES_A_PART else None
