"""Task types whose examples are whole texts with a target each."""

import abc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.csv_records import COMMA, checked_delimiter
from mtl_tf.tasks import fields
from mtl_tf.tasks.features import INPUT, TARGET, TEXT, Feature
from mtl_tf.tasks.file_source import TextFileSource
from mtl_tf.tasks.row_files import FORMATS, Column, Layout
from mtl_tf.tasks.source import UNLABELLED
from mtl_tf.tasks.task_type import Entry, TaskType
from mtl_tf.tasks.text_targets import TextTarget
from mtl_tf.tasks.tfds_source import TextDatasetSource


class TextTaskType(TaskType):
    """Whole texts with a target each, from tables and TFDS datasets.

    An entry on one's own files is

        {"name": "mails", "type": "classification",
         "files": {"train": "a.tsv", "validation": "b.tsv", "test": "c.tsv"},
         "format": "tsv", "columns": {"text": 1, "label": 0}, "header": False}

    of which `name` and `files` are needed. `format` is by default the ending
    of each file. Columns are named ("text" and that of the target, unless
    given), which takes a header in tsv and csv, or numbered from 0. Without a
    validation file a tenth of the training file is held out.

    Or on a TFDS dataset, with `dataset` (its name) and `splits` (by default
    those of its splits that are called like ours) in place of `files`,
    `format`, `delimiter` and `header`.

    Attributes:
        texts: the features that are texts, each with its time axis.
        element, axes: of the target; see `Feature`.
    """

    texts: Mapping[str, str] = {"text": "text"}
    file_fields = ("columns", "format", "delimiter", "header")
    element: str

    @abc.abstractmethod
    def target(self, entry: Entry) -> TextTarget:
        """What reads the targets of an entry."""

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
        """Tables; see the class."""
        paths, target = fields.paths(entry), self.target(entry)
        layouts = {
            split: self._layout(entry, split, path, target.name)
            for split, path in paths.items()
        }
        forms = {layout.format for layout in layouts.values()}
        if entry.get("delimiter") is not None and "csv" not in forms:
            raise ConfigError(
                f"delimiter is for csv, and the files are read as "
                f"{' and '.join(sorted(forms))}: set format to 'csv', or leave "
                "delimiter out"
            )
        return TextFileSource(paths, layouts, target)

    def dataset_source(
        self, entry: Entry, data_dir: str, manual_dir: str
    ) -> TextDatasetSource:
        """A TFDS dataset with features of texts and a target."""
        target = self.target(entry)
        splits = fields.given_splits(entry) or {}
        return TextDatasetSource(
            fields.dataset_name(entry),
            data_dir,
            manual_dir,
            self._columns(
                entry, target.name, fields.is_text, "the name of a feature"
            ),
            target,
            train=splits.get("train", "train"),
        )

    def _layout(
        self, entry: Entry, split: str, path: str, target: str
    ) -> Layout:
        form = fields.file_format(entry, split, path, FORMATS)
        columns = self._columns(
            entry, target, fields.is_column, "a column's name or number from 0"
        )
        if split == UNLABELLED:
            # Such a file needs no column of targets: one of texts is there.
            columns[target] = columns[list(self.texts)[-1]]
        by_name = [isinstance(column, str) for column in columns.values()]
        if form == "jsonl":
            if not all(by_name) or entry.get("header") is not None:
                raise ConfigError(
                    "jsonl has keys: columns by name, and no header"
                )
            return Layout(form, columns, header=False)
        header = entry.get("header")
        if header is None:
            header = any(by_name)
        if not isinstance(header, bool):
            raise ConfigError(f"header must be True or False, got {header!r}")
        if any(by_name) and not header:
            raise ConfigError(
                "columns are given by name, which takes a header: give them "
                'by number, such as {"text": 1, "label": 0}'
            )
        return Layout(form, columns, header, _delimiter(entry))

    def _columns(
        self,
        entry: Entry,
        target: str,
        is_right: Callable[[Any], bool],
        rule: str,
    ) -> dict[str, Column]:
        columns = {name: name for name in (*self.texts, target)}
        columns |= fields.mapping(
            entry, "columns", is_right, rule, tuple(columns)
        )
        features = list(columns)
        for number, feature in enumerate(features):
            for earlier in features[:number]:
                if columns[feature] == columns[earlier]:
                    raise ConfigError(
                        f"columns.{earlier} and columns.{feature} are both "
                        f"{columns[feature]!r}"
                    )
        return columns


def _delimiter(entry: Entry) -> str:
    """What stands between the cells of an entry's csv files."""
    given = entry.get("delimiter")
    return COMMA if given is None else checked_delimiter("delimiter", given)
