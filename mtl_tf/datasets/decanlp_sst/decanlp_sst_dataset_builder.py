"""Two-class SST from either release, as question answering."""

from mtl_tf.datasets.question_builders import QuestionAnswerBuilder, Reading
from mtl_tf.datasets.sentiment_questions import cast
from mtl_tf.datasets.sst import sst_dataset_builder as sst

_FORM = "sst2"


class Builder(QuestionAnswerBuilder):
    """Builds the sentences of `sst/sst2` as questions."""

    FOLDERS = sst.Builder.FOLDERS
    MANUAL_DOWNLOAD_INSTRUCTIONS = sst.Builder.MANUAL_DOWNLOAD_INSTRUCTIONS

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The paths of the available release, by file name.

        Raises:
            DataError: as for `sst`.
        """
        return sst.Builder.source_files(_FORM, manual_dir)

    def read(self, config: str, manual_dir: str) -> Reading:
        """The sentences of each split.

        Raises:
            DataError: as for `sst`.
        """
        paths = self.source_files(config, manual_dir)
        release = sst.read_release(_FORM, paths)
        splits = {s: cast(rows, s) for s, rows in release.splits.items()}
        return Reading(splits, release.sources, release.warnings)
