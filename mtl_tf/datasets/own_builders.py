"""TFDS builders of the user's own, named by file or module and class."""

import functools
import hashlib
import os
import sys
from typing import TYPE_CHECKING, Any

from mtl_tf.core import own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets.quiet import quiet

if TYPE_CHECKING:
    import tensorflow_datasets as tfds


def is_own(name: str) -> bool:
    """Whether a dataset's name is "PATH.py:CLASS" or "PACKAGE.MODULE:CLASS".

    A configuration may follow, "PATH.py:CLASS/CONFIG". Community datasets of
    the catalogue, "NAMESPACE:NAME", have no dot before the colon.
    """
    place, colon, _ = name.partition(":")
    return bool(colon) and "." in place


def absolute(name: str) -> str:
    """The name with an absolute path, if it has a path."""
    if not is_own(name):
        return name
    place, config = _parts(name)
    return f"{own_functions.absolute(place)}/{config}".removesuffix("/")


def builder(name: str, data_dir: str) -> "tfds.core.DatasetBuilder":
    """The builder of a name, whether its data exist or not.

    Its data are in a folder of `data_dir` that depends on the content of its
    file. So a changed builder builds anew, and two builders of one name do not
    share data.

    Args:
        name: see `is_own`.
        data_dir: the folder of builds.

    Raises:
        ConfigError: the file, module, class or configuration does not exist,
            the class is no builder, or it fails.
    """
    place, config = _parts(name)
    cls, digest = _class(own_functions.absolute(place))
    folder = os.path.join(data_dir, "own_builders", digest)
    try:
        with quiet():
            return cls(data_dir=folder, config=config or None)
    except Exception as error:  # whatever the user's code raises
        raise ConfigError(f"dataset {name!r}: {type(error).__name__}: {error}")


def _parts(name: str) -> tuple[str, str]:
    """The place of the class, and the configuration or ""."""
    module, _, rest = name.rpartition(":")
    cls, _, config = rest.partition("/")
    return f"{module}:{cls}", config


@functools.cache
def _class(place: str) -> tuple[Any, str]:
    """The class of a place and the digest of its file."""
    import tensorflow_datasets as tfds

    # Not registered by name: other builders may have the same name, and
    # reloading a file defines its classes again.
    with tfds.core.registered.skip_registration():
        cls = own_functions.load(place, "class")
    if not isinstance(cls, type) or not issubclass(
        cls, tfds.core.DatasetBuilder
    ):
        raise ConfigError(
            f"{place} must be a class of tfds.core.GeneratorBasedBuilder, got "
            f"{cls!r:.60}"
        )
    module = place.rpartition(":")[0]
    path = module if module.endswith(".py") else sys.modules[module].__file__
    with open(path, "rb") as file:
        return cls, hashlib.sha256(file.read()).hexdigest()[:12]
