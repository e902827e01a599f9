"""Prepared TFDS builders by name: built when needed, reused when still true.

Our own builders win over the TFDS catalogue. Around what TFDS does by itself

- a build remembers the fingerprint of its source files and is made anew when
  they differ, or when the build is damaged;
- one process builds and the others wait for it;
- a process that is killed leaves the old build, or none, but never half of one:
  TFDS builds aside and renames, and an outdated build is first renamed away;
- nothing is printed on standard output, and what can go wrong for reasons of
  the user's is a `ConfigError` or `DataError`.

TensorFlow is imported on first use.
"""

import contextlib
import functools
import importlib
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from absl import logging

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError, DataError, InUse, MissingData
from mtl_tf.core.names import hint, look_up
from mtl_tf.datasets import own_builders
from mtl_tf.datasets.conll2000 import CONFIGS as CONLL2000
from mtl_tf.datasets.conll2003 import CONFIGS as CONLL2003
from mtl_tf.datasets.decanlp_multi30k import CONFIGS as DECANLP_MULTI30K
from mtl_tf.datasets.europarl import CONFIGS as EUROPARL
from mtl_tf.datasets.fdu_mtl import TASKS
from mtl_tf.datasets.iwslt2016 import CONFIGS as IWSLT2016
from mtl_tf.datasets.kotzias_reviews import CONFIGS as KOTZIAS
from mtl_tf.datasets.multi30k import CONFIGS as MULTI30K
from mtl_tf.datasets.qa_srl import CONFIGS as QA_SRL
from mtl_tf.datasets.quiet import quiet
from mtl_tf.datasets.sample_reviews import DOMAINS
from mtl_tf.datasets.sources import Fingerprint, check_fingerprint, fingerprint
from mtl_tf.datasets.sst import CONFIGS as SST
from mtl_tf.datasets.ud_pos import CONFIGS as UD_POS

if TYPE_CHECKING:
    import tensorflow_datasets as tfds

#: Of our own corpora those that are questions, contexts and answers.
QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "squad": (),
    "qa_srl": QA_SRL,
    "qa_zre": (),
    "wikisql": (),
    "mwsc": (),
    "woz": (),
    "decanlp_multi_nli": (),
    "decanlp_snli": (),
    "decanlp_cnn_dailymail": (),
    "iwslt2016": IWSLT2016,
    "decanlp_multi30k": DECANLP_MULTI30K,
    "decanlp_sst": (),
    "kotzias_reviews": KOTZIAS,
    "decanlp_conll2003": (),
}

# Our own corpora and their configurations; () where there is but one. A corpus
# `x` lives in the module x/x_dataset_builder.py, as `tfds build` wants it.
OWN: Mapping[str, tuple[str, ...]] = {
    "fdu_mtl": TASKS,
    "sample_reviews": DOMAINS,
    "sst": SST,
    "subj": (),
    "mr": (),
    "imdb": (),
    "conll2000": CONLL2000,
    "conll2003": CONLL2003,
    "ud_pos": UD_POS,
    "multi30k": MULTI30K,
    "europarl": EUROPARL,
    **QUESTIONS,
}
# What a corpus's name alone stands for, if not all of its configurations:
# phrases cannot be had from every release of SST, and every pair of IWSLT is a
# release of its own.
_USUAL: Mapping[str, tuple[str, ...]] = {
    "sst": ("sst1", "sst2"),
    "iwslt2016": ("en-de",),
}

_SET_ASIDE = "outdated."


def data_directory(data_dir: str = "") -> str:
    """Where builds are kept.

    Args:
        data_dir: the user's choice, or "" for the default.

    Returns:
        `data_dir`, else the environment's `MTL_TF_DATA_DIR`, else TFDS's own
        folder (`TFDS_DATA_DIR`, else ~/tensorflow_datasets), so that builds
        made by `tfds build` are found too.
    """
    chosen = (
        data_dir
        or os.environ.get("MTL_TF_DATA_DIR")
        or os.environ.get("TFDS_DATA_DIR")
        or os.path.join("~", "tensorflow_datasets")
    )
    return os.path.abspath(os.path.expanduser(chosen))


def manual_directory(manual_dir: str = "") -> str:
    """Where official files are: `manual_dir`, else `MTL_TF_MANUAL_DIR`."""
    chosen = manual_dir or os.environ.get("MTL_TF_MANUAL_DIR") or ""
    return chosen and os.path.abspath(os.path.expanduser(chosen))


