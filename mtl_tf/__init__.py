"""Multi-task NLP with TensorFlow 2 and Keras 3.

run = mtl_tf.train(config, model_dir="runs/mine")
run.predict("mails", ["where is my parcel ?"])
mtl_tf.export_saved_model(run, "served/mine")
"""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mtl_tf.core.version import __version__ as __version__

if TYPE_CHECKING:
    from ml_collections import config_dict

    from mtl_tf.runs.loaded_run import Run
    from mtl_tf.training.callbacks import Callback

# TensorFlow takes seconds to import, so each function imports what it needs.

__all__ = [
    "analyse",
    "config",
    "evaluate",
    "export_saved_model",
    "load",
    "predict",
    "train",
]


def config(
    name: str = "starter", changes: Mapping[str, Any] | None = None
) -> "config_dict.ConfigDict":
    """Returns a config to train with: `--config` and its overrides.

    Args:
        name: `NAME`, `NAME:ARGUMENT` or `PATH.py` as of `--config`.
        changes: values by whole names of fields, such as
            `{"training.epochs": 3}`; they mean what overrides on the command
            line mean.

    Returns:
        The config, which can be changed: `config.training.epochs = 3`.

    Raises:
        ConfigError: there is no such config or field.
    """
    from mtl_tf.programs import config_argument, config_files

    loaded = config_files.load(name)
    config_argument.change(loaded, changes or {})
    return loaded


def train(
    config: "Mapping[str, Any] | config_dict.ConfigDict",
    model_dir: str | os.PathLike[str],
    *,
    data_dir: str | None = None,
    manual_dir: str | None = None,
    strategy: str = "auto",
    callbacks: "Sequence[Callback]" = (),
    compare_single: bool = False,
    verbose: bool = True,
) -> "Run":
    """Trains, evaluates and returns a run, as `launch.train` does.

    A run that was stopped continues; a finished one is loaded.

    Args:
        config: what `mtl_tf.config` or a `get_config` returns, or a dict of
            the same fields. An entry of `tasks` may have its examples as
            `data`, in place of `files`; see `mtl_tf.tasks.in_memory.to_files`.
        model_dir: the run directory, which is made if it is not there.
        data_dir: where prepared datasets are kept; None for the folder of
            TensorFlow Datasets, ~/tensorflow_datasets.
        manual_dir: the folder of the corpora's own files, such as its
            `fdu_mtl/`; not needed for a user's own files and `data`.
        strategy: "auto" for all there is, "one_device", "mirrored" over the
            GPUs, "multi_worker" or "tpu"; see
            `mtl_tf.training.strategies.make_strategy`.
        callbacks: told of the training as it goes; see
            `mtl_tf.training.callbacks`.
        compare_single: also trains each task alone, in the folder `single`
            of the run directory.
        verbose: whether to show the log and the progress on standard error.

    Returns:
        The run; its scores are `run.results`.

    Raises:
        MtlError: a mistake in the config, the data or the run directory.
        KeyboardInterrupt: after Ctrl-C. The state is saved.

    Example:
        ```python
        # Of dicts such as {"text": "my parcel is late", "label": "delivery"}.
        data = {"train": mails, "test": other_mails}
        config = mtl_tf.config("starter", {"training.epochs": 5})
        config.tasks = ({"name": "mails", "data": data},)
        run = mtl_tf.train(config, "runs/mails")
        label = run.predict("mails", ["where is it ?"])[0]["label"]
        ```
    """
    import contextlib
    import signal

    _import_tensorflow()
    from mtl_tf.baselines import yardsticks
    from mtl_tf.configs import validation
    from mtl_tf.core.errors import Interrupted
    from mtl_tf.experiments import single_tasks
    from mtl_tf.programs import console
    from mtl_tf.runs import run_folders, training_run
    from mtl_tf.tasks import given_rows, in_memory
    from mtl_tf.training import callbacks as called

    callbacks = called.checked(callbacks)
    model_dir, plain = os.fspath(model_dir), _plain(config)
    folder = os.path.join(model_dir, given_rows.FOLDER)
    entries = plain.get("tasks", ())
    if isinstance(entries, (str, Mapping)):
        entries = (entries,)
    do = single_tasks.train if compare_single else training_run.train
    try:
        with contextlib.ExitStack() as stack:
            if verbose:
                stack.enter_context(console.log_shown())
            stack.enter_context(run_folders.emptied_if_refused(model_dir))
            tasks = [in_memory.to_files(entry, folder) for entry in entries]
            paths = in_memory.paths_of(tasks)
            stack.enter_context(given_rows.errors_named(paths))
            plain = validation.validate({**plain, "tasks": tuple(tasks)})
            _check_one_run(plain)
            do(
                plain,
                model_dir=model_dir,
                data_dir=data_dir,
                manual_dir=manual_dir,
                strategy=strategy,
                beside=yardsticks.add
                if plain["evaluation"]["yardsticks"]
                else None,
                callbacks=callbacks,
            )
    except Interrupted as stop:
        # In a notebook, that is what one interrupts with.
        if stop.signal_number == signal.SIGINT:
            raise KeyboardInterrupt(str(stop)) from stop
        raise
    return load(model_dir)


