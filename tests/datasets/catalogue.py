"""Datasets that stand for those of the TFDS catalogue."""

import numpy as np
import tensorflow_datasets as tfds


class _Catalogue(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict(
                {
                    "sentence": tfds.features.Text(),
                    "stars": tfds.features.Scalar(np.int64),
                }
            ),
        )

    def _split_generators(self, dl_manager):
        del dl_manager
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for i in range(3):
            yield i, {"sentence": f"a sentence {i}", "stars": i}


class PlainCatalogue(_Catalogue):
    """Needs nothing."""


class TwoTextsCatalogue(_Catalogue):
    """Has two texts, so that none is the text."""

    def _info(self):
        text = tfds.features.Text()
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.FeaturesDict({"a": text, "b": text}),
        )

    def _generate_examples(self):
        yield 0, {"a": "x", "b": "y"}


class ManualCatalogue(_Catalogue):
    """Wants files that it does not download."""

    MANUAL_DOWNLOAD_INSTRUCTIONS = "Put corpus.txt there."

    def _split_generators(self, dl_manager):
        text = (dl_manager.manual_dir / "corpus.txt").read_text()
        return {"train": self._generate_texts(text)}

    def _generate_texts(self, text):
        yield 0, {"sentence": text, "stars": 1}


class OfflineCatalogue(_Catalogue):
    """Wants a file from a server that cannot be reached."""

    def _split_generators(self, dl_manager):
        raise ConnectionError("Failed to resolve 'example.org'")


class ExtraPackageCatalogue(_Catalogue):
    """Wants a package that nobody has."""

    def _split_generators(self, dl_manager):
        import no_such_package_for_sure  # noqa: F401


class DefectCatalogue(_Catalogue):
    """Has a defect of its own."""

    def _split_generators(self, dl_manager):
        raise KeyError("a defect")


class TranslatedCatalogue(_Catalogue):
    """Has pairs of texts as the catalogue's translation datasets."""

    def _info(self):
        return tfds.core.DatasetInfo(
            builder=self,
            features=tfds.features.Translation(languages=("de", "en")),
        )

    def _generate_examples(self):
        for i in range(4):
            yield i, {"de": f"der Satz {i}", "en": f"sentence {i}"}


class BeamCatalogue(_Catalogue):
    """Generates its examples by Apache Beam."""

    def _generate_examples(self):
        import apache_beam as beam

        return beam.Create(range(3)) | beam.Map(_numbered)


def _numbered(i):
    return i, {"sentence": f"a sentence {i}", "stars": i}
