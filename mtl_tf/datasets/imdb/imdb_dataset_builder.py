"""IMDB: movie reviews, two classes, from the official archive or folder."""

import os
import re
from collections.abc import Mapping, Sequence

import tensorflow_datasets as tfds

from mtl_tf.datasets.imdb import layout
from mtl_tf.datasets.lines import LabelledText, count
from mtl_tf.datasets.sources import fingerprint
from mtl_tf.datasets.text_class_builder import UNLABELLED, TextClassBuilder

_LINE_BREAKS = re.compile(r"(?:\s*<br\s*/?>)+\s*", re.IGNORECASE)

# The number of files in each released folder.
_REVIEWS = dict.fromkeys(layout.FOLDERS, 12_500) | {layout.UNLABELLED: 50_000}
_LABELS = {"neg": 0, "pos": 1, "unsup": UNLABELLED}


class Builder(TextClassBuilder):
    """Builds IMDB: train, test, and unlabelled if the files have it."""

    FOLDERS = layout.NAMES
    MANUAL_DOWNLOAD_INSTRUCTIONS = """
    Put the official aclImdb_v1.tar.gz, or the folder aclImdb/ unpacked from it,
    into manual_dir/imdb/ or into manual_dir itself. See the README beside this
    builder.
    """

    @classmethod
    def source_files(cls, config: str, manual_dir: str) -> dict[str, str]:
        """The path of the archive, or the paths of the unpacked folders.

        Raises:
            DataError: as for `layout.find`.
        """
        del config
        return layout.find(manual_dir)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        paths = layout.find(os.fspath(dl_manager.manual_dir))
        sources = fingerprint(paths)
        splits: dict[str, list[LabelledText]] = {}
        warnings: list[str] = []
        for folder, reviews in layout.read(paths).items():
            split, _, kind = folder.partition("/")
            split = "unlabelled" if kind == "unsup" else split
            texts = _decode(folder, reviews, warnings)
            rows = [(text, _LABELS[kind]) for text in texts]
            splits.setdefault(split, []).extend(rows)
        self.record(sources, warnings)
        return self.generators(splits)


def _decode(
    folder: str, reviews: Sequence[layout.Review], warnings: list[str]
) -> list[str]:
    """The texts of a folder's reviews; adds to `warnings`."""
    texts, odd = [], {"not UTF-8, read as Latin-1": [], "empty, kept": []}
    undecodable, empty = odd.values()
    for review in reviews:
        try:
            text = review.content.decode("utf-8")
        except UnicodeDecodeError:
            text = review.content.decode("latin-1")
            undecodable.append(review.number)
        texts.append(_LINE_BREAKS.sub(" ", text).strip())
        if not texts[-1]:
            empty.append(review.number)
    warnings += _counted(folder, odd)
    if len(reviews) != _REVIEWS[folder]:
        warnings.append(
            f"{folder}: {count(len(reviews), 'review')}; the released corpus "
            f"has {_REVIEWS[folder]:,}"
        )
    return texts


def _counted(folder: str, odd: Mapping[str, Sequence[int]]) -> list[str]:
    return [
        f"{folder}: {count(len(numbers), 'review')} {oddity} (first: "
        f"{numbers[0]}_*.txt)"
        for oddity, numbers in odd.items()
        if numbers
    ]
