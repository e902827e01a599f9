"""The base class of the builders of this project's parallel corpora."""

import os
from collections.abc import Iterator, Mapping, Sequence

import tensorflow_datasets as tfds

from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.parallel_lines import TextPair, read_aligned
from mtl_tf.datasets.sources import identify


def packed_or_not(path: str) -> str:
    """`path`, or `path` with `.gz` added if only that exists."""
    packed = f"{path}.gz"
    alone = os.path.isfile(packed) and not os.path.isfile(path)
    return packed if alone else path


class ParallelCorpusBuilder(CorpusBuilder, skip_registration=True):
    """Builds pairs of texts from line-aligned files.

    The configuration is the pair, source-target. Examples are `source` and
    `target`, in the order of the lines.

    Attributes:
        COUNTS: the numbers of lines of the released files, by their splits.
    """

    VERSION = tfds.core.Version("1.0.0")
    COUNTS: Mapping[str, int] = {}

    @classmethod
    def files_of_splits(
        cls, pair: str, manual_dir: str
    ) -> dict[str, tuple[str, str]]:
        """The paths of source and target of each split of the files.

        Raises:
            DataError: there is no such folder, or no release in it.
        """
        raise NotImplementedError

    def divide(
        self, parts: dict[str, list[TextPair]]
    ) -> dict[str, list[TextPair]]:
        """The splits of the build, made from those of the files."""
        return parts

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files, by file name."""
        pairs = cls.files_of_splits(config, manual_dir).values()
        return {os.path.basename(p): p for paths in pairs for p in paths}

    def _info(self) -> tfds.core.DatasetInfo:
        text = tfds.features.Text
        return self.described(
            {"source": text(), "target": text()},
            supervised=("source", "target"),
        )

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = self.files_of_splits(
            self.builder_config.name, os.fspath(dl_manager.manual_dir)
        )
        sources, warnings, parts = {}, [], {}
        for split, names in paths.items():
            files = [LineFile(name) for name in names]
            for file in files:
                sources[file.name] = identify(file.content)
                file.report_count(self.COUNTS.get(split, len(file)))
            parts[split], oddities = read_aligned(*files)
            warnings += oddities
        self.record(sources, warnings)
        return self.generators(self.divide(parts))

    def _generate_examples(self, pairs: Sequence[TextPair]) -> Iterator:
        for index, (source, target) in enumerate(pairs):
            yield index, {"source": source, "target": target}
