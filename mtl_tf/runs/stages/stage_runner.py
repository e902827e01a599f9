"""Runs the stages of a run: joint training, then fine-tuning."""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from absl import logging

from mtl_tf.core.errors import ConfigError
from mtl_tf.evaluation import evaluator
from mtl_tf.layers.recurrent import recurrence
from mtl_tf.models.protocol import TaskModel
from mtl_tf.pipelines.schedule.buckets import of_task
from mtl_tf.pipelines.served import served_batches
from mtl_tf.pipelines.served.served_batches import DataService
from mtl_tf.prediction.inference import Predictor, compile_in_training
from mtl_tf.prediction.scored_split import score
from mtl_tf.runs import fitting, systems
from mtl_tf.runs.data.run_data import RunData
from mtl_tf.runs.directory import run_weights
from mtl_tf.runs.directory.run_directory import SERVED, RunDirectory
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.runs.stages import stage_gradients
from mtl_tf.runs.stages.recording import Recorder
from mtl_tf.runs.stages.stage_batches import StageBatches
from mtl_tf.runs.stages.stage_plan import Stage
from mtl_tf.training import precision
from mtl_tf.training.callbacks import Callback
from mtl_tf.training.checkpoints.checkpoints import Checkpoints
from mtl_tf.training.checkpoints.saved_weights import BestWeights
from mtl_tf.training.distribution.workers import Workers
from mtl_tf.training.loop import Loop, LoopOptions
from mtl_tf.training.optimizers import freezing
from mtl_tf.training.optimizers.stage_optimizer import stage_optimizer
from mtl_tf.training.trainer import Trainer, choose_shards


