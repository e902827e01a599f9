"""Watches the steps that float16 skips; see `stage_optimizer.loss_scaled`."""

import keras
from absl import logging

from mtl_tf.core.errors import Diverged
from mtl_tf.training.precision import BFLOAT16, FLOAT16

# Gradients of this size, about 1e17, are not those of a loss that is too large.
_LEAST_SCALE = 2.0**-40


class SkippedSteps:
    """Tells how many steps were skipped, and ends a run that takes none.

    Args:
        optimizer: that of the stage. Only a `LossScaleOptimizer` skips steps.
    """

    def __init__(self, optimizer: keras.optimizers.Optimizer):
        scales = isinstance(optimizer, keras.optimizers.LossScaleOptimizer)
        self.optimizer = optimizer if scales else None
        self.step = self.taken = 0

    @property
    def advice(self) -> str:
        """What to add to a message on a loss that is not finite; may be ""."""
        if self.optimizer is None:
            return ""
        return (
            f", or take training.mixed_precision {BFLOAT16!r} (the largest "
            f"number of {FLOAT16!r} is 65504)"
        )

    def begin(self, step: int) -> None:
        """Counts from `step` on."""
        if self.optimizer is not None:
            self.step, self.taken = step, self._taken()

    def check_scale(self, step: int) -> None:
        """Raises `Diverged` if no scale makes the gradients finite."""
        if self.optimizer is None:
            return
        scale = float(self.optimizer.dynamic_scale.numpy())
        if scale < _LEAST_SCALE:
            raise Diverged(
                f"up to step {step}, training.mixed_precision {FLOAT16!r} has "
                f"scaled the loss down to {scale:.2g} times its size, and the "
                f"gradients are still not finite: take {BFLOAT16!r} or "
                "'float32', in another --model_dir"
            )

    def tell(self, step: int) -> None:
        """Logs how many steps were skipped since the last call."""
        if self.optimizer is None or step == self.step:
            return
        steps, taken = step - self.step, self._taken() - self.taken
        self.begin(step)
        if taken < steps:
            log = logging.info if 2 * taken > steps else logging.warning
            log(
                "%d of the last %d steps were skipped, because their gradients "
                "are not finite in %s. The loss is now scaled by %g.",
                steps - taken,
                steps,
                FLOAT16,
                float(self.optimizer.dynamic_scale.numpy()),
            )

    def check_end(self, step: int) -> None:
        """Raises `Diverged` if all steps of a stage were skipped."""
        if self.optimizer is not None and step and not self._taken():
            raise Diverged(
                f"all {step} steps were skipped, because their gradients are "
                f"not finite with training.mixed_precision {FLOAT16!r}: train "
                "longer, since each skipped step halves the scale of the loss, "
                f"or take {BFLOAT16!r} or 'float32' in another --model_dir"
            )

    def _taken(self) -> int:
        return int(self.optimizer.iterations.numpy())
