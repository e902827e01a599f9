"""A TFDS dataset and the features that a task needs of it."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint
from mtl_tf.datasets.quiet import quiet

# Labels may be ids of the dataset, any integers, or strings.
LABEL_DTYPES = (tf.string, tf.int64, tf.int32, tf.uint8, tf.bool)


class FeatureRequest(NamedTuple):
    """A feature that a task needs.

    Attributes:
        role: its key in an entry's `columns`.
        column: its name in the dataset.
        dtypes: the allowed types.
        rank: the number of dimensions: 0 for one value, 1 for a sequence.
        description: what it must be, for messages.
    """

    role: str
    column: str
    dtypes: Sequence[tf.DType]
    rank: int
    description: str


class PreparedDataset:
    """A TFDS dataset, prepared on first use.

    Args:
        name: the dataset's name, with its config: "fdu_mtl/books", "glue/sst2".
        data_dir, manual_dir: see `mtl_tf.datasets.building.prepare`.
        requests: the features that it must have.
        warnings: the list that receives the warnings of a build.

    Every use raises `ConfigError` if there is no such dataset or no such
    feature, and `DataError` if it cannot be built.
    """

    def __init__(
        self,
        name: str,
        data_dir: str,
        manual_dir: str,
        requests: Sequence[FeatureRequest],
        warnings: list[str],
    ):
        self.name = name
        self._directories = Directories(data_dir, manual_dir)
        self._requests = requests
        self._warnings = warnings

    @property
    def split_names(self) -> tuple[str, ...]:
        """The dataset's splits, without slices of them."""
        return tuple(self._builder.info.splits)

    def feature(self, column: str) -> Any:
        """The feature of that name."""
        return self._builder.info.features[column]

    def size(self, split: str) -> int:
        """Returns the number of examples of a split or a slice of one."""
        # TFDS raises KeyError for an unknown split, and various other errors
        # for a wrong slice.
        try:
            return self._builder.info.splits[split].num_examples
        except (KeyError, ValueError, AssertionError) as error:
            base = split.partition("[")[0]
            reason = hint(base, self.split_names)
            if base in self.split_names:
                reason = str(error.args[0] if error.args else error)
                reason = reason.partition("\n")[0]
            raise ConfigError(
                f"dataset {self.name} has no split {split!r}; {reason}"
            )

    def examples(self, split: str) -> tf.data.Dataset:
        """The requested features of a split or a slice of one, in order."""
        import tensorflow_datasets as tfds

        self.size(split)  # raises a readable error
        columns = {request.column: True for request in self._requests}
        decoders = None
        # TFDS reads `Translation` and similar features only as a whole.
        if type(self._builder.info.features) is tfds.features.FeaturesDict:
            decoders = tfds.decode.PartialDecoding(columns)
        with quiet():
            return self._builder.as_dataset(
                split=split, shuffle_files=False, decoders=decoders
            )

    @functools.cached_property
    def _builder(self) -> Any:
        from mtl_tf.datasets.building import prepare, warnings_of

        builder = prepare(self.name, *self._directories)
        self._warnings.extend(warnings_of(builder))
        for request in self._requests:
            self._check(builder.info.features, request)
        return builder

    def _check(self, features: Any, request: FeatureRequest) -> None:
        if not hasattr(features, "keys") or request.column not in features:
            raise ConfigError(
                f"dataset {self.name} has no feature {request.column!r} for "
                f"columns.{request.role}; "
                f"{hint(request.column, features or ())}"
            )
        spec = features[request.column].get_tensor_spec()
        if not isinstance(spec, tf.TensorSpec) or (
            spec.shape.rank != request.rank or spec.dtype not in request.dtypes
        ):
            raise ConfigError(
                f"feature {request.column!r} of dataset {self.name} cannot be "
                f"{request.description}: it is {features[request.column]}"
            )


def class_names(feature: Any) -> tuple[str, ...] | None:
    """The names of a ClassLabel's classes; None for any other feature."""
    names = getattr(feature, "names", None)
    if names is None and getattr(feature, "num_classes", None):
        names = map(str, range(feature.num_classes))
    return None if names is None else tuple(names)
