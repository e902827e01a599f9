"""Multi30k, tokenised or raw, as question answering."""

import os

import tensorflow_datasets as tfds

from mtl_tf.datasets.decanlp_multi30k import CONFIGS
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.multi30k import multi30k_dataset_builder as multi30k
from mtl_tf.datasets.parallel_lines import read_aligned
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder, Reading
from mtl_tf.datasets.sources import identify
from mtl_tf.datasets.translation_questions import cast


class Builder(QuestionAnswerBuilder):
    """Builds the splits of `multi30k` as questions."""

    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    FOLDERS = multi30k.Builder.FOLDERS
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the files of task 1, tokenised, such as train.lc.norm.tok.en, or raw,
    such as train.en, packed (.gz) or not, into manual_dir/multi30k/ or into
    manual_dir itself. See the README beside this builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files, by file name.

        Raises:
            DataError: as for `multi30k`.
        """
        pairs = _paths(config, manual_dir).values()
        return {os.path.basename(p): p for paths in pairs for p in paths}

    def read(self, config: str, manual_dir: str) -> Reading:
        """The pairs of each split.

        Raises:
            DataError: as for `multi30k`.
        """
        splits, sources, warnings = {}, {}, []
        for split, pair_of_paths in _paths(config, manual_dir).items():
            files = [LineFile(path) for path in pair_of_paths]
            for file in files:
                sources[file.name] = identify(file.content)
                expected = multi30k.Builder.COUNTS.get(split, len(file))
                file.report_count(expected)
            pairs, oddities = read_aligned(*files)
            splits[split] = cast(pairs, config, split)
            warnings += oddities
        return Reading(splits, sources, warnings)


def _paths(config: str, manual_dir: str) -> dict[str, tuple[str, str]]:
    """The files of each split; McCann et al.'s code reads raw ones."""
    return multi30k.Builder.files_of_splits(config, manual_dir, raw=True)
