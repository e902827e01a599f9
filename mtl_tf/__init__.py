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

    from mtl_tf.runs.loaded.loaded_run import Run
    from mtl_tf.training.callbacks import Callback

# TensorFlow takes seconds to import, so each function imports what it needs.

__all__ = [
    "analyse",
    "compare",
    "config",
    "ensemble",
    "evaluate",
    "export_saved_model",
    "load",
    "predict",
    "train",
]


def config(
    name: str | os.PathLike[str] = "starter",
    changes: Mapping[str, Any] | None = None,
) -> "config_dict.ConfigDict":
    """Loads a config by name, with changes, as `--config` does.

    Args:
        name: `NAME`, `NAME:ARGUMENT` or `PATH.py`, as for `--config`.
        changes: new values by full field name, such as
            `{"training.epochs": 3}`. They work like overrides on
            the command line; `train` refuses those that nothing reads.

    Returns:
        The config. You can change it: `config.training.epochs = 3`.

    Raises:
        ConfigError: the config or a field does not exist.
    """
    from mtl_tf.config_fields import changing
    from mtl_tf.programs import config_files

    loaded = config_files.load(os.fspath(name))
    changing.change(loaded, changes or {})
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
    """Trains and evaluates a run and returns it, as `launch.train` does.

    If the run was stopped, training continues. If it is finished, it is loaded.

    Args:
        config: the result of `mtl_tf.config` or of a `get_config`, or a dict
            with the same fields. An entry of `tasks` may hold its examples in
            `data` instead of naming `files`; see
            `mtl_tf.tasks.in_memory.to_files`.
        model_dir: the run directory. It is created if it does not exist.
        data_dir: where prepared datasets are kept. None means the folder of
            TensorFlow Datasets, ~/tensorflow_datasets.
        manual_dir: the folder with the original files of the corpora, such as
            its `fdu_mtl/`. Your own files and `data` do not need it.
        strategy: "auto" for all available devices, "one_device", "mirrored" for
            all GPUs, "multi_worker" or "tpu"; see
            `mtl_tf.training.distribution.strategies.make_strategy`.
        callbacks: objects whose methods are called during training; see
            `mtl_tf.training.callbacks`.
        compare_single: also trains each task alone, in the folder `single` of
            the run directory.
        verbose: whether to show the log and the progress on standard error.

    Returns:
        The run. Its scores are in `run.results`.

    Raises:
        MtlError: a mistake in the config, the data or the run directory.
        KeyboardInterrupt: after Ctrl-C. The training state is saved first.

    Example:
        ```python
        # Lists of dicts: {"text": "my parcel is late", "label": "delivery"}.
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
    from mtl_tf.core.errors import Interrupted
    from mtl_tf.experiments import from_python
    from mtl_tf.programs import console

    try:
        with console.log_shown() if verbose else contextlib.nullcontext():
            from_python.train(
                config,
                os.fspath(model_dir),
                data_dir=data_dir,
                manual_dir=manual_dir,
                strategy=strategy,
                callbacks=callbacks,
                compare_single=compare_single,
            )
    except Interrupted as stop:
        # Notebooks interrupt a cell with SIGINT and expect KeyboardInterrupt.
        if stop.signal_number == signal.SIGINT:
            raise KeyboardInterrupt(str(stop)) from stop
        raise
    return load(model_dir)


def load(
    run_directory: str | os.PathLike[str],
    decoding: Mapping[str, Any] | None = None,
    weights: str = "best",
) -> "Run":
    """Loads a trained run; see `mtl_tf.runs.loaded.loaded_run.Run`.

    Args:
        run_directory: the `--model_dir` of `launch.train` (`SingleRuns` with
            `train_separately`), or the file of `launch.ensemble --output`.
        decoding: search options for a run that generates text, such as
            `{"beam": 4}`. They replace those of the run's config. The fields
            are those of `mtl_tf.prediction.translating.Decoding` or, for
            questions, of `mtl_tf.prediction.answering.Decoding`.
        weights: "best" for the weights with the best validation score. "last"
            for those after the last step of the newest checkpoint, without the
            average of `training.average` or `training.average_last`.

    Returns:
        The run, with `predict`, `evaluate`, `config`, its Keras `model`, ...

    Raises:
        RunError: the directory holds no run with such weights.
        ConfigError: `decoding` or `weights` is wrong, or the run takes none.
    """
    _import_tensorflow()
    from mtl_tf.runs.loaded.loaded_ensemble import load_any

    return load_any(os.fspath(run_directory), decoding, weights)


def evaluate(
    run: "Run | str | os.PathLike[str]", split: str = "test", **options: Any
) -> dict[str, Any]:
    """Evaluates a run on one split of its tasks; see `Run.evaluate`.

    Args:
        run: a run or its directory.
        split: the split to score.
        **options: other arguments of `Run.evaluate`. One is `data`: labelled
            examples that are scored instead of the split.

    Returns:
        The scores, from 0 to 100. A task's scores are in
        `["tasks"][NAME][METRIC]` and the mean is in `["mean"]["overall"]`; see
        `mtl_tf.evaluation.evaluator.evaluate`.

    Raises:
        MtlError: as in `load` and `Run.evaluate`.
    """
    return _loaded(run).evaluate(split, **options)


def predict(
    run: "Run | str | os.PathLike[str]",
    task: str,
    examples: Sequence[Any],
    batch_size: int = 64,
) -> list[dict[str, Any]]:
    """Predicts the outputs for some examples; see `Run.predict`.

    Args:
        run: a run, or its directory, which is loaded again at each call.
        task, examples, batch_size: as in `Run.predict`.

    Returns:
        One dict per example; see `Run.predict`.

    Raises:
        MtlError: as in `load` and `Run.predict`.
        TypeError: an example does not fit the task.
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
    """Writes an HTML report on a finished run, as `launch.analyse` does.

    Args:
        run: a run or its directory. Several directories must be runs of one
            config with different seeds.
        output: path of the HTML file. "" means `analysis.html` in the first run
            directory.
        split: the split whose scores and mistakes are shown. "" means the split
            of results.json.
        examples: how many mistakes to show per task.
        data_dir: where prepared datasets are kept.
        manual_dir: the folder with the corpora.

    Returns:
        The path of the HTML file.

    Raises:
        MtlError: as in `mtl_tf.analysis.run_analysis.analyse`.
    """
    _import_tensorflow()
    from mtl_tf.analysis import page, run_analysis
    from mtl_tf.core import files
    from mtl_tf.core.errors import ConfigError

    runs = run if isinstance(run, (list, tuple)) else [run]
    paths = [_path_of(item) for item in runs]
    if not paths:
        raise ConfigError("name a run to analyse, got an empty list")
    path = os.fspath(output) or os.path.join(paths[0], "analysis.html")
    files.check_file(path)
    analysis = run_analysis.analyse(
        paths, split, examples, data_dir, manual_dir
    )
    files.write_text(path, page.page(analysis))
    return path


