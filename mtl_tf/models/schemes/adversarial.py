"""ASP-MTL: shared-private LSTMs with an adversary that guesses the task."""

import keras
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.layers.adversarial.orthogonality import orthogonality_penalty
from mtl_tf.layers.adversarial.ramp import check_ramp, ramp
from mtl_tf.layers.adversarial.task_discriminator import TaskDiscriminator
from mtl_tf.models.schemes.shared_private import ParallelScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class AdversarialScheme(ParallelScheme):
    """ASP-MTL (Liu et al. 2017), to which Chen et al. (2018) compare.

    PSP-MTL, `ParallelScheme`, with two losses in addition to the tasks':

        adversarial: a discriminator learns to guess the task from the shared
            summary. Through a gradient reversal, weighted by
            `adversarial_weight`, the shared LSTM learns to prevent this.
        orthogonality: `|| S^T H ||_F^2` of the shared and the private summaries
            of a group's examples, times `orthogonality_weight`.

    The discriminator's own gradient is not weighted, so that it keeps up with
    the shared LSTM. With weight 0 it only measures. Its parameters are shared,
    so fine-tuning of the private ones leaves it unchanged.

    Args:
        tasks: number of tasks.
        units: size of each LSTM.
        adversarial_weight: lambda of the paper (0.05).
        orthogonality_weight: gamma of the paper (0.01).
        orthogonality_mean: divide S^T H by the number n of examples, so that
            the penalty does not grow with the batch. The paper does not divide.
        adversarial_schedule: how the adversarial weight reaches its value:
            "constant", "linear" or "sigmoid"; see
            `layers.adversarial.ramp.ramp`.
        adversarial_start: the adversarial weight is 0 before this step of a
            training stage.
        adversarial_steps: number of steps for which it grows; 0 if constant.
        bidirectional, pooling, forget_bias: see `RecurrentScheme`. The
            discriminator and the penalty read the concatenated summaries of
            both directions. Pooling "attention" is not allowed: it would weigh
            the shared states by the concatenated private ones, which tell the
            tasks apart.
        init: see `layers.base.check_init`.

    Input shape: see `SharingScheme`; also the batch's "step" and "weight".
    Output shape: see `SharingScheme`; H is 2 * units, or 4 * units if
        bidirectional. "losses" are "adversarial" `[G, B]` and "orthogonality",
        a scalar summed over the groups. "diagnostics" has
        "discriminator_accuracy": 100 where the discriminator guesses right and
        0 elsewhere.
    Masking: padding changes nothing. A text without tokens has zero summaries:
        it trains only the discriminator's bias and adds nothing to S^T H.
        Padding rows count nowhere.
    "inspect": as `ParallelScheme`, and "shared" and "private", the halves of
        the summary.

    Example:
        ```python
        scheme = AdversarialScheme(tasks=16, adversarial_weight=0.05)
        losses = scheme(embedded, mask, task, step=step)["losses"]
        ```
    """

    batch_entries = ("step", "weight")

    def __init__(
        self,
        tasks: int,
        units: int = 100,
        adversarial_weight: float = 0.05,
        orthogonality_weight: float = 0.01,
        orthogonality_mean: bool = False,
        adversarial_schedule: str = "constant",
        adversarial_start: int = 0,
        adversarial_steps: int = 0,
        **kwargs,
    ):
        super().__init__(tasks, units, **kwargs)
        checks.one_of("pooling of asp", self.pooling, ("last", "mean", "max"))
        checks.not_negative("adversarial_weight", adversarial_weight)
        checks.not_negative("orthogonality_weight", orthogonality_weight)
        self._ramp = (
            adversarial_schedule,
            adversarial_start,
            adversarial_steps,
        )
        check_ramp("adversarial", *self._ramp)
        self.adversarial_weight = adversarial_weight
        self.orthogonality_weight = orthogonality_weight
        self.orthogonality_mean = checks.boolean(
            "orthogonality_mean", orthogonality_mean
        )
        self.discriminator = TaskDiscriminator(
            tasks, init=self.init, name="discriminator"
        )

    @property
    def sums_over_replicas(self) -> bool:
        """See `SharingScheme`: the penalty is that of the global batch."""
        return bool(self.orthogonality_weight)

    def build(self, input_shape, *_):
        """Makes the weights for inputs `[..., D]`."""
        super().build(input_shape)
        self.discriminator.build((None, None, self.output_units // 2))

    def call(
        self,
        embedded,
        mask,
        task,
        training=False,
        seed=None,
        inspect=False,
        sequence=True,
        step=None,
        weight=None,
    ):
        """See `SharingScheme.call`.

        Args:
            embedded, mask, task, training, seed, inspect, sequence: see there.
            step: the training step, an integer scalar. Needed in training if
                the adversarial weight changes over time.
            weight: float `[G, B]`, 0 on padding rows. None counts all rows.

        Raises:
            ValueError: the step is missing.
        """
        results = self.run(embedded, mask, task, training, inspect, sequence)
        output = self.joined(results, mask, task, inspect, sequence)
        shared, private = self._halves(results, output["summary"])
        if inspect:
            output["inspect"] |= {"shared": shared, "private": private}
        guess = self.discriminator(
            shared, task, weight=self._reversal(step, training)
        )
        output["losses"] = {"adversarial": guess["loss"]}
        if self.orthogonality_weight:
            penalty = orthogonality_penalty(
                shared, private, weight, self.orthogonality_mean
            )
            output["losses"]["orthogonality"] = (
                self.orthogonality_weight * tf.reduce_sum(penalty)
            )
        output["diagnostics"] = {
            "discriminator_accuracy": 100.0 * guess["correct"]
        }
        return output

    def _halves(self, results, summary):
        """The shared and the private half of the summary."""
        if self.pooling == "last":
            # Split by LSTM, so that a loss has no gradient for the other LSTM
            # at all.
            return tuple(
                tf.concat([result.state[half] for result in results], -1)
                for half in ("shared", "private")
            )
        # Within each direction the shared half comes first.
        halves = tf.split(summary, 2 * len(results), axis=-1)
        return tf.concat(halves[::2], -1), tf.concat(halves[1::2], -1)

    def _reversal(self, step, training):
        """The adversarial weight at a step."""
        name, start, steps = self._ramp
        if not training or (name == "constant" and not start):
            return self.adversarial_weight
        if step is None:
            raise ValueError(f"{self.name}: training needs a step, got None")
        return self.adversarial_weight * ramp(name, step, start, steps)

    def get_config(self) -> dict:
        """The constructor's arguments."""
        schedule, start, steps = self._ramp
        return super().get_config() | {
            "adversarial_weight": self.adversarial_weight,
            "orthogonality_weight": self.orthogonality_weight,
            "orthogonality_mean": self.orthogonality_mean,
            "adversarial_schedule": schedule,
            "adversarial_start": start,
            "adversarial_steps": steps,
        }
