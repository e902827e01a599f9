"""Serves models that write texts, by a search in the graph."""

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from mtl_tf.prediction.search_batches import AT_ONCE, CELLS_AT_ONCE

from . import exported_files
from .serving import Served, Tensors, rows_of, updated


class ServedSearch(Served):
    """Tasks whose answers are found by the run's decoder.

    Attributes:
        first: the feature that gives the length of a text; 0 is padding.
    """

    first = "tokens"

    def __init__(self, run, models, tasks, **options):
        decoder = run.predictor.decoder
        self.decoding = decoder.decoding
        # Serves a search with each model instead of the model.
        searching = {
            id(model): type(decoder)(model, run.encoder, self.decoding)
            for model in models
        }
        stored = {
            id(searching[number]): weights
            for number, weights in (options.pop("stored", None) or {}).items()
        }
        models = [searching[id(m)] for m in models]
        super().__init__(run, models, tasks, stored=stored, **options)

    @property
    def tables(self) -> list[Any]:
        """The tables that turn ids into words."""
        return [t for model in {*self.models} for t in model.tables]

    @property
    def extra(self) -> dict[str, Any]:
        """The decoding options."""
        return {exported_files.DECODING: dataclasses.asdict(self.decoding)}

    def searched(
        self, features: Tensors, search: Callable[[Tensors, tf.Tensor], Tensors]
    ) -> Tensors:
        """Searches in batches of texts, sorted by length.

        As in `search_batches.by_length`.

        Args:
            features: the model's inputs, [batch, ...] by name.
            search: a function of the features of some rows and the largest
                length; its outputs are those of `empty_outputs`.
        """
        lengths = tf.math.count_nonzero(
            features[self.first], axis=1, dtype=tf.int32
        )
        order = tf.argsort(lengths, stable=True)

        def go_on(start, outputs):
            candidates = order[start : start + AT_ONCE]
            cells = tf.gather(lengths, candidates) * tf.range(
                1, tf.size(candidates) + 1
            )
            inside = tf.math.count_nonzero(
                cells <= CELLS_AT_ONCE, dtype=tf.int32
            )
            rows = candidates[: tf.maximum(inside, 1), None]
            width = tf.maximum(lengths[rows[-1, 0]], 1)
            searched = search(rows_of(features, rows), width)
            return start + tf.size(rows), updated(outputs, rows, searched)

        return tf.while_loop(
            lambda start, _: start < tf.size(order),
            go_on,
            [tf.constant(0), self.empty_outputs(features)],
        )[1]
