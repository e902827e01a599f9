"""The output layer over a vocabulary, and memory-saving losses for it."""

import math

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError
from mtl_tf.layers.base import StackedLayer
from mtl_tf.layers.dropout import salted
from mtl_tf.layers.top_k import top_k

_FEW_ROWS = 8


@tf.custom_gradient
def cross_entropy(x, kernel, bias, target):
    """`-log softmax(x @ kernel^T + bias)[target]`, in one large buffer.

    The logits `[N, V]` are turned into exponentials, and these into the logits'
    gradient in the backward pass, each time in the same buffer.

    Args:
        x: float `[N, D]`.
        kernel: `[V, D]`, of the dtype of `x`.
        bias: float32 `[V]`.
        target: int32 `[N]`, below V.

    Returns:
        float32 `[N]`.
    """
    logits = tf.cast(tf.matmul(x, kernel, transpose_b=True), tf.float32)
    logits = tf.nn.bias_add(logits, bias)
    places = tf.stack([tf.range(tf.shape(target)[0]), target], 1)
    at_target = tf.gather_nd(logits, places)
    largest = tf.reduce_max(logits, 1, keepdims=True)
    # After the last read of the logits their buffer can be reused.
    with tf.control_dependencies([at_target]):
        exponentials = tf.exp(logits - largest)
    total = tf.reduce_sum(exponentials, 1)
    loss = tf.math.log(total) + largest[:, 0] - at_target

    def backward(d_loss):
        d = exponentials * (d_loss / total)[:, None]
        d_bias = tf.reduce_sum(d, 0)
        d, scale = tf.cast(d, x.dtype), tf.cast(d_loss, x.dtype)[:, None]
        d_kernel = tf.matmul(d, x, transpose_a=True)
        # The targets' part of the gradient is subtracted from the products.
        # TensorFlow would copy the large buffer to write into it.
        rows = target[:, None]
        d_x = tf.matmul(d, kernel) - scale * tf.gather(kernel, target)
        d_kernel = tf.tensor_scatter_nd_sub(d_kernel, rows, scale * x)
        d_bias = tf.tensor_scatter_nd_sub(d_bias, rows, d_loss)
        return d_x, d_kernel, d_bias, None

    return loss, backward


