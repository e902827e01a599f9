"""The layers inside layers of others."""

import keras


def sublayers(layer: keras.layers.Layer) -> list[keras.layers.Layer]:
    """All layers inside a layer, at any depth, each once.

    Their order is fixed: seeds of dropout are numbered by it.
    """
    # Keras shows the layers of a model, and no deeper, to the public alone.
    return layer._flatten_layers(include_self=False)
