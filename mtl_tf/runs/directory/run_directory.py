"""The files of a run directory, all JSON and text."""

import contextlib
import json
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from absl import logging

from mtl_tf.config_fields import fields
from mtl_tf.core import digests, files, strict_json
from mtl_tf.core.errors import RunError
from mtl_tf.runs.directory import file_shapes, kinds, own_files, upgrading
from mtl_tf.training.optimizers import learning_rates

# These fields change no result, so they may change at any time.
_WITHOUT_EFFECT = ("pipeline.storage", "pipeline.service")
#: Digests of the user's own code files, by path.
CODE = "own_code.json"
#: The folder of copies of these files.
CODE_FOLDER = "own_code"
#: The folder of what the workers of a tf.data service read.
SERVED = "served"
_CHECKPOINT = os.path.join("checkpoints", "checkpoint")
#: Fields that a finished run may have more of later.
LENGTHS = (
    "training.epochs",
    "training.steps",
    "training.min_steps",
    "training.max_hours",
    "training.fine_tune.epochs",
)


# Stands for a value that a config lacks.
_ABSENT = object()


def flatten(
    config: Mapping[str, Any], prefix: str = "", whole: Collection[str] = ()
) -> dict[str, Any]:
    """Flattens nested fields to `{"training.l2": 1e-5, ...}`.

    Args:
        config: the fields.
        prefix: a prefix of their names.
        whole: names of fields whose values stay mappings.
    """
    flat = {}
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, Mapping) and value and path not in whole:
            flat.update(flatten(value, path + ".", whole))
        else:
            flat[path] = value
    return flat


def _plain(config: Mapping[str, Any]) -> dict[str, Any]:
    return json.loads(json.dumps(config))


def _as_read(name: str, value: Any) -> Any:
    """The value as it would be read after being written."""
    return upgrading.upgraded(name, upgrading.stamped(name, value))


def no_weights(run: "RunDirectory") -> str:
    """The message for a run without best weights: why, and what to do."""
    if run.has("config.json") and "baseline" in run.read("config.json"):
        return (
            "no trained weights: it is a linear baseline, which keeps no "
            "model, but its scores in results.json"
        )
    stopped = "its training stopped before the first evaluation"
    if not run.has(_CHECKPOINT):
        stopped = "its training stopped before its first checkpoint"
    return (
        f"no trained weights yet: {stopped}. The same training again "
        "(launch.train, mtl_tf.train) continues it"
    )


