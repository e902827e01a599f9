"""Embedded reviews of four domains, generated without any file."""

import os

import tensorflow_datasets as tfds

from mtl_tf.datasets import sentiment
from mtl_tf.datasets.corpus_builder import CorpusBuilder
from mtl_tf.datasets.sample_reviews import DOMAINS, grammar, words
from mtl_tf.datasets.sources import fingerprint


class Builder(CorpusBuilder):
    """Builds one domain: train, validation, test and unlabelled."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS = [
        tfds.core.BuilderConfig(name=domain) for domain in DOMAINS
    ]

    @classmethod
    def source_files(cls, domain: str, manual_dir: str) -> dict[str, str]:
        """The sources of the texts: this package's grammar and words."""
        del domain, manual_dir
        paths = (grammar.__file__, words.__file__)
        return {os.path.basename(path): path for path in paths}

    def _info(self) -> tfds.core.DatasetInfo:
        return sentiment.dataset_info(self)

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        del dl_manager
        domain = self.builder_config.name
        sentiment.record(self, fingerprint(self.source_files(domain, "")))
        splits = grammar.corpus()[domain]
        return {
            split: self._generate_examples(split, rows)
            for split, rows in splits.items()
        }

    def _generate_examples(self, split: str, rows: tuple[grammar.Row, ...]):
        if split == "unlabelled":
            rows = tuple((text, sentiment.UNLABELLED) for text, _ in rows)
        return sentiment.examples(rows)
