"""Fits temperatures and thresholds to trained runs, and shows the effect."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mtl_tf.core.directories import DEFAULT_DIRECTORIES, Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.evaluation import scored_examples, task_types
from mtl_tf.evaluation.metrics import metrics
from mtl_tf.evaluation.probabilities import quality
from mtl_tf.evaluation.tables.score_format import metric_title
from mtl_tf.prediction.calibrating import Wish
from mtl_tf.prediction.clean_parts import CleanParts
from mtl_tf.prediction.prediction_type import FITTED_FIELDS
from mtl_tf.runs import fitting
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_folders import run_folders
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.runs.loaded.loading import load

_MEASURES = {
    "calibration_error": "calibration error",
    "brier": "Brier score",
    "log_loss": "log loss",
}


def calibrate(
    model_dir: str,
    temperature: bool = True,
    thresholds: Mapping[str, Sequence[tuple[str, float]]] | None = None,
    split: str = "test",
    directories: Directories = DEFAULT_DIRECTORIES,
) -> dict[str, Any]:
    """Fits a run's temperatures and thresholds anew, on validation examples.

    They replace the former ones. The run's saved predictions on all splits are
    updated, too. Its `results.json` remains as the training wrote it.

    Args:
        model_dir: a run directory, also of a run with a model for each task.
        temperature: whether to fit temperatures; otherwise there are none.
        thresholds: by task, labels and the lowest precision of each; 0 for the
            best F1.
        split: the split to score besides the validation split.
        directories: where data are.

    Returns:
        For each task "fitted", the fitted values, and "splits": for each split
        "primary", the metric, and "before" and "after", each with the metric's
        score and the result of `probabilities.quality`.

    Raises:
        ConfigError: an unknown task or label, a label named twice, more labels
            than the task may have thresholds for, or a precision that no
            threshold reaches.
        RunError: it is no directory of a trained run.
    """
    thresholds = dict(thresholds or {})
    runs = [load(folder.path) for folder in run_folders(model_dir)]
    labels = {task["name"]: task["labels"] for r in runs for task in r.tasks}
    for name, wishes_of_task in thresholds.items():
        known = look_up(name, labels, "task of --threshold")
        if not known:
            raise ConfigError(
                f"the task {name} has no labels: only labels have thresholds"
            )
        named = [label for label, _ in wishes_of_task]
        for label in named:
            look_up(label, dict.fromkeys(known), f"label of {name}")
            if named.count(label) > 1:
                raise ConfigError(
                    f"--threshold names the label {label} of {name} twice"
                )
    types = {task["type"] for run in runs for task in run.tasks}
    none = ConfigError(
        f"no task of {model_dir} has probabilities of whole examples, which "
        f"are of labels of texts: its type is {' or '.join(sorted(types))}"
    )
    # Before scoring the splits, which may take long.
    if not any(task_types.of(name).probabilities for name in types):
        raise none
    fits = []
    for run in runs:
        names = [task["name"] for task in run.tasks]
        wishes = {
            name: [Wish(*wish) for wish in wishes_of_task]
            for name, wishes_of_task in thresholds.items()
            if name in names
        }
        fits.append(_Fit(run, temperature, wishes, split, directories))
    # A model that cannot fulfil a wish has stopped by now: all or none change.
    by_task = {}
    for fit in fits:
        by_task |= fit.keep()
    if not any(
        task["splits"]["validation"]["after"] for task in by_task.values()
    ):
        raise none
    return by_task


class _Fit:
    """What is fitted to a run, and the scores before.

    Args:
        run: the loaded run.
        temperature: whether to fit temperatures.
        wishes: the thresholds asked for, by task.
        split: the split to score besides the validation split.
        directories: where data are.

    Raises:
        ConfigError: a wish cannot be fulfilled.
    """

    def __init__(
        self,
        run: Run,
        temperature: bool,
        wishes: Mapping[str, Sequence[Wish]],
        split: str,
        directories: Directories,
    ):
        self._run, self._directories = run, directories
        self._splits = list(dict.fromkeys(["validation", split]))
        # Reading the group's texts takes longest, so it is done only once.
        self._clean = CleanParts.of_config(run.config, *directories)
        self._labels = {
            name: [wish.label for wish in some] for name, some in wishes.items()
        }
        tasks = run_data.tasks_of(run.config, directories)
        validation = [
            run_data.encode_split(task, "validation", run.encoder)
            for task in tasks
        ]
        before = [_fitted_of(task) for task in run.tasks]
        # First, as it may be refused or change nothing, and scoring takes long.
        self._fitted = fitting.fit(run, validation, temperature, wishes)
        after = [_fitted_of(task) for task in run.tasks]
        _put(run, before)
        self._before = self._scores()
        _put(run, after)

    def keep(self) -> dict[str, Any]:
        """Writes it into the run; returns the part of `calibrate`'s result."""
        run = self._run
        others = scored_examples.splits(run.directory.path)
        fitting.keep(run, self._fitted)
        after = self._scores()
        for name in sorted(set(others) - set(self._splits)):
            run.evaluate(name, None, *self._directories, self._clean, keep=True)
        return {
            task["name"]: {
                "fitted": _fitted_of(task),
                "splits": {
                    name: {
                        "primary": task["metrics"][0],
                        "before": self._before[name][task["name"]],
                        "after": after[name][task["name"]],
                    }
                    for name in self._splits
                },
            }
            for task in run.tasks
        }

    def _scores(self) -> dict[str, dict[str, dict[str, float]]]:
        return _scores(
            self._run,
            self._splits,
            self._directories,
            self._clean,
            self._labels,
        )


