"""A trained run, loaded: `mtl_tf.load(run_directory)`."""

import dataclasses
import os
from collections.abc import Mapping, Sequence
from typing import Any

from mtl_tf.core import checks
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.core.names import look_up
from mtl_tf.evaluation import evaluator, predictions, translation_metrics
from mtl_tf.pipelines import encoding
from mtl_tf.runs import run_data
from mtl_tf.runs.building import build
from mtl_tf.runs.inference import DIAGNOSTICS, Predictor
from mtl_tf.runs.predicting import ANSWERS
from mtl_tf.runs.run_directory import RunDirectory
from mtl_tf.runs.translating import make_translator
from mtl_tf.tasks import registry
from mtl_tf.tasks.task import TAGGING, TRANSLATION, Task
from mtl_tf.text.decoding import UNKNOWN, restricted
from mtl_tf.text.encoder import TextEncoder
from mtl_tf.training.checkpoints import BestWeights


class Run:
    """A model with everything that belongs to it.

    Args:
        directory: the run's files.
        config: the resolved config.
        tasks: per task a dict of name, kind, labels, metrics.
        encoder: texts to ids.
        predictor: runs the model, which `weights_for` fills.
    """

    def __init__(
        self,
        directory: RunDirectory,
        config: Mapping[str, Any],
        tasks: Sequence[Mapping[str, Any]],
        encoder: TextEncoder,
        predictor: Predictor,
    ):
        self.directory = directory
        self.config = config
        self.tasks = [dict(task) for task in tasks]
        self.encoder = encoder
        self.predictor = predictor
        self.model = predictor.model
        self.loaded: str | None = None

    def task_index(self, name: str) -> int:
        """The number of a task.

        Raises:
            ConfigError: the run has no such task.
        """
        indices = {task["name"]: i for i, task in enumerate(self.tasks)}
        return look_up(name, indices, "task")

    def weights_for(self, task: str) -> str:
        """Loads the best weights for a task, fine-tuned ones if there are.

        Returns:
            The directory of the weights.
        """
        candidates = (
            ("fine_tuned", task, "best"),
            ("fine_tuned", "best"),
            ("best",),
        )
        for parts in candidates:
            path = self.directory.file(*parts)
            if os.path.exists(os.path.join(path, "best.json")):
                break
        if path != self.loaded:
            BestWeights(path, self.model).load()
            self.loaded = path
        return path

    def predict(
        self,
        task: str,
        texts: Sequence[str | Sequence[str]],
        batch_size: int = 64,
    ) -> list[dict[str, Any]]:
        """Answers texts.

        Args:
            task: the task's name.
            texts: strings, of any length and none. For a tagging task also
                lists of tokens, which are not split any more.
            batch_size: texts at a time.

        Returns:
            Per text a dict of `task`, `label` and `scores`, probabilities by
            label. For a tagging task of `task`, `tokens`, `tags` (labels of
            the task), `confidence` (the tags' probabilities) and, where the
            text was a string, `offsets`, [start, end] in characters; tokens
            behind the config's `text.max_length` are left out. For a
            translation task of `task`, `translation` and `score`.

        Raises:
            ConfigError: an unknown task.
            TypeError: a text of another type.
        """
        index = self.task_index(task)
        checks.positive_integer("batch_size", batch_size)
        if isinstance(texts, str):
            raise TypeError("texts must be a list of strings, got a string")
        if not texts:
            return []
        self.weights_for(task)
        described = self.tasks[index]
        return ANSWERS[described["kind"]](
            described,
            self.encoder,
            texts,
            self.predictor.translator
            or (lambda split: self.predictor.predict(split, index, batch_size)),
        )

    def evaluate(
        self,
        split: str = "test",
        tasks: Sequence[str] | None = None,
        data_dir: str | None = None,
        manual_dir: str | None = None,
        clean: run_data.CleanParts | None = None,
        predictions_dir: str | None = None,
    ) -> dict[str, Any]:
        """Scores the run on a split of its tasks.

        Args:
            split: train, validation, test or any split of the tasks' sources.
            tasks: names of tasks, all by default.
            data_dir: where prepared datasets are.
            manual_dir: where the corpora are.
            clean: the group's clean parts, if they are at hand already.
            predictions_dir: where to write what the run says of each example;
                see `mtl_tf.evaluation.predictions`.

        Returns:
            See `mtl_tf.evaluation.evaluator.evaluate`.

        Raises:
            MtlError: as of `Task.dataset`; the data have another label than
                those that the run was trained on.
        """
        names = [task["name"] for task in self.tasks]
        chosen = [names[self.task_index(n)] for n in tasks or names]
        where = (data_dir, manual_dir, self.config["cross_validation"])
        resolved = self._resolved(where)
        group = self.config["evaluation"]["group"] or self.config["tasks"]
        if clean is None:
            clean = run_data.CleanParts(group, *where)
        scored = [self._score(resolved[n], split, clean) for n in chosen]
        if predictions_dir:
            for name, said in zip(chosen, scored):
                inputs = _inputs(resolved[name], split)
                predictions.write(predictions_dir, inputs, said)
        return evaluator.evaluate(scored, split)

    def _resolved(self, where: tuple) -> dict[str, Task]:
        """The tasks with their data, labels numbered as in training.

        Labels that an entry does not list are those of its files, which may
        be others by now.
        """
        entries = self.config["tasks"]
        trained = {task["name"]: task for task in self.tasks}
        resolved = {t.name: t for t in registry.resolve(entries, *where)}
        if not _changed(resolved, trained):
            return resolved
        entries = [
            {**entry, **_labels_of(trained[entry["name"]])}
            if isinstance(entry, Mapping)
            else entry
            for entry in entries
        ]
        resolved = {t.name: t for t in registry.resolve(entries, *where)}
        for name in _changed(resolved, trained):
            raise RunError(
                f"the labels of the task {name} are others than those that "
                f"{self.directory.path} was trained on: "
                f"{', '.join(resolved[name].labels)} in place of "
                f"{', '.join(trained[name]['labels'])}"
            )
        return resolved

    def _score(
        self, task: Task, split: str, clean: run_data.CleanParts
    ) -> evaluator.TaskPredictions:
        self.weights_for(task.name)
        encoded = run_data.encode_split(task, split, self.encoder)
        said = score(
            self.predictor,
            encoded,
            self.tasks[self.task_index(task.name)],
            self.task_index(task.name),
            self.config["evaluation"]["batch_size"],
            run_data.gold(task, split),
            run_data.texts(task, split) if task.kind == TRANSLATION else (),
            **clean.about(task, split),
        )
        if task.kind != TRANSLATION:
            return said
        shown = self.paper_texts(task.name, said.predictions, said.labels)
        return dataclasses.replace(said, restricted=shown)

    def paper_texts(
        self,
        task: str,
        hypotheses: Sequence[str],
        references: Sequence[str],
    ) -> tuple[list[str], list[str]] | None:
        """`paper_texts`, if the run's config asks for `paper_scoring`.

        Args:
            task: the name of a translation task.
            hypotheses, references: n of each.

        Returns:
            Both, or None.
        """
        if not self.config["evaluation"]["paper_scoring"]:
            return None
        return paper_texts(self.encoder.target(task), hypotheses, references)


