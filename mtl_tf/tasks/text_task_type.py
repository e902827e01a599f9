"""Task types whose examples are whole texts, each with one target."""

import abc
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, TARGET, TEXT, Feature
from mtl_tf.tasks.reading.layouts import FIELDS, columns_of, layouts_of
from mtl_tf.tasks.sources.file_source import TextFileSource
from mtl_tf.tasks.sources.tfds_source import TextDatasetSource
from mtl_tf.tasks.task_type import Entry, TaskType
from mtl_tf.tasks.text_targets import TextTarget


class TextTaskType(TaskType):
    """Whole texts with one target each, from tables or TFDS datasets.

    An entry with files of your own is

        {"name": "mails", "type": "classification",
         "files": {"train": "a.tsv", "validation": "b.tsv", "test": "c.tsv"},
         "format": "tsv", "columns": {"text": 1, "label": 0}, "header": False}

    Only `name` and `files` are required. A split may be a list of files,
    "train": ["a.tsv", "b.tsv"], of one format and with the same columns; they
    are read in that order as one file. The default `format` is each file's
    ending. Columns are given by name or by number from 0. The default names are
    "text" and the target's name; names need a header in tsv and csv. Without a
    validation file, a tenth of the training data is held out. `skip_missing`
    leaves out rows whose target is an empty cell, null or NaN, and
    `skip_malformed` rows of tsv and csv with a wrong number of columns.

    An entry with a TFDS dataset has `dataset` (its name) and `splits` (by
    default the dataset's splits of the names train, validation and test) in
    place of `files`, `format`, `delimiter`, `header` and `skip_malformed`.

    Attributes:
        texts: the text features, each with its time axis.
        element, axes: of the target; see `Feature`.
    """

    texts: Mapping[str, str] = {"text": "text"}
    file_fields = {**FIELDS, "skip_missing": ()}
    element: str

    @abc.abstractmethod
    def target(self, entry: Entry) -> TextTarget:
        """The parser of an entry's targets."""

    def target_axes(self, labels: Sequence[str]) -> tuple[int, ...]:
        """The axes of an example's target; none by default."""
        del labels
        return ()

    def features(
        self, labels: Sequence[str], settings: Mapping[str, Any]
    ) -> tuple[Feature, ...]:
        """The texts and the target."""
        name = self.target({}).name
        texts = [
            Feature(text, INPUT, TEXT, (axis,))
            for text, axis in self.texts.items()
        ]
        axes = self.target_axes(labels)
        return (*texts, Feature(name, TARGET, self.element, axes))

    def file_source(self, entry: Entry) -> TextFileSource:
        """The source of an entry with tables; see the class."""
        paths, target = fields.paths(entry), self.target(entry)
        features = (*self.texts, target.name)
        layouts = layouts_of(
            entry,
            paths,
            features,
            may_have_several=self.may_have_several_columns,
        )
        skip_missing = entry.get("skip_missing") or False
        checks.boolean("skip_missing", skip_missing)
        return TextFileSource(paths, layouts, target, skip_missing)

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> TextDatasetSource:
        """The source of an entry with a TFDS dataset."""
        target = self.target(entry)
        splits = fields.given_splits(entry) or {}
        return TextDatasetSource(
            fields.dataset_name(entry),
            data_dir,
            manual_dir,
            columns_of(
                entry,
                (*self.texts, target.name),
                fields.is_text,
                "the name of a feature",
            ),
            target,
            train=splits.get("train", "train"),
        )
