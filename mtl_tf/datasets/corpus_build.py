"""The build of one of this project's corpora: made, reused or remade."""

import functools
import hashlib
import importlib
import json
import os
import shutil
from typing import TYPE_CHECKING

from absl import logging

from mtl_tf.core.errors import DataError, MissingData
from mtl_tf.core.version import __version__
from mtl_tf.datasets.beam import Beam
from mtl_tf.datasets.build_lock import waiting_lock
from mtl_tf.datasets.corpus_folders import packed
from mtl_tf.datasets.quiet import quiet
from mtl_tf.datasets.sources import Fingerprint, check_fingerprint, fingerprint

if TYPE_CHECKING:
    import tensorflow_datasets as tfds

    from mtl_tf.datasets.corpus_builder import CorpusBuilder

_SET_ASIDE = "outdated."
_PARTS = "parts."


def warnings_of(builder: "tfds.core.DatasetBuilder") -> list[str]:
    """The counted warnings of the build of `builder`'s data."""
    return list((builder.info.metadata or {}).get("warnings", ()))


class CorpusBuild:
    """The build of one configuration of one of this project's corpora.

    Args:
        corpus: the name of the corpus.
        config: its configuration, "" if there is only one.
        data_dir: the folder of builds.
        manual_dir: the folder of the files, "" for none.
        beam: builds with several workers; None for this process alone.
    """

    def __init__(
        self,
        corpus: str,
        config: str,
        data_dir: str,
        manual_dir: str,
        beam: Beam | None = None,
    ):
        self._class = builder_class(corpus)
        self._config = config or None
        self._name = f"{corpus}/{config}".removesuffix("/")
        self._data_dir = data_dir
        self._manual_dir = manual_dir
        self._beam = beam
        self._parent = os.path.join(data_dir, corpus, config)
        self._build = os.path.join(self._parent, str(self._class.VERSION))

    def prepare(self) -> "tfds.core.DatasetBuilder":
        """Returns a builder with a complete and up-to-date build.

        Raises:
            MtlError: as for `building.prepare`.
        """
        current = self._fingerprint()
        builder = self._reusable(current)
        if builder is not None:
            return builder
        if current is None:
            raise MissingData(
                f"{self._name} is built from files that are not shipped: give "
                "the folder that holds them by --manual_dir or "
                "MTL_TF_MANUAL_DIR. " + self._instructions
            )
        with waiting_lock(self._data_dir, self._name.replace("/", ".")):
            # The process that held the lock may have built it.
            return self._reusable(current) or self._make(current)

    @property
    def _instructions(self) -> str:
        return " ".join(
            (self._class.MANUAL_DOWNLOAD_INSTRUCTIONS or "").split()
        )

    def _fingerprint(self) -> Fingerprint | None:
        if self._class.MANUAL_DOWNLOAD_INSTRUCTIONS and not self._manual_dir:
            return None
        try:
            return self._present()
        except MissingData as error:
            names = self._class.FOLDERS
            archives = names and packed(self._manual_dir, names)
            if not archives:
                raise
            raise MissingData(
                f"{error}. If an archive holds them, unpack it first: "
                + ", ".join(archives)
            )

    def _present(self) -> Fingerprint:
        """The fingerprint of the files in the folder of the user's choice."""
        paths = self._class.source_files(self._config or "", self._manual_dir)
        if paths and not any(map(os.path.exists, paths.values())):
            raise MissingData(
                f"{self._name}: none of its files is there "
                f"({', '.join(paths.values())}): the folder given by "
                "--manual_dir (or MTL_TF_MANUAL_DIR) must hold them. "
                + self._instructions
            )
        return fingerprint(paths)

    def _reusable(
        self, current: Fingerprint | None
    ) -> "tfds.core.DatasetBuilder | None":
        if not os.path.isdir(self._build):
            return None
        builder = self._complete()
        if builder is None:
            logging.warning("%s: %s is damaged", self._name, self._build)
            return None
        recorded = builder.info.metadata["sources"]
        changed = check_fingerprint(recorded, current) if current else []
        if changed:
            logging.info(
                "%s: the build was made from other files (%s)",
                self._name,
                ", ".join(changed),
            )
            return None
        return builder

    def _complete(self) -> "tfds.core.DatasetBuilder | None":
        """The builder of the build on disk, or None if it is incomplete."""
        try:
            with quiet():
                builder = self._builder()
            whole = "sources" in (builder.info.metadata or {}) and all(
                os.path.isfile(path)
                for split in builder.info.splits.values()
                for path in split.filepaths
            )
        except Exception as error:  # whatever TFDS raises for a partial build
            logging.debug("%s: %r", self._build, error)
            return None
        return builder if whole and builder.info.splits else None

    def _make(self, sources: Fingerprint) -> "tfds.core.DatasetBuilder":
        import tensorflow_datasets as tfds

        parts = self._parts_directory(sources)
        self._clear(parts)
        logging.info("%s: building in %s", self._name, self._build)
        config = tfds.download.DownloadConfig(
            manual_dir=self._manual_dir or None, try_download_gcs=False
        )
        try:
            with quiet():
                builder = self._builder()
                builder.parts_directory = parts
                if self._beam is not None:
                    self._beam.write_parts(builder, self._manual_dir)
                builder.download_and_prepare(download_config=config)
        except OSError as error:
            raise DataError(
                f"{self._name}: cannot build in {self._build}: {error}"
            )
        for warning in warnings_of(builder):
            logging.warning("%s: %s", self._name, warning)
        return builder

    def _parts_directory(self, sources: Fingerprint) -> str:
        """The folder of this build's parts until it is complete."""
        described = [__version__, self._name, str(self._class.VERSION), sources]
        digest = hashlib.blake2b(
            json.dumps(described, sort_keys=True).encode(), digest_size=8
        ).hexdigest()
        return os.path.join(self._parent, f"{_PARTS}{digest}")

    def _clear(self, parts: str) -> None:
        """Removes an outdated build and leftovers of killed processes.

        The folder `parts` stays. The build is removed by one rename, so that a
        kill during the deletion leaves no folder that looks like a build.
        """
        if os.path.isdir(self._build):
            aside = f"{_SET_ASIDE}{os.getpid()}_{self._class.VERSION}"
            os.rename(self._build, os.path.join(self._parent, aside))
        if not os.path.isdir(self._parent):
            return
        for entry in os.listdir(self._parent):
            path = os.path.join(self._parent, entry)
            left = entry.startswith((_SET_ASIDE, _PARTS, "incomplete."))
            if left and path != parts:
                shutil.rmtree(path, ignore_errors=True)

    def _builder(self) -> "CorpusBuilder":
        return self._class(data_dir=self._data_dir, config=self._config)


@functools.cache
def builder_class(corpus: str) -> type["CorpusBuilder"]:
    """The builder class of one of this project's corpora, by its name."""
    module = f"mtl_tf.datasets.{corpus}.{corpus}_dataset_builder"
    return importlib.import_module(module).Builder