def _fitted_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """What was fitted for a task of a run."""
    return {k: v for k, v in task.items() if k in FITTED_FIELDS}


def _put(run: Run, fitted: Sequence[Mapping[str, Any]]) -> None:
    """Lets a run use what was fitted for each of its tasks."""
    for task, values in zip(run.tasks, fitted):
        for name in FITTED_FIELDS:
            task.pop(name, None)
        task.update(values)


def _scores(
    run: Run,
    splits: list[str],
    directories: Directories,
    clean: CleanParts,
    labels: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, dict[str, float]]]:
    """The scores and the quality of probabilities, by split and task."""
    of_splits = {}
    for split in splits:
        results = run.evaluate(split, None, *directories, clean, keep=True)
        predictions = scored_examples.read(run.directory.path, split)
        of_splits[split] = {}
        for name, scores in results["tasks"].items():
            kind = task_types.of(scores["type"]).probabilities
            if kind is None or predictions[name].scores is None:
                of_splits[split][name] = {}
                continue
            measures = quality(
                kind, predictions[name].labels, predictions[name].scores
            )
            primary = scores["primary"]
            of_splits[split][name] = {primary: scores[primary], **measures}
            for label in labels.get(name, ()):
                of_splits[split][name] |= _of_label(scores, label)
    return of_splits


def _of_label(scores: Mapping[str, Any], label: str) -> dict[str, float]:
    """Precision and recall of a label in a task's results."""
    if "confusion" in scores:
        names = scores["confusion"]["classes"]
        classes = metrics.of_classes(scores["confusion"]["matrix"])
        of_label = classes[names.index(label)]
    else:
        of_label = scores["types"][label]
    return {f"{m} of {label}": of_label[m] for m in ("precision", "recall")}


def table(by_task: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """The rows of a table: each task on each split, before and after.

    Args:
        by_task: the return value of `calibrate`.
    """
    rows = [("task", "split", "metric", "before", "after")]
    for name, task in by_task.items():
        for split, scores in task["splits"].items():
            for metric, before in scores["before"].items():
                digits = 3 if metric in _MEASURES else 2
                title = _MEASURES.get(metric) or metric_title(metric)
                rows.append(
                    (
                        name,
                        split,
                        title,
                        f"{before:.{digits}f}",
                        f"{scores['after'][metric]:.{digits}f}",
                    )
                )
    return rows


def settled_sentences(by_task: Mapping[str, Any]) -> Iterator[str]:
    """The fitted values, one sentence for each task.

    Args:
        by_task: the return value of `calibrate`.
    """
    for name, task in by_task.items():
        settings = []
        fitted = task["fitted"]
        if "temperature" in fitted:
            settings.append(f"temperature {fitted['temperature']:.3f}")
        if "decision" in fitted:
            label, threshold = fitted["decision"].values()
            settings.append(f"{label} from {threshold:.3f} on")
        settings += [
            f"{label} from {threshold:.3f} on"
            for label, threshold in fitted.get("thresholds", {}).items()
        ]
        yield f"{name}: {', '.join(settings) or 'nothing settled'}"