class RunDirectory:
    """Names and writes the files of a run.

    Args:
        path: the run directory, which is created if it does not exist.
    """

    def __init__(self, path: str):
        self.path = path

    def file(self, *parts: str) -> str:
        """The path of a file in the run directory."""
        return os.path.join(self.path, *parts)

    def has(self, name: str) -> bool:
        """Whether the file exists."""
        return os.path.exists(self.file(name))

    def read(self, name: str) -> Any:
        """Reads a JSON file, also one from an older version.

        Raises:
            RunError: it is missing, no JSON, or has wrong contents.
        """
        path = self.file(name)
        value = files.read_json(path)
        file_shapes.check(path, value)
        try:
            return upgrading.upgraded(name, value)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise RunError(f"{path} is damaged: {error!r}")

    def results(self) -> dict[str, Any]:
        """The contents of `results.json`.

        Raises:
            RunError: the training has not finished.
        """
        if not self.has("results.json"):
            raise RunError(
                f"{self.path} has no results yet: the same training again "
                "(launch.train, mtl_tf.train) brings it to its end"
            )
        return self.read("results.json")

    def write(self, name: str, value: Any) -> None:
        """Writes a JSON file atomically."""
        files.write_json(self.file(name), upgrading.stamped(name, value))

    def claim(self, config: Mapping[str, Any]) -> None:
        """Makes this the directory of a run with `config`.

        A finished run is reopened if `config` asks for longer training.

        Raises:
            ConfigError: the config has a field name of an older version.
            RunError: the directory holds a run with another config, or no run.
        """
        for name in flatten(config):
            fields.check_renamed(name)
        kinds.check(self.path, kinds.RUN)
        files.make_directory(self.path)
        config = _plain(config)
        is_new = not self.has("config.json")
        changed = {} if is_new else self._changes(config)
        refused = {
            name: pair
            for name, pair in changed.items()
            if name not in LENGTHS or not _longer(name, *pair)
        }
        if not refused and self.has_trained():
            self._check_decay(config, changed)
        if refused and self.has_trained():
            raise RunError(
                f"{self.path} holds a run with another config:\n"
                f"{_listed(refused)}\nname another --model_dir, or use the "
                "config of the run (you can only make its training longer)"
            )
        if refused:
            self._forget()
        elif changed:
            # First, because if it were killed in between, a run with the longer
            # config would seem to be finished.
            self._reopen()
        if is_new or changed or self._moved(config):
            self.write("config.json", config)

    def check_claimed(self, config: Mapping[str, Any]) -> None:
        """Refuses a config that differs from the claimed run's.

        Raises:
            RunError: it differs.
        """
        changed = self._changes(_plain(config))
        if changed:
            raise RunError(
                f"the chief has started the run in {self.path} with another "
                f"config:\n{_listed(changed)}\nstart all workers with the same "
                "command"
            )

    def _check_decay(
        self, config: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> None:
        """Refuses to prolong a training whose learning rate has decayed."""
        chosen = config["training"]["optimizer"]
        name = chosen["schedule"]
        # Fine-tuning restarts if it is prolonged.
        longer = set(LENGTHS[:3]) & set(changed)
        if not longer:
            return
        if learning_rates.decays(name):
            raise RunError(
                f"{self.path} holds a run whose learning rate decays towards "
                f"its end (training.optimizer.schedule {name!r}): with more "
                f"{min(longer)} it would differ from a new run of that length. "
                "Name another --model_dir. Only runs with the schedule "
                "constant or inverse_sqrt can be continued for longer"
            )
        if chosen["warmup_ratio"] and not chosen["warmup_steps"]:
            raise RunError(
                f"{self.path} holds a run whose warm-up is a share of its "
                "steps (training.optimizer.warmup_ratio): with more "
                f"{min(longer)} it would differ from a new run of that length. "
                "Name another --model_dir. Runs with "
                "training.optimizer.warmup_steps can be continued for longer"
            )

    def _changes(self, config: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
        # Older versions recorded paths as given.
        old = own_files.absolute(self.read("config.json"))
        new = own_files.absolute(_as_read("config.json", config))
        old = self._relocated(old, new)
        # Mappings from the user's names, not choices with options.
        groups = {name.rpartition(".")[0] for name in fields.every()}
        whole = set(filter(fields.is_open, fields.every())) - groups
        old, new = (flatten(config, whole=whole) for config in (old, new))
        return {
            name: (old.get(name, _ABSENT), new.get(name, _ABSENT))
            for name in sorted({**old, **new})
            if old.get(name) != new.get(name) and name not in _WITHOUT_EFFECT
        }

    def as_begun(
        self, config: Mapping[str, Any], names: Collection[str]
    ) -> dict[str, Any]:
        """The config with the run's own values of some fields, once it trains.

        For fields that a program derives, and that older versions of it derived
        in another way.

        Args:
            config: plain values.
            names: the fields, such as "training.evaluate_every".
        """
        changed = _plain(config)
        if not (self.has("config.json") and self.has_trained()):
            return changed
        new = own_files.absolute(_as_read("config.json", changed))
        old = own_files.absolute(self.read("config.json"))
        old = self._relocated(old, new)
        for group, _, name in (full.partition(".") for full in names):
            if name in old.get(group, {}):
                changed[group][name] = old[group][name]
        return changed

    def _moved(self, config: dict[str, Any]) -> bool:
        """Whether files of the config have moved."""
        old = own_files.absolute(self.read("config.json"))
        new = own_files.absolute(_as_read("config.json", config))
        return self._relocated(old, new) != old

    def _relocated(self, old: dict[str, Any], new: dict[str, Any]) -> Any:
        return own_files.relocated(old, new, self.known_code())

    def known_code(self) -> dict[str, str]:
        """Digests of the user's own code, by the recorded paths."""
        return digests.read(self.file(CODE)) if self.has(CODE) else {}

    def has_trained(self) -> bool:
        """Whether training has begun, so that the config must stay."""
        artifacts = (_CHECKPOINT, "tasks", "results.json")
        return any(map(self.has, artifacts))

    def _reopen(self) -> None:
        """Removes the files that mark the run as finished."""
        if self.has("fitted.json"):
            logging.warning(
                "%s: fitted.json goes, as its temperatures and thresholds are "
                "of the weights so far. The longer training fits what its "
                "config asks for; what launch.calibrate fitted, fit again.",
                self.path,
            )
        for name in ("results.json", "results.md", "fitted.json"):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file(name))
        # Other programs would take these for the run's current results.
        for name in ("fine_tuned", "scored"):
            shutil.rmtree(self.file(name), ignore_errors=True)

    def _forget(self) -> None:
        """Removes the preparations of a run that never trained a step."""
        for name in (
            "vocabulary",
            "encoded",
            SERVED,
            CODE_FOLDER,
            "teachers",
            "teachers.begun",
        ):
            shutil.rmtree(self.file(name), ignore_errors=True)
        for name in (
            "labels.json",
            "digests.json",
            CODE,
            "data.json",
            "batches.json",
            "vectors.json",
            "initialized.json",
        ):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file(name))

    def check_or_write(self, name: str, value: Any, noun: str) -> None:
        """Writes a JSON file once, and refuses other values later.

        Raises:
            RunError: the file has other contents.
        """
        value = _plain(value)
        if not self.has(name):
            self.write(name, value)
            return
        old, new = flatten(self.read(name)), flatten(_as_read(name, value))
        if old != new:
            differing = [k for k in {**old, **new} if old.get(k) != new.get(k)]
            raise RunError(
                f"{noun} changed since the run in {self.path} began (first "
                f"difference: {min(differing)}): restore it or name another "
                "--model_dir"
            )

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The readable entries of `metrics.jsonl`, in order."""
        if not self.has("metrics.jsonl"):
            return
        with open(self.file("metrics.jsonl"), encoding="utf-8") as file:
            for line in file:
                entry = file_shapes.entry_of(line)
                if entry is not None:
                    yield entry
                else:
                    logging.warning("Dropping half a line of metrics.jsonl.")

    def append_metrics(self, entry: Mapping[str, Any]) -> None:
        """Appends a line to `metrics.jsonl`."""
        with open(self.file("metrics.jsonl"), "a", encoding="utf-8") as file:
            file.write(strict_json.dumps(entry) + "\n")

    def cut_metrics(self, stage: str, step: int) -> None:
        """Drops entries that a killed process wrote after its checkpoint."""
        if not self.has("metrics.jsonl"):
            return
        lines = [
            strict_json.dumps(entry) + "\n"
            for entry in self.metrics()
            if entry.get("stage") != stage or entry["step"] <= step
        ]
        files.write_text(self.file("metrics.jsonl"), "".join(lines))


def _listed(changes: Mapping[str, tuple[Any, Any]]) -> str:
    return "\n".join(
        f"  {name}: {_text_of(before)} there, {_text_of(after)} asked for"
        for field, pair in changes.items()
        for name, before, after in _parts(field, *pair)
    )


def _parts(
    name: str, before: Any, after: Any
) -> Iterator[tuple[str, Any, Any]]:
    """A changed field; of entries in a list only the fields that differ."""
    entries: list[tuple[int, Any, Any]] = []
    are_lists = isinstance(before, list) and isinstance(after, list)
    if are_lists and len(before) == len(after):
        pairs = enumerate(zip(before, after))
        entries = [(n, a, b) for n, (a, b) in pairs if a != b]
    if not all(isinstance(e, Mapping) for _, *pair in entries for e in pair):
        entries = []
    if not entries:
        yield name, before, after
    for number, *pair in entries:
        old, new = map(flatten, pair)
        for key in dict.fromkeys([*old, *new]):
            values = old.get(key, _ABSENT), new.get(key, _ABSENT)
            if values[0] != values[1]:
                yield f"{name}[{number}].{key}", *values


def _text_of(value: Any) -> str:
    return "not set" if value is _ABSENT else repr(value)


def _longer(name: str, before: Any, after: Any) -> bool:
    if name == "training.steps" and not before:
        return False  # The epochs counted; any number may be fewer steps.
    if name == "training.max_hours" and not (before and after):
        return not after  # 0 means no limit.
    numbers = (int, float)
    return (
        isinstance(before, numbers)
        and isinstance(after, numbers)
        and after > before
    )