def compare(
    run: "Run | str | os.PathLike[str]",
    other: "Run | str | os.PathLike[str]",
    *,
    split: str = "test",
    tasks: Sequence[str] = (),
    draws: int = 2000,
) -> dict[str, Any]:
    """Tests whether one run is better than another, as `launch.compare` does.

    Args:
        run: a finished run, its directory, or a folder of seeds or folds.
        other: the run that may be better, likewise.
        split: the split to compare; the runs have stored its predictions.
        tasks: names of tasks; those that both have by default.
        draws: number of test sets that the bootstrap draws.

    Returns:
        What `launch.compare` writes, for each task and the mean; see
        `mtl_tf.experiments.compare.compare`.

    Raises:
        MtlError: the runs have no predictions for the split, or other examples.

    Example:
        ```python
        gain = mtl_tf.compare("runs/lstm", "runs/meta")["mean"]["gain"]
        ```
    """
    _import_tensorflow()
    from mtl_tf.experiments import compare

    paths = _path_of(run), _path_of(other)
    return compare.compare(*paths, split, _names(tasks), draws)


def ensemble(
    runs: "Sequence[Run | str | os.PathLike[str]]",
    *,
    split: str = "test",
    tasks: Sequence[str] = (),
    rounds: int = 0,
    draws: int = 2000,
    data_dir: str | None = None,
    manual_dir: str | None = None,
) -> dict[str, Any]:
    """Scores the mean of several runs' probabilities, as `launch.ensemble`.

    Args:
        runs: finished runs, their directories, or folders of seeds.
        split: the split to score besides the validation split.
        tasks: names of tasks; those that all have by default.
        rounds: rounds of a greedy choice of the runs on validation examples; 0
            takes each run once.
        draws: number of test sets that the bootstrap draws, which compares the
            ensemble with the best run on the validation examples.
        data_dir: where prepared datasets are kept.
        manual_dir: the folder with the corpora.

    Returns:
        What `launch.ensemble` writes; see
        `mtl_tf.experiments.ensemble.Ensemble.to_json`. Saved as JSON, it can be
        `training.teachers`.

    Raises:
        MtlError: as in `mtl_tf.experiments.ensemble.ensemble`.
    """
    _import_tensorflow()
    from mtl_tf.core.directories import Directories
    from mtl_tf.experiments import ensemble

    paths = [_path_of(run) for run in runs]
    folders = Directories(data_dir, manual_dir)
    averaged = ensemble.ensemble(paths, split, _names(tasks), rounds, folders)
    return averaged.to_json(split, draws)


def export_saved_model(
    run: "Run | str | os.PathLike[str]",
    export_dir: str | os.PathLike[str],
    version: int = 0,
    weights: str = "float32",
) -> str:
    """Exports a run for TensorFlow Serving, as `export.saved_model` does.

    Args:
        run: a run or an ensemble, or the path that `load` takes.
        export_dir: the directory that holds all versions, as a model server
            expects.
        version: the version number; 0 for the next free one.
        weights: number format of the stored weights: "float32", "bfloat16" or
            "int8".

    Returns:
        The directory of the version.

    Raises:
        RunError: the version exists already, or it cannot be written.
        ConfigError: a task has the name of a reserved signature, or the format
            of the weights is unknown.
    """
    import importlib

    try:
        exporter = importlib.import_module("mtl_tf.export.saved_model")
    except ModuleNotFoundError:
        # The project is used from a checkout and is not installed.
        exporter = importlib.import_module("export.saved_model")
    return exporter.export(
        _loaded(run), os.fspath(export_dir), version, weights
    )


def _import_tensorflow() -> None:
    """Imports TensorFlow without its startup messages."""
    from mtl_tf.programs import quiet

    quiet.import_silently()


def _names(tasks: Sequence[str]) -> list[str]:
    return [tasks] if isinstance(tasks, str) else list(tasks)


def _path_of(run: "Run | str | os.PathLike[str]") -> str:
    if isinstance(run, (str, os.PathLike)):
        return os.fspath(run)
    if not hasattr(run, "directory"):
        raise TypeError(f"run must be a run or its path, got {run!r:.60}")
    return run.directory.path


def _loaded(run: "Run | str | os.PathLike[str]") -> "Run":
    if isinstance(run, (str, os.PathLike)):
        return load(run)
    if not hasattr(run, "runs"):
        raise TypeError(
            "run must be what mtl_tf.load returns, or the path it takes, got "
            f"{run!r:.60}"
        )
    return run
