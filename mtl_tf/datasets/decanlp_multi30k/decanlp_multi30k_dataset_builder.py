"""Multi30k from its tokenised files, as question answering."""

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
    MANUAL_DOWNLOAD_INSTRUCTIONS = multi30k.Builder.MANUAL_DOWNLOAD_INSTRUCTIONS

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """Paths of the official files, by file name.

        Raises:
            DataError: as for `multi30k`.
        """
        return multi30k.Builder.source_files(config, manual_dir)

    def read(self, config: str, manual_dir: str) -> Reading:
        """The pairs of each split.

        Raises:
            DataError: as for `multi30k`.
        """
        splits, sources, warnings = {}, {}, []
        paths = multi30k.Builder.files_of_splits(config, manual_dir)
        for split, pair_of_paths in paths.items():
            files = [LineFile(path) for path in pair_of_paths]
            for file in files:
                sources[file.name] = identify(file.content)
                expected = multi30k.Builder.COUNTS.get(split, len(file))
                file.report_count(expected)
            pairs, oddities = read_aligned(*files)
            splits[split] = cast(pairs, config, split)
            warnings += oddities
        return Reading(splits, sources, warnings)
