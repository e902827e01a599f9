"""Datasets in the forms that Keras takes."""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mtl_tf.core.columns import column_value, has_column

if TYPE_CHECKING:
    import tensorflow as tf


def unbatched(
    dataset: "tf.data.Dataset",
    ranks: Sequence[int],
    names: Sequence[Collection[str]],
) -> "tf.data.Dataset":
    """A dataset of single examples.

    Args:
        dataset: its elements are examples or batches, as a dict, a tuple or one
            tensor.
        ranks: the rank of each input of a single example.
        names: the names that each may have in a dict.
    """
    spec = dataset.element_spec
    if isinstance(spec, Mapping):
        given = [
            next((column_value(spec, n) for n in of if has_column(spec, n)), ())
            for of in names
        ]
    else:
        given = spec if isinstance(spec, tuple) else [spec]
    is_batched = any(
        getattr(part, "shape", None) is not None and part.shape.rank == rank + 1
        for part, rank in zip(given, ranks)
    )
    return dataset.unbatch() if is_batched else dataset
