"""Training from Python: examples in memory, and configs that may be no dict."""

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from ml_collections import config_dict

from mtl_tf.baselines import yardsticks
from mtl_tf.config_fields import changing, validation
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.experiments import single_tasks
from mtl_tf.runs import set_by_hand, training_run
from mtl_tf.runs.directory import run_folders
from mtl_tf.tasks import in_memory
from mtl_tf.tasks.reading import given_rows
from mtl_tf.training.callbacks import Callback, checked


def train(
    config: Mapping[str, Any] | config_dict.ConfigDict,
    model_dir: str,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    strategy: str = "auto",
    callbacks: Sequence[Callback] = (),
    compare_single: bool = False,
) -> None:
    """Trains and evaluates a run; see `mtl_tf.train`.

    Raises:
        MtlError: a mistake in the config, the data or the run directory.
        Interrupted: a signal came; the state is saved.
    """
    task_types.read_changed()
    callbacks = checked(callbacks)
    plain = _plain(config)
    folder = os.path.join(model_dir, given_rows.FOLDER)
    do = single_tasks.train if compare_single else training_run.train
    with contextlib.ExitStack() as stack:
        stack.enter_context(run_folders.emptied_if_refused(model_dir))
        tasks = [in_memory.to_files(e, folder) for e in _entries(plain)]
        paths = in_memory.paths_of(tasks)
        stack.enter_context(given_rows.errors_named(paths))
        plain = validation.validate({**plain, "tasks": tuple(tasks)})
        _check_one_run(plain)
        set_by_hand.check_used(
            plain,
            changing.changed(config),
            os.path.join(model_dir, "config.json"),
            trains_alone=compare_single,
        )
        adds_yardsticks = plain["evaluation"]["yardsticks"]
        do(
            plain,
            model_dir=model_dir,
            data_dir=data_dir,
            manual_dir=manual_dir,
            strategy=strategy,
            beside=yardsticks.add if adds_yardsticks else None,
            callbacks=callbacks,
        )


def _plain(config: Any) -> Mapping[str, Any]:
    if not isinstance(config, Mapping) and not hasattr(config, "to_dict"):
        raise ConfigError(
            "config must be what mtl_tf.config returns, or a dict of the same "
            f"fields, got {config!r:.60}"
        )
    return config if isinstance(config, Mapping) else config.to_dict()


def _entries(config: Mapping[str, Any]) -> Sequence[Any]:
    """A config's tasks, of which one may stand alone."""
    entries = config.get("tasks", ())
    return (entries,) if isinstance(entries, (str, Mapping)) else entries


def _check_one_run(config: Mapping[str, Any]) -> None:
    if config["train_separately"]:
        raise ConfigError(
            "mtl_tf.train returns one run: train_separately must be False "
            "(launch.train trains such configs; compare_single=True trains "
            "each task alone beside the joint model)"
        )
