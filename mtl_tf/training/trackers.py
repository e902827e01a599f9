"""Experiment trackers as callbacks: Weights & Biases and MLflow.

Neither is installed with the package: `pip install "mtl_tf[trackers]"`. Both
read their own environment variables (`WANDB_PROJECT`, `WANDB_MODE`,
`MLFLOW_TRACKING_URI`, `MLFLOW_EXPERIMENT_NAME`). A run that continues also
continues its tracker run, whose id is stored in the run directory.
"""

import json
import os
from collections.abc import Mapping
from typing import Any

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.training.callbacks import Callback, Training, flat, scalars

_LONGEST = 500  # MLflow's limit for the characters of a value
_MOST = 100  # MLflow's limit for the parameters of one call


def _missing(package: str, error: ImportError) -> ConfigError:
    return ConfigError(
        f"tracking needs the package {package}: pip install 'mtl_tf[trackers]' "
        f"({error})"
    )


def _results(results: Mapping[str, Any]) -> dict[str, float]:
    """The final scores by name, such as `test/books/accuracy`."""
    flat = {}
    for part in (results, *results["other_splits"].values()):
        split = part["split"]
        for name, value in (part["mean"] or {}).items():
            if isinstance(value, float):
                flat[f"{split}/mean/{name}"] = value
        for task, scores in part["tasks"].items():
            score = scores.get(scores["primary"])
            if score is not None:
                flat[f"{split}/{task}/{scores['primary']}"] = float(score)
    return flat


class WeightsAndBiases(Callback):
    """Sends a training to Weights & Biases (the package `wandb`).

    Steps start again in each stage. Charts therefore use the step of their
    stage, such as `joint/step`, as axis.
    """

    def __init__(self):
        try:
            import wandb
        except ImportError as error:
            raise _missing("wandb", error)
        self._wandb = wandb
        self._run: Any = None
        self._stage = ""

    def on_begin(self, training: Training) -> None:
        """Starts the tracker run, or continues it."""
        self._stage = training.stage
        if self._run is None:
            path = os.path.join(training.directory, "wandb.json")
            self._run = self._wandb.init(
                id=_stored_id(path),
                resume="allow",
                dir=training.directory,
                name=os.path.basename(os.path.normpath(training.directory)),
                config=flat(training.config),
            )
            files.write_json(path, {"id": self._run.id})
        axis = f"{self._stage}/step"
        self._run.define_metric(axis, hidden=True)
        self._run.define_metric(f"{self._stage}/*", step_metric=axis)

    def on_evaluation(self, entry: Mapping[str, Any]) -> None:
        """Sends the losses and scores of an evaluation."""
        stage = entry["stage"]
        values = {f"{stage}/{k}": v for k, v in scalars(entry).items()}
        self._run.log({f"{stage}/step": entry["step"], **values})

    def on_end(self, directory: str, results: Mapping[str, Any]) -> None:
        """Sends the final scores and ends the tracker run."""
        if self._run is None:
            return
        self._run.summary.update(_results(results))
        self._run.finish()
        self._run = None


class MLflow(Callback):
    """Sends a training to MLflow (the package `mlflow` or `mlflow-skinny`).

    Raises:
        ConfigError: the package is not installed.
    """

    def __init__(self):
        try:
            import mlflow
        except ImportError as error:
            raise _missing("mlflow", error)
        self._mlflow = mlflow
        self._begun = False

    def on_begin(self, training: Training) -> None:
        """Starts the tracker run, or continues it."""
        if self._begun:
            return
        path = os.path.join(training.directory, "mlflow.json")
        known = _stored_id(path)
        name = os.path.basename(os.path.normpath(training.directory))
        run = self._mlflow.start_run(
            run_id=known, run_name=None if known else name
        )
        self._begun = True
        if known is None:
            files.write_json(path, {"id": run.info.run_id})
            fields = flat(training.config).items()
            values = [(k, _short(v)) for k, v in fields]
            for start in range(0, len(values), _MOST):
                part = values[start : start + _MOST]
                self._mlflow.log_params(dict(part))

    def on_evaluation(self, entry: Mapping[str, Any]) -> None:
        """Sends the losses and scores of an evaluation."""
        stage = entry["stage"]
        values = {f"{stage}/{k}": v for k, v in scalars(entry).items()}
        self._mlflow.log_metrics(values, step=entry["step"])

    def on_end(self, directory: str, results: Mapping[str, Any]) -> None:
        """Sends the final scores and ends the tracker run."""
        if self._begun:
            self._mlflow.log_metrics(_results(results))
            self._mlflow.end_run()
            self._begun = False


def _stored_id(path: str) -> str | None:
    """The id of the tracker run that this run started, if any."""
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)["id"]


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
