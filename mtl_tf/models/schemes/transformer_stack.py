"""Transformers with only task-specific heads: S-P and S-C."""

import keras

from mtl_tf.models.schemes.transformer import TransformerScheme


@keras.saving.register_keras_serializable(package="mtl_tf")
class StackPoolingScheme(TransformerScheme):
    """S-P: the mean of the words' final states is the text's vector.

    Sun (2019), section 3.2.1, equations 3-6 and 3-7, where a multi-layer
    perceptron reads the mean (`config.model.head.hidden_units`). This is hard
    sharing: only the heads belong to tasks. Tasks that are trained separately
    are the thesis's single-task Transformers.

    Args and outputs: see `TransformerScheme`; there are no rows.

    Example:
        ```python
        scheme = StackPoolingScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """


@keras.saving.register_keras_serializable(package="mtl_tf")
class StackCLSScheme(TransformerScheme):
    """S-C: the final state of a CLS row in front is the text's vector.

    Sun (2019), section 3.2.2, equation 3-8, after BERT (Devlin et al. 2019).
    This is hard sharing: only the heads belong to tasks.

    Args and outputs: see `TransformerScheme`; the single row is the same for
        all tasks.

    Example:
        ```python
        scheme = StackCLSScheme(tasks=16)
        summary = scheme(embedded, mask, task)["summary"]
        ```
    """

    rows = 1

    def build_rows(self, size: int) -> None:
        """Makes the CLS row `[1, D]`."""
        self.cls = self.add("cls", 1, size)

    def make_rows(self, task):
        """See `TransformerScheme`."""
        return self.cls.value[None]