@keras.saving.register_keras_serializable(package="mtl_tf")
class SoftmaxOutput(StackedLayer):
    """A softmax over a vocabulary: the last layer of g in equation 2.

    `p(y | x) = softmax(W x + b)[y]` (Dong et al. 2015).

    Args:
        vocabulary_size: V.
        bias: whether there is a b.
        label_smoothing: epsilon of Szegedy et al. (2016). In training the
            target distribution is 1 - epsilon at the target, plus epsilon
            spread evenly over the vocabulary.
        samples: 0 to train on the whole vocabulary. Otherwise, to train on the
            target and this many tokens that are drawn for each step (Jean et
            al. 2015, by `tf.nn.sampled_softmax_loss`). They are drawn with
            replacement by Zipf's law, so ids must run from frequent to rare
            tokens.
        init: see `base.check_init`.

    Input shape: float `[N, D]`, and targets int32 `[N]`, below V.
    Output shape: the losses, float32 `[N]`.
    Masking: none; remove padding before the call.

    Example:
        ```python
        losses = SoftmaxOutput(8000, label_smoothing=0.1)(x, target)
        ```
    """

    def __init__(
        self,
        vocabulary_size: int,
        bias: bool = True,
        label_smoothing: float = 0.0,
        samples: int = 0,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.vocabulary_size = checks.positive_integer(
            "vocabulary_size", vocabulary_size
        )
        self.use_bias = checks.boolean("bias", bias)
        self.label_smoothing = checks.fraction(
            "label_smoothing", label_smoothing
        )
        self.samples = checks.not_negative_integer("output.samples", samples)
        if samples and label_smoothing:
            raise ConfigError(
                "label_smoothing must be 0 with a sampled output layer, got "
                f"{label_smoothing}: it needs all of the vocabulary"
            )

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[N, D]`."""
        self.kernel = self.add("kernel", self.vocabulary_size, input_shape[-1])
        self._build_bias()

    def build_above(self, kernel: keras.Variable) -> None:
        """Makes the other weights, if W belongs to another layer.

        Args:
            kernel: `[V, D]`, such as word vectors (Press and Wolf 2017).
        """
        self.kernel = kernel
        self._build_bias()

    def _build_bias(self) -> None:
        if self.use_bias:
            self.bias = self.add("bias", self.vocabulary_size)
        self.built = True

    def call(self, x, target, training: bool = False, seed=None):
        """The losses of the targets; `seed` int32 `[2]` is for sampling."""
        if training and self.samples:
            return self._sampled(x, target, seed)
        kernel, bias = self._weights()
        x = self.cast(x)
        loss = cross_entropy(x, kernel, bias, target)
        if not training or not self.label_smoothing:
            return loss
        # The loss is log Z - (1 - epsilon) z_y - epsilon mean(z). The last two
        # terms do not need the logits z of the other tokens.
        mean = tf.reduce_mean(kernel, 0), tf.reduce_mean(bias)
        of_target = tf.gather(kernel, target), tf.gather(bias, target)
        difference = tf.reduce_sum(x * (of_target[0] - mean[0]), -1)
        difference = tf.cast(difference, tf.float32) + of_target[1] - mean[1]
        return loss + self.label_smoothing * difference

    def logits(self, x):
        """`W x + b`, float32 `[N, V]`, for `x` `[N, D]`."""
        kernel, bias = self._weights()
        x = self.cast(x)
        # Which order of the factors is faster on CPUs depends on the rows.
        logits = tf.cond(
            tf.shape(x)[0] < _FEW_ROWS,
            lambda: tf.transpose(tf.matmul(kernel, x, transpose_b=True)),
            lambda: tf.matmul(x, kernel, transpose_b=True),
        )
        logits = tf.cast(logits, tf.float32)
        return tf.nn.bias_add(logits, bias) if self.use_bias else logits

    def best(self, x, count: int):
        """The most probable tokens, best first.

        Args:
            x: float `[N, D]`.
            count: how many; all if there are fewer.

        Returns:
            Their log probabilities `log softmax(W x + b)`, float32
            `[N, count]`, and their ids, int32 `[N, count]`.
        """
        logits = self.logits(x)
        best, ids = top_k(logits, min(count, self.vocabulary_size))
        return best - tf.reduce_logsumexp(logits, -1, keepdims=True), ids

    def _weights(self):
        kernel = self.cast(self.kernel.value)
        if not self.use_bias:
            return kernel, tf.zeros([self.vocabulary_size])
        return kernel, tf.convert_to_tensor(self.bias.value)

    def _sampled(self, x, target, seed):
        if seed is None:
            raise ValueError(f"{self.name}: samples need a seed, got None")
        bias = tf.zeros([self.vocabulary_size])
        if self.use_bias:
            bias = self.bias.value
        return tf.nn.sampled_softmax_loss(
            self.kernel.value,
            bias,
            target[:, None],
            tf.cast(x, tf.float32),
            self.samples,
            self.vocabulary_size,
            sampled_values=self._draw(target, seed),
            # With replacement, the odds that a token was the target grow with
            # how often it was drawn.
            remove_accidental_hits=False,
        )

    def _draw(self, target, seed):
        """Sampled ids, and how often they and the targets are expected.

        `p(k) = log((k + 2) / (k + 1)) / log(V + 1)`, as in TensorFlow's
        sampler, which cannot be given a seed for each step.
        """
        uniform = tf.random.stateless_uniform(
            [self.samples], salted(seed, self.name), alg="philox"
        )
        scale = math.log(self.vocabulary_size + 1.0)
        drawn = tf.cast(tf.exp(uniform * scale), tf.int64) - 1
        drawn = tf.minimum(drawn, self.vocabulary_size - 1)

        def expected(ids):
            ids = tf.cast(ids, tf.float32)
            return self.samples * tf.math.log1p(1.0 / (ids + 1.0)) / scale

        return drawn, expected(target[:, None]), expected(drawn)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "bias": self.use_bias,
            "label_smoothing": self.label_smoothing,
            "samples": self.samples,
        }
