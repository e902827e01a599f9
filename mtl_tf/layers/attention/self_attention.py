"""Multi-head self-attention with a padding mask."""

from collections.abc import Callable

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.products import product

# Added to the score of padding keys. Their softmax is then exactly 0. Unlike
# with -inf, a text of only padding has finite weights.
_OUT_OF_REACH = -1e9

# Maximum number of scores held at once if weights are not returned: 256 MB.
_SCORES_AT_ONCE = 1 << 26


@keras.saving.register_keras_serializable(package="mtl_tf")
class SelfAttention(StackedLayer):
    """Multi-head self-attention: each position of a text reads all positions.

    Sun (2019), equations 3-2 and 3-3, after Vaswani et al. (2017): softmax(Q
    K^T / sqrt(d_k)) V for each head, with Q = H W^Q, K = H W^K and V = H W^V of
    width d_k = units / heads. The heads' results are concatenated and
    multiplied by W^O. All four maps have a bias, as in the thesis's code.
    Dropout is on the weights.

    The maps of all heads and of Q, K and V are one matrix product. The softmax
    is in float32, whatever the policy. The memory of the weights grows with the
    square of the length. If they are not returned, and outside of training,
    only some of the positions read at a time.

    (Keras's MultiHeadAttention draws its dropout from its own state, so a
    resumed training would take a different course.)

    McCann et al. (2018), equations 22 and 23, print heads that are each as wide
    as the inputs, without biases: `head_units=units, bias=False`.

    Args:
        units: size D of the inputs and outputs.
        heads: number h of heads. It must divide `units`, unless `head_units`
            gives their width.
        dropout: rate of dropout on the weights.
        head_units: width of a head; None for units / heads.
        bias: whether the maps have a bias.
        causal: whether a position reads only itself and those before it.
        init: see `base.check_init`.

    Input shape: `[N, S, D]`, a mask bool `[N, S]`, and optionally `queries`
        `[N, Q, D]`: the positions that read, if not all do, or those of another
        text. If `causal`, they are the last positions.
    Output shape: `[N, Q, D]`, and the weights float32 `[N, h, Q, S]` before
        dropout; Q is S without `queries`. With `return_weights=False` the
        weights may be None.
    Masking: padding has the weight 0. Its own outputs have no meaning.

    Raises:
        ConfigError: `heads` does not divide `units`.

    Example:
        ```python
        attention = SelfAttention(units=300, heads=6)
        y, weights = attention(x, mask)
        ```
    """

    def __init__(
        self,
        units: int,
        heads: int,
        dropout: float = 0.0,
        head_units: int | None = None,
        bias: bool = True,
        causal: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.units = checks.positive_integer("units", units)
        self.heads = checks.positive_integer("heads", heads)
        if head_units is None and units % heads:
            raise ConfigError(
                f"units must be a multiple of heads ({heads}), got {units}"
            )
        self.head_units = checks.positive_integer(
            "head_units", units // heads if head_units is None else head_units
        )
        self.use_bias = checks.boolean("bias", bias)
        self.causal = checks.boolean("causal", causal)
        self.dropout = Dropout(dropout, salt=f"{self.name}/weights", short=True)

    def build(self, input_shape, *_):
        """Makes [W^Q W^K W^V] `[D, 3 h d]`, W^O `[h d, D]` and their biases."""
        size = self.heads * self.head_units
        self.kernel = self.add("kernel", input_shape[-1], 3 * size, gates=3)
        if self.use_bias:
            self.bias = self.add("bias", 3 * size)
        self.output_kernel = self.add("output_kernel", size, self.units)
        if self.use_bias:
            self.output_bias = self.add("output_bias", self.units)
        self.built = True

    def call(
        self,
        x,
        mask,
        queries=None,
        training=False,
        seed=None,
        return_weights=True,
    ):
        """Attends; see the class."""
        call = (training, seed, return_weights)
        if not self.use_bias and self.head_units >= x.shape[-1]:
            return self._folded(x, mask, queries, *call)
        q, k, v = self._projections(x, queries)
        # Scaling the queries is cheaper than scaling the scores.
        q = q * self.head_units**-0.5
        bias = self._reach(mask, tf.shape(q)[2])
        heads, weights = self._attend(q, k, v, bias, *call)
        heads = tf.transpose(heads, [0, 2, 1, 3])
        size = self.heads * self.head_units
        shape = tf.concat([tf.shape(heads)[:2], [size]], 0)
        y = product(tf.reshape(heads, shape), self.cast(self.output_kernel))
        return (
            y + self.cast(self.output_bias) if self.use_bias else y
        ), weights

    def _reach(self, mask, queries):
        """What is added to the scores for `queries` positions, [N, 1, Q, S]."""
        bias = tf.where(mask, 0.0, _OUT_OF_REACH)[:, None, None]
        if not self.causal:
            return bias
        return tf.minimum(bias, _later(queries, tf.shape(mask)[1]))

    def _attend(self, q, k, v, bias, training, seed, return_weights):
        def read(q):
            scores = tf.cast(tf.matmul(q, k, transpose_b=True), tf.float32)
            weights = tf.nn.softmax(scores + bias)
            dropped = self.dropout(weights, training=training, seed=seed)
            return tf.matmul(self.cast(dropped), v), weights

        if return_weights or training or self.causal:
            return read(q)
        keys = tf.shape(k, tf.int64)[2]
        return _in_parts(lambda part: read(part)[0], q, keys), None

    def _folded(self, x, mask, queries, training, seed, return_weights):
        """Attends with heads so wide that keys and values need no maps.

        (q W^Q) (x W^K)^T is (q W^Q W^K^T) x^T, and P (x W^V) W^O is (P x) W^V
        W^O. The texts themselves are therefore keys and values, and all heads
        of a position read them in one product.
        """
        x = self.cast(x)
        queried = x if queries is None else self.cast(queries)
        maps = self._maps(x.shape[-1])
        texts = queried.shape[0] or tf.shape(queried)[0]
        count = queried.shape[1] or tf.shape(queried)[1]
        # For few positions two products in sequence are faster.
        is_few = queries is not None
        q = _queries_at_keys(queried, maps, is_few) * self.head_units**-0.5
        q = tf.reshape(q, [texts, 1, count * self.heads, x.shape[-1]])
        # `x[:, None]` would have a gradient that copies.
        read = tf.expand_dims(x, 1)
        bias = self._reach(mask, count)
        if self.causal:
            bias = tf.repeat(bias, self.heads, 2)
        heads, weights = self._attend(
            q,
            read,
            read,
            bias,
            training,
            seed,
            return_weights,
        )
        heads = tf.reshape(heads, [texts, count, self.heads, x.shape[-1]])
        if weights is not None:
            shape = [texts, count, self.heads, tf.shape(mask)[1]]
            weights = tf.transpose(tf.reshape(weights, shape), [0, 2, 1, 3])
        return _outputs_of(heads, maps, is_few), weights

    def folded(self) -> tuple[tf.Tensor, tf.Tensor]:
        """The maps that `look` needs: `W^Q W^K^T` and `W^V W^O`.

        Returns:
            `[D, h D]` and `[h D, D]`.
        """
        maps = self._maps(self.kernel.shape[0])
        size = self.heads * self.kernel.shape[0]
        queries = _query_key_map(maps) * self.head_units**-0.5
        outputs = _value_output_map(maps)
        return tf.reshape(queries, [-1, size]), tf.reshape(outputs, [size, -1])

    def look(self, x, mask, query, folded):
        """What one position reads of each text.

        The heads must be as wide as the inputs and have no biases. Computing
        the maps once for many calls makes this fast.

        Args:
            x: the texts, `[N, S, D]`.
            mask: bool `[N, S]`.
            query: the position that reads, `[N, D]`. If `causal`, it is the
                last one of the text.
            folded: the result of `folded`.

        Returns:
            `[N, D]`.
        """
        queries, outputs = folded
        x, query = self.cast(x), self.cast(query)
        q = tf.reshape(query @ queries, [-1, self.heads, x.shape[-1]])
        # For few positions a product for each is faster than one for all.
        scores = tf.cast(tf.linalg.matvec(x[:, None], q), tf.float32)
        bias = tf.where(mask, 0.0, _OUT_OF_REACH)[:, None]
        weights = self.cast(tf.nn.softmax(scores + bias))
        heads = tf.matmul(weights, x)
        return tf.reshape(heads, [-1, outputs.shape[0]]) @ outputs

    def _maps(self, depth: int) -> dict[str, tf.Tensor]:
        """W^Q, W^K, W^V `[D, h, d]` and W^O `[h, d, D]`, by their letters."""
        shape = [depth, 3, self.heads, self.head_units]
        maps = tf.unstack(tf.reshape(self.cast(self.kernel), shape), axis=1)
        output = tf.reshape(
            self.cast(self.output_kernel),
            [self.heads, self.head_units, self.units],
        )
        return dict(zip("qkvo", [*maps, output]))

    def _projections(self, x, queries):
        """Q, K and V of all heads, each `[N, h, places, d]`."""
        if queries is None:
            return self._mapped(x, 0, 3)
        return self._mapped(queries, 0, 1) + self._mapped(x, 1, 3)

    def _mapped(self, x, first: int, last: int) -> list[tf.Tensor]:
        """Those of Q, K and V from index `first` to before `last`."""
        kernel = self.cast(self.kernel)
        bias = self.cast(self.bias) if self.use_bias else None
        if last - first < 3:
            size = self.heads * self.head_units
            kernel = kernel[:, first * size : last * size]
            bias = None if bias is None else bias[first * size : last * size]
        y = product(self.cast(x), kernel)
        y = y if bias is None else y + bias
        return self._heads(y, last - first)

    def _heads(self, x, parts: int) -> list[tf.Tensor]:
        """Splits `[N, S, parts * h * d]` into parts of `[N, h, S, d]`."""
        sizes = [parts, self.heads, self.head_units]
        shape = tf.concat([tf.shape(x)[:2], sizes], 0)
        x = tf.transpose(tf.reshape(x, shape), [2, 0, 3, 1, 4])
        return tf.unstack(x, num=parts)

    def compute_mask(self, inputs, mask=None):
        """None, because the outputs may belong to other positions."""
        del inputs, mask

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "heads": self.heads,
            "dropout": self.dropout.rate,
            "head_units": self.head_units,
            "bias": self.use_bias,
            "causal": self.causal,
        }


