"""Multi-task NLP with TensorFlow 2 and Keras 3."""

from typing import Any

__version__ = "0.1.0"
__all__ = ["load"]


def load(run_directory: str) -> Any:
    """Loads a trained run: see `mtl_tf.training.run.Run`.

    Args:
        run_directory: the `--model_dir` of `launch.train`.

    Raises:
        RunError: it is not the directory of a run with trained weights.
    """
    # TensorFlow takes seconds to import: only when it is needed.
    from mtl_tf.training.run import load as load_run

    return load_run(run_directory)
