"""Questions, contexts and answers from TFDS datasets."""

import functools
from collections.abc import Mapping
from typing import Any

import tensorflow as tf

from mtl_tf.core.errors import MissingData
from mtl_tf.datasets.building import QUESTIONS
from mtl_tf.tasks.prepared import FeatureRequest, PreparedDataset
from mtl_tf.tasks.source import SPLITS, Source
from mtl_tf.tasks.sources.question_source import ANSWER, NOTHING


class QuestionDatasetSource(Source):
    """A TFDS dataset of questions, prepared on first use.

    Args:
        name: the dataset's name, with its config: "squad", "iwslt2016/en-de".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        columns: the features of `context`, `question` and `answer`, and in this
            project's corpora also `answers` and `scoring`. Without these two,
            the answer is the only right one.
    """

    labels = ()

    def __init__(
        self,
        name: str,
        data_dir: str,
        manual_dir: str,
        columns: Mapping[str, str],
    ):
        super().__init__()
        self._is_prepared_corpus = name.partition("/")[0] in QUESTIONS
        self._name = name
        lists = {"answers": "a list of texts"}
        requests = [
            FeatureRequest(
                role,
                column,
                (tf.string,),
                int(role in lists),
                lists.get(role, "a text"),
            )
            for role, column in columns.items()
        ]
        self._columns = dict(columns)
        self._dataset = PreparedDataset(
            name, data_dir, manual_dir, requests, self.warnings
        )

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return self._dataset.split_names

    def size(self, split: str) -> int:
        """Returns the number of examples of a split or a slice of one.

        Raises:
            MissingData: the release has the split, but this copy of it does
                not.
        """
        if (
            self._is_prepared_corpus
            and split in SPLITS
            and split not in self.split_names
        ):
            first = self.split_names[0]
            raise MissingData(
                f"{self._name} has no {split} split: of its files only those "
                f"of {', '.join(self.split_names)} are there. An entry with "
                "`splits` can divide these, such as "
                f"'{first}[:80%]' and '{first}[80%:]'"
            )
        return self._dataset.size(split)

    def dataset(self, split: str) -> tf.data.Dataset:
        """Returns the examples of a split or of a slice of one, in order."""
        self.size(split)
        return self._dataset.examples(split).map(
            functools.partial(_named, self._columns)
        )


@tf.autograph.experimental.do_not_convert
def _named(
    columns: Mapping[str, str], example: Mapping[str, Any]
) -> dict[str, Any]:
    renamed = {key: example[column] for key, column in columns.items()}
    renamed.setdefault("answers", renamed[ANSWER][None])
    renamed.setdefault("scoring", tf.constant(NOTHING))
    return renamed
