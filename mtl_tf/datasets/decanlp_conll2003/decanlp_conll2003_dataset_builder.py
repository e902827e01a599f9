"""Named entities of CoNLL-2003, as question answering."""

import os
from collections.abc import Sequence

import tensorflow_datasets as tfds

from mtl_tf.datasets import question_answers
from mtl_tf.datasets.conll2003 import conll2003_dataset_builder as conll2003
from mtl_tf.datasets.lines import LineFile
from mtl_tf.datasets.question_answers import QuestionAnswer
from mtl_tf.text import span_schemes

QUESTION = "What are the tags for all entities?"
NO_ENTITY = "None"
# Words for types of entities, which a model may know from other texts.
_WORDS = {
    "PER": "person",
    "LOC": "location",
    "ORG": "organization",
    "MISC": "miscellaneous",
}


class Builder(conll2003.Builder):
    """Builds the sentences of `conll2003` as questions."""

    # There is one question, and so no column to choose.
    BUILDER_CONFIGS = []

    def _info(self) -> tfds.core.DatasetInfo:
        return self.described(question_answers.features())

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = self.files_of_splits(os.fspath(dl_manager.manual_dir))
        splits: dict[str, list[QuestionAnswer]] = {}
        read: list[LineFile] = []
        for split, of_split in paths.items():
            rows = splits[split] = []
            for file in map(LineFile, of_split):
                for example in self._examples(file, split):
                    name = f"{split}_{len(rows)}"
                    rows.append(_cast(example["tokens"], example["ner"], name))
                read.append(file)
        self.record_files(read)
        return self.generators(splits)

    def _generate_examples(self, rows: Sequence[QuestionAnswer]):
        return question_answers.examples(rows)


def _cast(
    tokens: Sequence[str], tags: Sequence[str], name: str
) -> QuestionAnswer:
    entities = [
        f"{' '.join(tokens[span.start : span.stop])} -- "
        f"{_WORDS.get(span.type, span.type.lower())}"
        for span in span_schemes.spans(tags)
    ]
    answer = "; ".join(entities) or NO_ENTITY
    return QuestionAnswer(QUESTION, " ".join(tokens), (answer,), name)
