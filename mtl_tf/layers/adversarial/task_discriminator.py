"""The adversary, which guesses the task of a shared output."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.adversarial.gradient_reversal import reverse_gradient
from mtl_tf.layers.base import StackedLayer


@keras.saving.register_keras_serializable(package="mtl_tf")
class TaskDiscriminator(StackedLayer):
    """Guesses the task of every text: `softmax(U s + b)`.

    The discriminator in the adversarial network of Liu et al. (2017). Its input
    goes through a gradient reversal. The same step then teaches it to guess
    better and the layers below to reveal less. Only the reversed gradient has
    the adversarial weight: at weight 0 the discriminator still learns, and
    shows what its input reveals about the task.

    Args:
        tasks: number of tasks.
        init: see `base.check_init`.

    Input shape: `[G, B, S]`, the groups' tasks int32 `[G]`, and the adversarial
        weight, a number or a scalar.
    Output shape: a dictionary of "logits" `[G, B, tasks]`, "loss"
        (cross-entropy) and "correct" (1 or 0), each float32 `[G, B]`.
    Masking: none; padding rows get a loss too, which their weight removes.

    Example:
        ```python
        layer = TaskDiscriminator(tasks=16)
        loss = layer(shared, task, weight=0.05)["loss"]
        ```
    """

    def __init__(self, tasks: int, **kwargs):
        super().__init__(**kwargs)
        self.tasks = checks.positive_integer("tasks", tasks)

    def build(self, input_shape, *_):
        """Makes U [S, tasks] and b [tasks], which belong to no task."""
        self.kernel = self.add("kernel", input_shape[-1], self.tasks)
        self.bias = self.add("bias", self.tasks)
        self.built = True

    def call(self, x, task, weight=1.0):
        """Guesses; see the class."""
        x = reverse_gradient(tf.cast(x, tf.float32), weight)
        logits = tf.matmul(x, self.kernel.value) + self.bias.value
        label = tf.broadcast_to(task[:, None], tf.shape(logits)[:2])
        guess = tf.argmax(logits, -1, output_type=tf.int32)
        return {
            "logits": logits,
            "loss": tf.nn.sparse_softmax_cross_entropy_with_logits(
                label, logits
            ),
            "correct": tf.cast(guess == label, tf.float32),
        }

    def get_config(self) -> dict:
        """The constructor's arguments."""
        return super().get_config() | {"tasks": self.tasks}
