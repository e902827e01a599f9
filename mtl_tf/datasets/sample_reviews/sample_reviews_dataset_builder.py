"""Embedded reviews of four domains, generated without any file."""

import os

import tensorflow_datasets as tfds

from mtl_tf.datasets.sample_reviews import DOMAINS, grammar, words
from mtl_tf.datasets.sources import fingerprint
from mtl_tf.datasets.text_class_builder import UNLABELLED, TextClassBuilder


class Builder(TextClassBuilder):
    """Builds one domain: train, validation, test and unlabelled."""

    BUILDER_CONFIGS = [
        tfds.core.BuilderConfig(name=domain) for domain in DOMAINS
    ]

    @classmethod
    def source_files(cls, domain: str, manual_dir: str) -> dict[str, str]:
        """The sources of the texts: this package's grammar and words."""
        del domain, manual_dir
        paths = (grammar.__file__, words.__file__)
        return {os.path.basename(path): path for path in paths}

    def _split_generators(self, dl_manager: tfds.download.DownloadManager):
        del dl_manager
        domain = self.builder_config.name
        self.record(fingerprint(self.source_files(domain, "")))
        splits = dict(grammar.corpus()[domain])
        splits["unlabelled"] = tuple(
            (text, UNLABELLED) for text, _ in splits["unlabelled"]
        )
        return self.generators(splits)