class StageRunner:
    """Runs the stages of a run on one model.

    Args:
        config: the resolved config.
        run: the run directory.
        data: the run's data.
        model: the model, built within the strategy's scope.
        strategy: the distribution strategy of the training.
        callbacks: called during training; see `Callback`.
        service: makes the batches; None if this process does.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        run: RunDirectory,
        data: RunData,
        model: TaskModel,
        strategy: tf.distribute.Strategy,
        callbacks: Sequence[Callback] = (),
        service: DataService | None = None,
    ):
        self.service = service
        self.config, self.run, self.data = config, run, data
        self.model, self.strategy = model, strategy
        self.workers = Workers(strategy)
        self.recorder = Recorder(run, config, data.tasks, callbacks)
        self.task_dicts = [task.to_json() for task in data.tasks]
        self.system = systems.of_type(data.tasks[0].type)
        self.predictor = Predictor(
            model,
            [task.type for task in data.tasks],
            [of_task(data.boundaries, task.name) for task in data.tasks],
            data.axes,
            self._decoder(**self.system.quick_decoding()),
            compile_in_training(config),
        )

    def _decoder(self, **changes: Any) -> Any:
        return self.system.make_decoder(
            self.model, self.data.encoder, self.config, **changes
        )

    def execute(self, stage: Stage) -> Checkpoints:
        """Trains a stage to its end, from its current step."""
        batches = StageBatches(
            self.config,
            self.data,
            self.model,
            stage,
            self.strategy.num_replicas_in_sync,
        )
        options = self._options(stage, batches.steps_per_epoch)
        self.workers.chief_first(lambda: self._note(stage, batches, options))
        with self.strategy.scope():
            checkpoints, trainer = self._build(stage, options)
        start = self._restore(stage, checkpoints)
        if start:
            logging.info("Continuing %s from step %d.", stage.name, start)
        elif stage.folder:
            self._begin_from_joint(stage, checkpoints)
        if self.workers.is_chief:
            self.recorder.begin(stage, start, options.total_steps)
        loop = Loop(
            trainer,
            checkpoints,
            batches.dataset(options.total_steps, self.service),
            lambda: self._evaluate_and_keep(stage, checkpoints),
            lambda entry: self.recorder.evaluation(
                stage, float(trainer.optimizer.learning_rate), entry
            ),
            options,
            [task.name for task in self.data.tasks],
            batches.next_key,
            self.recorder.step,
        )
        jit = self.config["training"]["jit"] and None
        with self._served(batches), recurrence.options(jit=jit):
            loop.run(start)
        return checkpoints

    @contextlib.contextmanager
    def _served(self, batches: StageBatches) -> Iterator[None]:
        """Within the block, the service, if there is one, makes batches.

        Then its files go, and those of a service that the run began with.
        """
        service = self.service
        if service is None:
            yield
        else:
            self.workers.by_chief(lambda: service.prepare(batches.plans))
            with service.failures_reported():
                yield
        if self.workers.is_chief:
            served_batches.clear(self.run.file(SERVED))

    def _restore(self, stage: Stage, checkpoints: Checkpoints) -> int:
        """Restores the last state; returns its step, equal on all workers."""
        chief = self.workers.is_chief
        start = self.workers.chief_first(
            lambda: checkpoints.restore(only_read=not chief)
        )
        self.workers.check_same("the step of the last checkpoint", start)
        if chief:
            self.run.cut_metrics(stage.name, start)
        return start

    def trained(self) -> Run:
        """The run with the model in memory, after all stages.

        `run.load` would make a new model, which would be traced and compiled
        again. This one already is, for the validation splits.
        """
        predictor = copy.copy(self.predictor)
        predictor.decoder = self._decoder()
        run = Run(
            self.run, self.config, self.task_dicts, self.data.encoder, predictor
        )
        calibrate = self.config["evaluation"]["calibrate"]
        fitting.keep(run, fitting.fit(run, self.data.validation, calibrate))
        return run

    def _note(
        self, stage: Stage, batches: StageBatches, options: LoopOptions
    ) -> None:
        """Logs the plan; refuses to resume with another one."""
        shapes = "of few shapes" if batches.static_shapes else "of all shapes"
        logging.info(
            "%s: %d steps an epoch, %d at most, batches %s, %.1f %% of their "
            "tokens are padding.",
            stage.name,
            options.steps_per_epoch,
            options.total_steps,
            shapes,
            100 * batches.padding_share(),
        )
        if not stage.folder:
            noun = "the plan of the batches (they depend on --strategy)"
            self.run.check_or_write("batches.json", batches.facts(), noun)

    def _options(self, stage: Stage, whole_pass: int) -> LoopOptions:
        training = self.config["training"]
        epoch = stage.steps_per_epoch or whole_pass
        return LoopOptions(
            total_steps=stage.total_steps(epoch),
            evaluate_every=training["evaluate_every"] or epoch,
            steps_per_epoch=epoch,
            patience=training["patience"],
            steps_per_call=training["steps_per_call"],
            checkpoint_seconds=training["checkpoint_seconds"],
            average_last=training["average_last"],
            # Fine-tuning is short, and its length is given in epochs.
            max_seconds=0 if stage.folder else 3600 * training["max_hours"],
        )

    def _build(
        self, stage: Stage, options: LoopOptions
    ) -> tuple[Checkpoints, Trainer]:
        variables = self._variables(stage)
        # Without shared variables there is nothing to balance.
        shared = stage_gradients.shared(self.model, stage, variables)
        weighting = stage_gradients.weighting_of(
            self.config, self.data.tasks, bool(shared)
        )
        extra = weighting.trainable_variables
        optimizer = stage_optimizer(
            self.config["training"],
            stage.learning_rate,
            options.total_steps,
            variables,
            self.model.embedding_variables(),
            extra,
            precision.policy(self.config),
            self.model.private_variables(),
            len(self.data.tasks),
            bool(self.config["text"]["vectors"]),
        )
        tasks = len(self.data.tasks)
        checkpoints = Checkpoints(
            self.run.file(stage.folder) if stage.folder else self.run.path,
            self.model,
            optimizer,
            weighting,
            tasks,
            stage.per_task,
        )
        trainer = Trainer(
            self.model,
            optimizer,
            weighting,
            [*variables, *extra],
            self.strategy,
            tasks,
            self.config["seed"],
            stage_gradients.grouped(
                self.config, self.model, weighting, variables, shared
            ),
            shards=choose_shards(self.model, self.strategy),
            accumulate=stage_gradients.accumulated(
                self.config, self.model, self.strategy.num_replicas_in_sync
            ),
        )
        return checkpoints, trainer

    def _variables(self, stage: Stage) -> list[keras.Variable]:
        """The variables that the stage trains."""
        patterns = self.config["training"]["freeze"]
        frozen = {id(v) for v in freezing.frozen(self.model, patterns)}
        variables = [
            v for v in self.model.trainable_variables if id(v) not in frozen
        ]
        if stage.private_only:
            private = {id(v) for v in self.model.private_variables()}
            variables = [v for v in variables if id(v) in private]
        if not variables:
            raise ConfigError(
                f"training.freeze {list(patterns)} leaves the stage "
                f"{stage.name} nothing to train"
            )
        return variables

    def _begin_from_joint(self, stage: Stage, checkpoints: Checkpoints) -> None:
        """Starts fine-tuning from the best joint weights, its first best."""
        BestWeights(self.run.file("best"), self.model).load()

        def save() -> float:
            mean = self._evaluate(stage)["mean"]
            checkpoints.best.save(0, mean)
            return mean

        mean = self.workers.share(self.workers.by_chief(save) or 0.0)
        checkpoints.best_score.assign(mean)
        checkpoints.best_step.assign(0)

    def _evaluate_and_keep(
        self, stage: Stage, checkpoints: Checkpoints
    ) -> dict[str, Any]:
        """Scores, and keeps the weights for tasks that are at their best."""
        results = self._results(stage)
        scores = self._brief(stage, results)
        if not stage.per_task:
            return scores
        best = np.array(checkpoints.best_of_tasks.numpy())
        reached = {
            number: self._mean(results, [number]) for number in stage.tasks
        }
        better = [n for n, score in reached.items() if score > best[n]]
        for number in better:
            best[number] = reached[number]
            name = self.data.tasks[number].name
            folder = self.run.file(run_weights.folder_of_task(name))
            weights = BestWeights(folder, self.model)
            # A model with NaN weights can score well by chance.
            checkpoints.check_finite()
            weights.save(int(checkpoints.step.numpy()), reached[number])
        checkpoints.best_of_tasks.assign(best)
        return scores | {"improved": bool(set(better) & set(stage.main))}

    def _evaluate(self, stage: Stage) -> dict[str, Any]:
        return self._brief(stage, self._results(stage))

    def _brief(self, stage: Stage, results: dict[str, Any]) -> dict[str, Any]:
        """The entry of `metrics.jsonl`; its mean is that of the main tasks."""
        mean = self._mean(results, stage.main)
        return evaluator.brief(results) | {"mean": mean}

    def _mean(self, results: dict[str, Any], numbers: Iterable[int]) -> float:
        names = [self.data.tasks[number].name for number in numbers]
        scores = {name: results["tasks"][name] for name in names}
        return evaluator.mean(scores)["overall"]

    def _results(self, stage: Stage) -> dict[str, Any]:
        scores = [
            score(
                self.predictor,
                self.data.validation[number],
                self.task_dicts[number],
                number,
                self.config["evaluation"]["batch_size"],
                self.data.targets[number],
                self.data.inputs[number],
                fit=True,
            )
            for number in stage.tasks
        ]
        return evaluator.evaluate(scores, "validation")
