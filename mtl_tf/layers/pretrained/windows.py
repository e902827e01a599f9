"""Long texts as overlapping windows of equal length."""

from typing import NamedTuple

import tensorflow as tf


class Windows(NamedTuple):
    """Texts cut into windows that an encoder can read.

    Attributes:
        places: int32 `[N, W, S]`, the text position at each of a window's S
            places; after the end of the text if there is none.
        ends: bool `[N, W, S]`, where the end piece replaces a piece of a text
            that continues.
        window: int32 `[N, T]`, the window from which a position of the text
            takes its state: the one in which it is farthest from an end.
        inside: int32 `[N, T]`, its place in that window.
    """

    places: tf.Tensor
    ends: tf.Tensor
    window: tf.Tensor
    inside: tf.Tensor


def cut(
    lengths: tf.Tensor, time: tf.Tensor, size: int, overlap: int
) -> Windows:
    """Cuts texts into windows of the same size.

    Every window begins with the first piece of the text, such as `[CLS]`, and
    ends with the end piece. The part between them moves on by size - 2 -
    overlap pieces per window. Texts that fit are one unchanged window. Which
    state a piece takes depends on its own text only, not on the longest text of
    the batch.

    Args:
        lengths: int32 `[N]`, pieces of each text, including first and end.
        time: int32 scalar, T, the padded length.
        size: maximum number of pieces in a window, at least 3.
        overlap: number of pieces that neighbouring windows share, at most size
            - 3.
    """
    size = tf.minimum(time, size)
    content = tf.maximum(size - 2, 1)
    stride = tf.maximum(content - overlap, 1)
    # Lengths without the first piece and the end.
    contents = tf.maximum(lengths - 2, 0)
    count = 1 + _ceil(tf.maximum(contents - content, 0), stride)  # [N]
    most = tf.reduce_max(tf.concat([count, [1]], 0))
    starts = tf.range(most) * stride  # [W]
    positions = starts[:, None] + tf.range(size)  # [W, S]
    # The first piece of each window is the first of the text.
    positions = tf.concat(
        [tf.zeros_like(positions[:, :1]), positions[:, 1:]], 1
    )
    rows = tf.shape(lengths)[0]
    positions = tf.repeat(positions[None], rows, axis=0)
    last = tf.equal(tf.range(size), size - 1)
    ends = last & (positions < lengths[:, None, None] - 1) & (size > 1)
    indices = tf.range(time)[None] - 1  # [1, T], among the content
    window = tf.math.floordiv(indices - overlap // 2, stride)
    window = tf.maximum(tf.minimum(window, count[:, None] - 1), 0)
    inside = tf.where(indices < 0, 0, indices - window * stride + 1)
    # The end piece is the last of its window. Padding may be anywhere.
    inside = tf.clip_by_value(inside, 0, size - 1)
    return Windows(positions, ends, window, inside)


def _ceil(number: tf.Tensor, by: tf.Tensor) -> tf.Tensor:
    return (number + by - 1) // by