def _changed(
    resolved: Mapping[str, Task], trained: Mapping[str, Mapping]
) -> list[str]:
    """The tasks whose labels are not those of the training."""
    return [
        name
        for name, task in resolved.items()
        if list(task.labels) != list(trained[name]["labels"])
    ]


def _labels_of(task: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of an entry that number labels as they are in a run."""
    fields = {"labels": list(task["labels"])}
    if task.get("scheme"):
        fields["train_scheme"] = task["scheme"]
    return fields


def paper_texts(
    target: TextEncoder, hypotheses: Sequence[str], references: Sequence[str]
) -> tuple[list[str], list[str]]:
    """What Dong et al. (2015) score: texts of words of the vocabulary only.

    Args:
        target: the target's texts.
        hypotheses, references: n of each.

    Returns:
        Both, with UNK for each word that the vocabulary lacks.
    """
    # "<unk>" is several words to scorers and to some of our tokenizers.
    unknown = translation_metrics.UNKNOWN
    plain = [text.replace(UNKNOWN, unknown) for text in hypotheses]
    return (
        restricted(target, plain, unknown),
        restricted(target, references, unknown),
    )


def _inputs(task: Task, split: str) -> list:
    """The texts of a split, or the tokens of its sentences."""
    if task.kind == TAGGING:
        return run_data.sentences(task, split)[0]
    return run_data.texts(task, split)


def score(
    predictor: Predictor,
    encoded: encoding.EncodedSplit,
    task: Mapping[str, Any],
    index: int,
    batch_size: int,
    gold: list[list[int]] | list[str] | None = None,
    texts: Sequence[str] = (),
    **extra: Any,
) -> evaluator.TaskPredictions:
    """The predictions for an encoded split with answers, ready to be scored.

    Args:
        predictor: of the trained model.
        encoded: the split.
        task: its task's name, kind, labels and metrics.
        index: the task's number.
        batch_size: examples at a time.
        gold: of a tagging task, the tags of its whole sentences, by default
            those of the tokens that the model reads; of a translation task
            the references.
        texts: of a translation task the sources; needed where unknown words
            are replaced.
        **extra: what else `TaskPredictions` has.
    """
    outputs = predictor.predict(encoded, index, batch_size, texts)
    if task["kind"] == TAGGING:
        column = encoded.columns["tags"]
        labels = gold or [column[n] for n in range(len(column))]
        extra["scheme"] = task.get("scheme", "")
    elif task["kind"] == TRANSLATION:
        labels = gold
        extra["bleu_tokenizer"] = task["bleu_tokenizer"]
    else:
        labels = encoded.columns["label"].values
    empty = not len(labels)
    return evaluator.TaskPredictions(
        name=task["name"],
        kind=task["kind"],
        class_names=tuple(task["labels"]),
        metrics=tuple(task["metrics"]),
        labels=labels,
        predictions=labels if empty else outputs["prediction"],
        losses=None if empty else outputs["loss"],
        scores=outputs.get("scores"),
        diagnostics={
            name.removeprefix(DIAGNOSTICS): values
            for name, values in outputs.items()
            if name.startswith(DIAGNOSTICS)
        },
        **extra,
    )


def load(run_directory: str, decoding: Mapping[str, Any] | None = None) -> Run:
    """Loads a run that `launch.train` made.

    Args:
        run_directory: its `--model_dir`.
        decoding: of a run that translates, fields of `Decoding` in place of
            those of its config.

    Raises:
        RunError: it is not the directory of a run with trained weights.
        ConfigError: a value of `decoding` is wrong, or the run does not
            translate.
    """
    directory = RunDirectory(run_directory)
    if not directory.has("config.json"):
        raise RunError(
            f"{run_directory} is not a run directory: it has no config.json"
        )
    config = directory.read("config.json")
    if config["train_separately"]:
        raise RunError(
            f"{run_directory} holds one run for each task: name one of "
            f"{directory.file('tasks')}/*"
        )
    if not directory.has(os.path.join("best", "best.json")):
        raise RunError(f"{run_directory} has no trained weights yet")
    tasks = directory.read("labels.json")["tasks"]
    encoder = run_data.load_encoder(directory.file("vocabulary"), config, tasks)
    model = build(config, encoder, tasks)
    translator = make_translator(model, encoder, config, **(decoding or {}))
    if decoding and not translator:
        raise ConfigError(
            f"{', '.join(sorted(decoding))}: only runs that translate have "
            f"such a setting, and {run_directory} does not"
        )
    boundaries = directory.read("data.json")["boundaries"]
    predictor = Predictor(model, boundaries, translator)
    run = Run(directory, config, tasks, encoder, predictor)
    run.weights_for(tasks[0]["name"])
    return run
