"""QA-SRL: the Wikipedia part of 2015, and QA-SRL Bank 2.0."""

from collections.abc import Mapping, Sequence

import tensorflow_datasets as tfds

from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.qa_srl import CONFIGS, bank2, wiki1
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.datasets.question_builders import QuestionAnswerBuilder

_NAMES = {"train": "train", "validation": "dev", "test": "test"}
_WIKI1 = {"train": 6414, "validation": 2183, "test": 2201}


class Builder(QuestionAnswerBuilder):
    """Builds QA-SRL: train, validation (the official dev) and test."""

    BUILDER_CONFIGS = [tfds.core.BuilderConfig(name=name) for name in CONFIGS]
    FOLDERS = (
        "qa_srl",
        "qasrl",
        "qasrl_2015",
        "qasrl_bank2",
        "qasrl-v2",
        "qasrl-v2_1",
    )
    LAYOUT = ("orig", "qasrl-v2/orig", "qasrl-v2_1/orig")
    # The Bank also has expanded/ and dense/, with other questions.
    PREFERRED = "orig"
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    For qa_srl/wiki1, put wiki1.train.qa, wiki1.dev.qa and wiki1.test.qa, and
    for qa_srl/bank2, train.jsonl.gz, dev.jsonl.gz and test.jsonl.gz of
    qasrl-v2/orig, packed (.gz) or not, into manual_dir/qa_srl/ or into
    manual_dir itself. See the README beside this builder.
    """

    @classmethod
    def files_of(cls, config: str) -> Mapping[str, Sequence[str]]:
        """The names of the files of each split of a release."""
        pattern = "wiki1.{}.qa" if config == "wiki1" else "{}.jsonl"
        return {
            split: (pattern.format(name),) for split, name in _NAMES.items()
        }

    @classmethod
    def marks_of(cls, config: str) -> Sequence[bytes]:
        """A key of Bank 2.0."""
        return [b"sentenceId"] if config == "bank2" else []

    @classmethod
    def counts_of(cls, config: str) -> Mapping[str, int]:
        """The numbers of examples of the release of 2015, by split."""
        return _WIKI1 if config == "wiki1" else {}

    def read_split(
        self, split: str, files: Sequence[LineFile]
    ) -> list[QuestionAnswer]:
        """The questions, in the order of the file."""
        del split
        (file,) = files
        is_bank = self.builder_config.name == "bank2"
        return bank2.read(file) if is_bank else wiki1.read(file)
