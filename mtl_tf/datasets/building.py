"""Prepares TFDS builders by name; builds are reused while up to date.

This project's builders take precedence over the TFDS catalogue. Beyond what
TFDS itself does,

- a build records the fingerprint of its source files; it is rebuilt if they
  change, or if the build is damaged;
- one process builds, and the others wait for it;
- a process that is killed leaves the old build or none, never a partial one:
  TFDS builds in another folder and renames it, and an outdated build is
  renamed away first; builds of this project's corpora resume after the last
  complete part;
- Apache Beam can build with several workers;
- nothing is printed to standard output, and errors that users can cause are
  `ConfigError` or `DataError`.

TensorFlow is imported on first use.
"""

import importlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from absl import logging

from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.core.names import hint, look_up
from mtl_tf.datasets import own_builders
from mtl_tf.datasets.beam import Beam
from mtl_tf.datasets.build_lock import waiting_lock
from mtl_tf.datasets.corpus_build import CorpusBuild, warnings_of
from mtl_tf.datasets.quiet import quiet

if TYPE_CHECKING:
    import tensorflow_datasets as tfds

__all__ = [
    "OWN",
    "QUESTIONS",
    "data_directory",
    "expand",
    "manual_directory",
    "prepare",
    "warnings_of",
]

#: This project's corpora that are questions, contexts and answers.
QUESTIONS = (
    "squad",
    "qa_srl",
    "qa_zre",
    "wikisql",
    "mwsc",
    "woz",
    "decanlp_multi_nli",
    "decanlp_snli",
    "decanlp_cnn_dailymail",
    "iwslt2016",
    "decanlp_multi30k",
    "decanlp_sst",
    "kotzias_reviews",
    "decanlp_conll2003",
)
_OTHERS = (
    "fdu_mtl",
    "sample_reviews",
    "sst",
    "subj",
    "mr",
    "imdb",
    "conll2000",
    "conll2003",
    "ud_pos",
    "multi30k",
    "europarl",
)


def _configs(corpus: str) -> tuple[str, ...]:
    module = importlib.import_module(f"mtl_tf.datasets.{corpus}")
    return getattr(module, "CONFIGS", ())


#: This project's corpora and their configurations; () for only one. A corpus
#: `x` is the module x/x_dataset_builder.py, as `tfds build` expects. Its
#: configurations are `CONFIGS` of the folder x.
OWN: Mapping[str, tuple[str, ...]] = {
    corpus: _configs(corpus) for corpus in (*_OTHERS, *QUESTIONS)
}
# The configurations that a corpus's name alone stands for, if not all. Not
# every release of SST has phrases, and every pair of IWSLT is a separate
# release.
_USUAL: Mapping[str, tuple[str, ...]] = {
    "sst": ("sst1", "sst2"),
    "iwslt2016": ("en-de",),
}


def data_directory(data_dir: str = "") -> str:
    """The directory of builds.

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
    """The directory of official files: `manual_dir` or `MTL_TF_MANUAL_DIR`."""
    chosen = manual_dir or os.environ.get("MTL_TF_MANUAL_DIR") or ""
    return chosen and os.path.abspath(os.path.expanduser(chosen))


def prepare(
    name: str,
    data_dir: str = "",
    manual_dir: str = "",
    beam: Beam | None = None,
) -> "tfds.core.DatasetBuilder":
    """Returns a builder with prepared data.

    Args:
        name: "fdu_mtl/books", "sample_reviews/films", any name for
            `tfds.builder`, or a builder of your own; see `own_builders.is_own`.
        data_dir: the folder of builds; see `data_directory`.
        manual_dir: the parent of the corpora's folders, or the corpus's own
            folder; see `manual_directory`. If given, the build must match its
            files; if not, an existing build is used as it is.
        beam: builds with Apache Beam; None for this process alone.

    Returns:
        The prepared builder. For warnings about its files see `warnings_of`.

    Raises:
        ConfigError: an unknown dataset or configuration.
        DataError: files are missing (`MissingData` if all of them are) or
            wrong, or a download failed.
        RunError: `data_dir` is not writable.
    """
    data_dir, manual_dir = (
        data_directory(data_dir),
        manual_directory(manual_dir),
    )
    corpus, _, config = name.partition("/")
    if corpus in OWN:
        _check_config(corpus, config)
        return CorpusBuild(corpus, config, data_dir, manual_dir, beam).prepare()
    return _prepare_catalogue(name, data_dir, manual_dir, beam)


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
    """All names that a name stands for: "fdu_mtl" has sixteen tasks."""
    configs = _USUAL.get(name, OWN.get(name, ()))
    return [f"{name}/{config}" for config in configs] or [name]


def _prepare_catalogue(
    name: str, data_dir: str, manual_dir: str, beam: Beam | None
) -> "tfds.core.DatasetBuilder":
    builder = _catalogue_builder(name, data_dir)
    if os.path.isdir(builder.data_dir):
        return builder
    lock = builder.info.full_name.replace("/", ".")
    with waiting_lock(data_dir, lock):
        _download(name, builder, manual_dir, beam)
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
    name: str,
    builder: "tfds.core.DatasetBuilder",
    manual_dir: str,
    beam: Beam | None,
) -> None:
    import tensorflow_datasets as tfds

    inner = os.path.join(manual_dir, builder.name) if manual_dir else ""
    config = tfds.download.DownloadConfig(
        manual_dir=(inner if os.path.isdir(inner) else manual_dir) or None,
        beam_runner=beam and beam.runner,
        beam_options=beam and beam.pipeline_options(),
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
            folder = config.manual_dir
            raise DataError(
                f"{name} needs files that TFDS does not download: "
                + (
                    f"they are looked for in {folder}. {error}"
                    if folder and os.path.isdir(folder)
                    else "name their folder by --manual_dir or "
                    f"MTL_TF_MANUAL_DIR. {error}"
                )
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