def prepare(
    name: str, data_dir: str = "", manual_dir: str = ""
) -> "tfds.core.DatasetBuilder":
    """A builder whose data are ready to be read.

    Args:
        name: "fdu_mtl/books", "sample_reviews/films", any name that
            `tfds.builder` takes, or a builder of one's own; see
            `own_builders.is_own`.
        data_dir: folder of the builds; see `data_directory`.
        manual_dir: folder that holds the corpora's folders, or the corpus's own
            folder; see `manual_directory`. Where one is given, the build is the
            one of its files; without one, an existing build is taken as it is.

    Returns:
        The prepared builder. What was odd about its files: `warnings_of`.

    Raises:
        ConfigError: unknown dataset or configuration.
        DataError: files are missing (`MissingData`, if all of them are) or
            wrong, or a download failed.
        RunError: `data_dir` cannot be written to.
    """
    data_dir, manual_dir = (
        data_directory(data_dir),
        manual_directory(manual_dir),
    )
    corpus, _, config = name.partition("/")
    if corpus in OWN:
        _check_config(corpus, config)
        return _Own(corpus, config, data_dir, manual_dir).prepare()
    return _prepare_catalogue(name, data_dir, manual_dir)


def _check_config(corpus: str, config: str) -> None:
    options = OWN[corpus]
    if config and not options:
        raise ConfigError(
            f"{corpus} has no configurations: name it without {config!r}"
        )
    if options and not config:
        raise ConfigError(
            f"{corpus} has several configurations; name one of them: "
            + ", ".join(f"{corpus}/{option}" for option in options)
        )
    if config:
        look_up(config, dict.fromkeys(options), f"configuration of {corpus}")


def expand(name: str) -> list[str]:
    """The names behind one name: "fdu_mtl" stands for its sixteen tasks."""
    configs = _USUAL.get(name, OWN.get(name, ()))
    return [f"{name}/{config}" for config in configs] or [name]


def warnings_of(builder: "tfds.core.DatasetBuilder") -> list[str]:
    """The counted warnings that were given when `builder`'s data were built."""
    return list((builder.info.metadata or {}).get("warnings", ()))


class _Own:
    """One configuration of one of our own corpora."""

    def __init__(
        self, corpus: str, config: str, data_dir: str, manual_dir: str
    ):
        self._class = _builder_class(corpus)
        self._config = config or None
        self._name = f"{corpus}/{config}".removesuffix("/")
        self._data_dir = data_dir
        self._manual_dir = manual_dir
        self._parent = os.path.join(data_dir, corpus, config)
        self._build = os.path.join(self._parent, str(self._class.VERSION))

    def prepare(self) -> "tfds.core.DatasetBuilder":
        """A builder of a build that is complete and up to date."""
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
        with _waiting_lock(self._data_dir, self._name.replace("/", ".")):
            # The process that held the lock may have built it.
            return self._reusable(current) or self._make()

    @property
    def _instructions(self) -> str:
        return " ".join(
            (self._class.MANUAL_DOWNLOAD_INSTRUCTIONS or "").split()
        )

    def _fingerprint(self) -> Fingerprint | None:
        if self._class.MANUAL_DOWNLOAD_INSTRUCTIONS and not self._manual_dir:
            return None
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
        """The builder of what is on disk, or None if something is missing."""
        try:
            with quiet():
                builder = self._builder()
            whole = "sources" in (builder.info.metadata or {}) and all(
                os.path.isfile(path)
                for split in builder.info.splits.values()
                for path in split.filepaths
            )
        except Exception as error:  # whatever TFDS makes of half a build
            logging.debug("%s: %r", self._build, error)
            return None
        return builder if whole and builder.info.splits else None

    def _make(self) -> "tfds.core.DatasetBuilder":
        import tensorflow_datasets as tfds

        self._clear()
        logging.info("%s: building in %s", self._name, self._build)
        config = tfds.download.DownloadConfig(
            manual_dir=self._manual_dir or None, try_download_gcs=False
        )
        try:
            with quiet():
                builder = self._builder()
                builder.download_and_prepare(download_config=config)
        except OSError as error:
            raise DataError(
                f"{self._name}: cannot build in {self._build}: {error}"
            )
        for warning in warnings_of(builder):
            logging.warning("%s: %s", self._name, warning)
        return builder

    def _clear(self) -> None:
        """Removes an outdated build and what killed processes left behind.

        The build goes by one rename, so that a kill in the middle of the
        deletion does not leave a folder that looks like a build.
        """
        if os.path.isdir(self._build):
            aside = f"{_SET_ASIDE}{os.getpid()}_{self._class.VERSION}"
            os.rename(self._build, os.path.join(self._parent, aside))
        if not os.path.isdir(self._parent):
            return
        for entry in os.listdir(self._parent):
            if entry.startswith((_SET_ASIDE, "incomplete.")):
                shutil.rmtree(os.path.join(self._parent, entry), True)

    def _builder(self) -> "tfds.core.DatasetBuilder":
        return self._class(data_dir=self._data_dir, config=self._config)


