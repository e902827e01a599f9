"""Access to the layers inside third-party layers."""

import keras


def sublayers(layer: keras.layers.Layer) -> list[keras.layers.Layer]:
    """All layers inside a layer, at any depth, each once.

    Their order is fixed, because it numbers the seeds of dropout.
    """
    # Keras's public interface shows only the direct layers of a model.
    return layer._flatten_layers(include_self=False)
