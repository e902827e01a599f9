"""Multi-task NLP with TensorFlow 2 and Keras 3."""

from collections.abc import Mapping
from typing import Any

__version__ = "0.1.0"
__all__ = ["load"]


def load(run_directory: str, decoding: Mapping[str, Any] | None = None) -> Any:
    """Loads a trained run: see `mtl_tf.runs.loaded_run.Run`.

    Args:
        run_directory: the `--model_dir` of `launch.train`.
        decoding: of a run that translates, fields of
            `mtl_tf.runs.translating.Decoding` in place of those of its
            config.

    Raises:
        RunError: it is not the directory of a run with trained weights.
        ConfigError: a value of `decoding` is wrong, or the run does not
            translate.
    """
    # TensorFlow takes seconds to import: only when it is needed.
    from mtl_tf.runs.loaded_run import load as load_run

    return load_run(run_directory, decoding)