@functools.cache
def _builder_class(corpus: str) -> type["tfds.core.GeneratorBasedBuilder"]:
    module = f"mtl_tf.datasets.{corpus}.{corpus}_dataset_builder"
    return importlib.import_module(module).Builder


def _prepare_catalogue(
    name: str, data_dir: str, manual_dir: str
) -> "tfds.core.DatasetBuilder":
    builder = _catalogue_builder(name, data_dir)
    if os.path.isdir(builder.data_dir):
        return builder
    lock = builder.info.full_name.replace("/", ".")
    with _waiting_lock(data_dir, lock):
        _download(name, builder, manual_dir)
    return builder


def _catalogue_builder(name: str, data_dir: str) -> "tfds.core.DatasetBuilder":
    if own_builders.is_own(name):
        return own_builders.builder(name, data_dir)
    import tensorflow_datasets as tfds

    try:
        with quiet():
            return tfds.builder(name, data_dir=data_dir)
    except tfds.core.DatasetNotFoundError:
        known = [*OWN, *tfds.list_builders(with_community_datasets=False)]
        corpus = name.partition("/")[0]
        raise ConfigError(f"unknown dataset {name!r}; {hint(corpus, known)}")
    except (ValueError, RuntimeError) as error:
        raise ConfigError(f"dataset {name!r}: {error}")
    except ImportError as error:
        raise _missing_package(name, error)
    except OSError as error:
        raise DataError(f"dataset {name!r} cannot be read: {error}")


def _download(
    name: str, builder: "tfds.core.DatasetBuilder", manual_dir: str
) -> None:
    import tensorflow_datasets as tfds

    inner = os.path.join(manual_dir, builder.name) if manual_dir else ""
    config = tfds.download.DownloadConfig(
        manual_dir=(inner if os.path.isdir(inner) else manual_dir) or None
    )
    logging.info("%s: building in %s", name, builder.data_dir)
    try:
        with quiet(progress=True):
            builder.download_and_prepare(download_config=config)
    except ImportError as error:
        raise _missing_package(name, error)
    except Exception as error:
        if builder.MANUAL_DOWNLOAD_INSTRUCTIONS and isinstance(
            error, (OSError, AssertionError)
        ):
            raise DataError(
                f"{name} needs files that TFDS does not download: name their "
                f"folder by --manual_dir or MTL_TF_MANUAL_DIR. {error}"
            )
        if isinstance(error, OSError) or _is_download_error(error):
            raise DataError(
                f"{name} could not be downloaded into {builder.data_dir}: "
                f"{error}. Check the network and the free space, or copy a "
                "prepared build there"
            )
        raise


def _is_download_error(error: Exception) -> bool:
    module = type(error).__module__
    return module.startswith(("tensorflow_datasets.core.download", "urllib3"))


def _missing_package(name: str, error: ImportError) -> ConfigError:
    return ConfigError(
        f"dataset {name!r} needs a package that is not installed: {error}"
    )


@contextlib.contextmanager
def _waiting_lock(data_dir: str, name: str) -> Iterator[None]:
    """Holds a lock of `data_dir`; waits for the process that has it."""
    directory = files.make_directory(os.path.join(data_dir, ".locks"))
    with contextlib.ExitStack() as stack:
        told = False
        while True:
            try:
                stack.enter_context(files.locked(directory, f"{name}.lock"))
                break
            except InUse:
                if not told:
                    logging.info("%s: another process is building it", name)
                told = True
                time.sleep(0.2)
        yield