def load(
    run_directory: str | os.PathLike[str],
    decoding: Mapping[str, Any] | None = None,
    weights: str = "best",
) -> "Run":
    """Loads a trained run: see `mtl_tf.runs.loaded_run.Run`.

    Args:
        run_directory: the `--model_dir` of `launch.train`.
        decoding: of a run that writes texts, how it looks for them, such as
            `{"beam": 4}`, in place of what its config says: the fields of
            `mtl_tf.runs.translating.Decoding` for translations, of
            `mtl_tf.runs.answering.Decoding` for answers to questions.
        weights: "best" for those with the best validation score, "last" for
            those of the newest training state: of its last step, not the
            average that `training.average` or `training.average_last` takes.

    Returns:
        The run. Its methods are `predict`, `evaluate` and `inputs`; its Keras
        model is `run.model`, its config `run.config`.

    Raises:
        RunError: it is not the directory of a run with such weights.
        ConfigError: a value of `decoding` is wrong, or the run writes no
            texts; or `weights` is neither.
    """
    _import_tensorflow()
    from mtl_tf.runs.loading import load as load_run

    return load_run(os.fspath(run_directory), decoding, weights)


def evaluate(
    run: "Run | str | os.PathLike[str]", split: str = "test", **options: Any
) -> dict[str, Any]:
    """Scores a run on a split of its tasks: see `Run.evaluate`.

    Args:
        run: a run or its directory.
        split: of the tasks' sources.
        **options: the others of `Run.evaluate`, such as `data`, examples with
            labels in place of the split.

    Returns:
        The scores, from 0 to 100: those of a task in
        `["tasks"][NAME][METRIC]`, their mean in `["mean"]["overall"]`; see
        `mtl_tf.evaluation.evaluator.evaluate`.

    Raises:
        MtlError: as of `load` and `Run.evaluate`.
    """
    return _loaded(run).evaluate(split, **options)


def predict(
    run: "Run | str | os.PathLike[str]",
    task: str,
    examples: Sequence[Any],
    batch_size: int = 64,
) -> list[dict[str, Any]]:
    """Predicts examples: see `Run.predict`.

    Args:
        run: a run, or its directory, which is loaded anew at each call.
        task, examples, batch_size: as of `Run.predict`.

    Returns:
        A dict for each example; see `Run.predict`.

    Raises:
        MtlError: as of `load` and `Run.predict`.
        TypeError: an example is not one of the task.
    """
    return _loaded(run).predict(task, examples, batch_size)


def analyse(
    run: "Run | str | os.PathLike[str] | Sequence[str | os.PathLike[str]]",
    output: str | os.PathLike[str] = "",
    *,
    split: str = "",
    examples: int = 20,
    data_dir: str | None = None,
    manual_dir: str | None = None,
) -> str:
    """Writes the HTML page on a finished run, as `launch.analyse` does.

    Args:
        run: a run or its directory; several directories are seeds of one
            config.
        output: the file of the page, "" for `analysis.html` in the first run
            directory.
        split: whose scores and mistakes to show; those of results.json if "".
        examples: how many mistakes of each task.
        data_dir: where prepared datasets are.
        manual_dir: where the corpora are.

    Returns:
        The file.

    Raises:
        MtlError: as of `mtl_tf.analysis.run_analysis.analyse`.
    """
    _import_tensorflow()
    from mtl_tf.analysis import page, run_analysis
    from mtl_tf.core import files
    from mtl_tf.core.errors import ConfigError

    runs = run if isinstance(run, (list, tuple)) else [run]
    paths = [
        os.fspath(item)
        if isinstance(item, (str, os.PathLike))
        else item.directory.path
        for item in runs
    ]
    if not paths:
        raise ConfigError("name a run to analyse, got an empty list")
    path = os.fspath(output) or os.path.join(paths[0], "analysis.html")
    files.check_file(path)
    analysis = run_analysis.analyse(
        paths, split, examples, data_dir, manual_dir
    )
    files.write_text(path, page.page(analysis))
    return path


def export_saved_model(
    run: "Run | str | os.PathLike[str]",
    export_dir: str | os.PathLike[str],
    version: int = 0,
    weights: str = "float32",
) -> str:
    """Exports a run for TensorFlow Serving, as `export.saved_model` does.

    Args:
        run: a run or its directory.
        export_dir: holds the versions, as a model server expects.
        version: the version's number; 0 for the next free one.
        weights: what they are stored as: "float32", "bfloat16" or "int8".

    Returns:
        The version directory.

    Raises:
        RunError: the version exists already, or it cannot be written.
        ConfigError: a task has the name of a reserved signature, or an
            unknown form of weights.
    """
    import importlib

    try:
        exporter = importlib.import_module("mtl_tf.export.saved_model")
    except ModuleNotFoundError:
        # A checkout that is not installed.
        exporter = importlib.import_module("export.saved_model")
    return exporter.export(
        _loaded(run), os.fspath(export_dir), version, weights
    )


def _plain(config: Any) -> Mapping[str, Any]:
    from mtl_tf.core.errors import ConfigError

    if not isinstance(config, Mapping) and not hasattr(config, "to_dict"):
        raise ConfigError(
            "config must be what mtl_tf.config returns, or a dict of the same "
            f"fields, got {config!r:.60}"
        )
    return config if isinstance(config, Mapping) else config.to_dict()


def _import_tensorflow() -> None:
    """Imports it without what it writes of itself, unless it is there."""
    import sys

    from mtl_tf.programs import quiet

    quiet.expect_traces()
    if "tensorflow" not in sys.modules:
        quiet.lower_log_level()
        quiet.import_tensorflow(quiet=True)


def _check_one_run(config: Mapping[str, Any]) -> None:
    from mtl_tf.core.errors import ConfigError

    if config["train_separately"]:
        raise ConfigError(
            "mtl_tf.train returns one run: train_separately must be False "
            "(launch.train trains such configs; compare_single=True trains "
            "each task alone beside the joint model)"
        )


def _loaded(run: "Run | str | os.PathLike[str]") -> "Run":
    return load(run) if isinstance(run, (str, os.PathLike)) else run
