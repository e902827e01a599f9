"""What the tasks' columns of an L-E Transformer attend to in a text."""

import dataclasses

import numpy as np
import tensorflow as tf

from mtl_tf.core.errors import ConfigError
from mtl_tf.figures.traces import read_text
from mtl_tf.models.schemes.transformer_layerwise import LayerwiseExplicitScheme
from mtl_tf.models.translation.multi_target import MultiTargetModel
from mtl_tf.runs.loaded.loaded_run import Run


@dataclasses.dataclass(frozen=True)
class Attention:
    """The attention of K tasks' columns in L layers, means over the heads.

    Over the columns and the words together a column's attention sums to 1.

    Attributes:
        tokens: the T tokens.
        known: bool [T], whether the run's vocabulary has them.
        tasks: names of the tasks, one a column.
        columns: float64 [L, K, K]: of each column to each.
        words: float64 [L, K, T]: of each column to each token.
        text: what was read.
    """

    tokens: tuple[str, ...]
    known: np.ndarray
    tasks: tuple[str, ...]
    columns: np.ndarray
    words: np.ndarray
    text: str = ""


def read(run: Run, text: str, label: str = "") -> Attention:
    """The attention of a run in a text.

    Every text has the columns of all tasks in front, whatever task it is
    read for. Of a run that was fine-tuned task by task the weights are those
    that are loaded.

    Args:
        run: of an L-E Transformer.
        text: the text; what the run cuts off is not in it.
        label: how messages name the run.

    Raises:
        ConfigError: the run has another scheme.
        DataError: the text has no tokens.
    """
    if isinstance(run.model, MultiTargetModel):
        raise ConfigError(
            f"the run {label} translates: its attention is the figure alignment"
        )
    scheme = run.model.scheme
    if not isinstance(scheme, LayerwiseExplicitScheme):
        raise ConfigError(
            f"the run {label} has no column for each task: give a run of the "
            f"scheme l_e, not of {run.config['model']['scheme']['name']}"
        )
    reading = read_text(run, text)
    batch = {"task": tf.constant([0]), **reading.columns}
    key = run.model.key_of(0)
    inspect = run.model(batch, inspect=True, key=key)["inspect"]
    tasks = tuple(task["name"] for task in run.tasks)
    maps = np.stack(
        [
            inspect[f"attention_{layer}"].numpy()[0, 0, :, : len(tasks)]
            for layer in range(scheme.encoder.depth)
        ]
    )
    mean = maps.astype(np.float64).mean(axis=1)
    return Attention(
        tokens=reading.tokens,
        known=reading.known,
        tasks=tasks,
        columns=mean[:, :, : len(tasks)],
        words=mean[:, :, len(tasks) :],
        text=text,
    )