def _queries_at_keys(queried, maps, few: bool):
    """`q W^Q W^K^T` `[N, Q, h, D]`, for positions `[N, Q, D]`."""
    if few:
        q = tf.einsum("nqe,ehd->nqhd", queried, maps["q"])
        return tf.einsum("nqhd,ehd->nqhe", q, maps["k"])
    return tf.einsum("nqa,ahb->nqhb", queried, _query_key_map(maps))


def _outputs_of(heads, maps, few: bool):
    """`o W^V W^O` `[N, Q, D]`, for the heads' readings `[N, Q, h, D]`."""
    if few:
        y = tf.einsum("nqhe,ehd->nqhd", heads, maps["v"])
        return tf.einsum("nqhd,hdu->nqu", y, maps["o"])
    return tf.einsum("nqhe,heu->nqu", heads, _value_output_map(maps))


def _query_key_map(maps) -> tf.Tensor:
    """`W^Q W^K^T` of each head, `[D, h, D]`."""
    return tf.einsum("ahd,bhd->ahb", maps["q"], maps["k"])


def _value_output_map(maps) -> tf.Tensor:
    """`W^V W^O` of each head, `[h, D, D]`."""
    return tf.einsum("ehd,hdu->heu", maps["v"], maps["o"])


def _later(queries: tf.Tensor, keys: tf.Tensor) -> tf.Tensor:
    """What positions after the reading one add to scores, `[Q, S]`."""
    last = tf.range(keys - queries, keys)[:, None]
    return tf.where(tf.range(keys) <= last, 0.0, _OUT_OF_REACH)


def _in_parts(
    read: Callable[[tf.Tensor], tf.Tensor], q: tf.Tensor, keys: tf.Tensor
) -> tf.Tensor:
    """`read(q)` for queries `[N, h, Q, d]`, a part of Q at a time."""
    count, heads, positions, width = tf.unstack(tf.shape(q, tf.int64))
    scores_of_row = tf.maximum(count * heads * keys, 1)
    rows = tf.clip_by_value(
        _SCORES_AT_ONCE // scores_of_row, 1, tf.maximum(positions, 1)
    )
    parts = tf.maximum(-(-positions // rows), 1)
    q = tf.pad(q, [[0, 0], [0, 0], [0, parts * rows - positions], [0, 0]])
    q = tf.reshape(q, [count, heads, parts, rows, width])
    parts_read = tf.map_fn(
        read, tf.transpose(q, [2, 0, 1, 3, 4]), parallel_iterations=1
    )
    parts_read = tf.transpose(parts_read, [1, 2, 0, 3, 4])
    parts_read = tf.reshape(parts_read, [count, heads, parts * rows, width])
    return parts_read[:, :, :positions]
