"""Config fields of the training."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Fields, Group

TRAINING: Fields = {
    "training": Group("How the model is trained."),
    "training.epochs": Field(
        60,
        rules.POSITIVE_INTEGER,
        "Maximum number of epochs of the joint training.",
        before=10,
        since=4,
        unless=("training.steps",),
    ),
    "training.steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "If not 0, the number of steps of the joint training, instead of "
        "epochs.",
    ),
    "training.min_steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Minimum number of steps of the joint training, over all tasks, for "
        "few texts with short epochs. patience can still stop it earlier. 0 "
        "for the steps of the epochs.",
        unless=("training.steps",),
    ),
    "training.steps_per_epoch": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of steps that count as an epoch of the joint training; 0 for "
        "a pass over the data.",
    ),
    "training.share_steps": Field(
        False,
        rules.BOOLEAN,
        "With train_separately, whether the tasks share training.steps, "
        "min_steps, steps_per_epoch and evaluate_every evenly. The model of a "
        "single task then sees as much of the task as a joint model that takes "
        "the tasks in rounds. If False, each task has all of them.",
        needs=("train_separately",),
    ),
    "training.evaluate_every": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps between evaluations; 0 for one evaluation per epoch.",
    ),
    "training.patience": Field(
        10,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of evaluations without a better score after which training "
        "stops; 0 never stops it early.",
        before=0,
        since=4,
    ),
    "training.main_tasks": Field(
        (),
        rules.NAMES,
        "Tasks whose mean validation score chooses the weights and ends "
        "training (patience); () for all. The other tasks are auxiliary: they "
        "are trained and scored, but choose nothing.",
    ),
    "training.best_per_task": Field(
        False,
        rules.BOOLEAN,
        "Whether each task is scored and served with the weights of its own "
        "best validation score, as tasks are that are trained separately, and "
        "not with those of the best mean. The run then has as many copies of "
        "the model. It ends after training.patience evaluations in which no "
        "main task has a better score. Not together with training.fine_tune.",
    ),
    "training.max_hours": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "If not 0, the hours after which the joint training ends with an "
        "evaluation, summed over all processes that continued it. The number "
        "of steps then depends on the machine. Schedules follow the epochs or "
        "steps.",
    ),
    "training.average": Field(
        0.0,
        rules.FRACTION,
        "Decay of an exponential moving average of the weights over the "
        "steps, such as 0.999, with a smaller decay in the first steps. The "
        "averages are scored and stored instead of the weights. 0 for none.",
    ),
    "training.average_last": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Number of last evaluations over which the weights are averaged. The "
        "averages are scored and stored instead of the weights. 0 for none. "
        "Not together with training.average.",
    ),
    "training.l2": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Factor of the L2 penalty on the weights.",
        before=1e-5,
        since=4,
    ),
    "training.l2_embeddings": Field(
        False,
        rules.BOOLEAN,
        "Whether the L2 penalty includes the word vectors.",
        needs=("training.l2",),
    ),
    "training.clip_norm": Field(
        1.0,
        rules.NOT_NEGATIVE,
        "Maximum norm of the whole gradient; 0 does not clip.",
        before=0.0,
        since=4,
    ),
    "training.accumulate_steps": Field(
        1,
        rules.POSITIVE_INTEGER,
        "Number of batches whose gradients are summed for one update. The "
        "update is that of a batch this many times as large, in the memory of "
        "one batch. A step is an update. A penalty of model.scheme itself "
        "(asp) is the mean over the batches.",
    ),
    "training.loss_weighting": Field(
        "static",
        rules.NAME,
        "How the losses of the tasks are weighted: static, uncertainty, dwa "
        "(options training.dwa), gradnorm (options training.gradnorm, needs "
        "joint steps), or FILE.py:CLASS of your own (docs/own_code.md).",
    ),
    "training.loss_weights": Group(
        "Factor of the loss, by task, such as 0.5; 1 for the others. It "
        "multiplies the loss_weight of the task's entry, and goes with every "
        "training.loss_weighting. Models of single tasks (train_separately) "
        "ignore it.",
        open=True,
    ),
    "training.loss_weighting_options": Group(
        "Options of a loss weighting that is your own class.", open=True
    ),
    "training.gradient_surgery": Field(
        "none",
        rules.one_of("none", "pcgrad"),
        "none or pcgrad. pcgrad needs joint steps.",
    ),
    "training.initialize_from": Field(
        "",
        rules.TEXT,
        'Run directory whose best weights a new run starts from; "" for none. '
        "Weights are matched by path, word vectors by word, and stacked "
        "weights by the names of the tasks.",
    ),
    "training.initialize_only": Field(
        (),
        rules.NAMES,
        "Which weights are initialised from initialize_from, with names as in "
        "training.freeze; () for all that fit.",
        needs=("training.initialize_from",),
    ),
    "training.freeze": Field(
        (),
        rules.NAMES,
        "Weights that are not trained: shared, private, embedding, scheme, "
        "heads, or patterns of weight paths such as scheme/*/meta_*.",
    ),
    "training.mixed_precision": Field(
        "float32",
        rules.one_of("float32", "mixed_bfloat16", "mixed_float16"),
        "Precision in which the layers of any model compute. Weights, states "
        "of recurrent layers and losses are float32. mixed_float16 scales the "
        "loss and needs one replica.",
    ),
    "training.jit": Field(
        True,
        rules.BOOLEAN,
        "Whether to compile recurrences, and activations of a pretrained "
        "encoder, with XLA. The start is slower, everything after it faster.",
    ),
    "training.steps_per_call": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps in one call of the compiled function; 0 chooses automatically. "
        "It does not change the result.",
    ),
    "training.checkpoint_seconds": Field(
        60.0,
        rules.POSITIVE,
        "Seconds between checkpoints within an evaluation period. It does not "
        "change the result.",
    ),
    "training.optimizer": Group("The optimizer."),
    "training.optimizer.name": Field(
        "adam",
        rules.NAME,
        "Name of the optimizer: sgd, adagrad, adam, adamw, adadelta, "
        "FILE.py:CLASS of your own, or keras.optimizers:CLASS "
        "(docs/own_code.md). If the command line names another optimizer, the "
        "config's options of the old one are dropped.",
        before="adagrad",
        since=4,
    ),
    "training.optimizer.learning_rate": Field(
        2e-3,
        rules.POSITIVE,
        "The learning rate, before the schedule changes it.",
        before=0.1,
        since=4,
    ),
    "training.optimizer.embedding_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Learning rate of word vectors; 0 for learning_rate.",
    ),
    "training.optimizer.pretrained_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Learning rate of word vectors that start from text.vectors. If they "
        "learn as fast as the rest, they memorise small data. 0 for "
        "embedding_learning_rate.",
        needs=("text.vectors",),
    ),
    "training.optimizer.wide_name": Field(
        "",
        rules.one_of("", "novograd"),
        "Optimizer of the vectors of n-grams of model.wide: novograd "
        "(Ginsburg et al. 2019, without momentum), which moves vectors as far "
        "as their gradients say, like a linear model's; empty for the same as "
        "for the other weights.",
        needs=("model.wide.buckets",),
    ),
    "training.optimizer.wide_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Learning rate of the vectors of n-grams of model.wide. Training "
        "reads most of them only a few times, so it is often higher than the "
        "others. 0 for embedding_learning_rate, with novograd for 3.",
        needs=("model.wide.buckets",),
    ),
    "training.optimizer.schedule": Field(
        "constant",
        rules.NAME,
        "Learning rate schedule after the warm-up: constant, linear, cosine, "
        "inverse_sqrt, or FILE.py:FUNCTION of your own (docs/own_code.md).",
    ),
    "training.optimizer.warmup_steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps of the warm-up, in which the learning rate rises from 0 to its "
        "value; 0 for warmup_ratio.",
    ),
    "training.optimizer.warmup_ratio": Field(
        0.0,
        rules.FRACTION,
        "Warm-up as a share of the steps of a stage, such as 0.1; 0 for none.",
        unless=("training.optimizer.warmup_steps",),
    ),
    "training.optimizer.lazy": Field(
        False,
        rules.BOOLEAN,
        "Whether a step changes only the vectors of the words that it read. "
        "Each vector then has its own moments and step count.",
    ),
    "training.optimizer.options": Group(
        "Options of the optimizer itself, such as beta_1.", open=True
    ),
    "training.dwa": Group(
        "Options of the loss weighting dwa.",
        needs=("training.loss_weighting=dwa",),
    ),
    "training.dwa.temperature": Field(
        2.0,
        rules.POSITIVE,
        "Temperature: the higher it is, the more alike the task weights are.",
    ),
    "training.gradnorm": Group(
        "Options of the loss weighting gradnorm.",
        needs=("training.loss_weighting=gradnorm",),
    ),
    "training.gradnorm.alpha": Field(
        1.5,
        rules.NOT_NEGATIVE,
        "How strongly tasks that learn slowly are favoured.",
    ),
    "training.gradnorm.learning_rate": Field(
        0.025,
        rules.POSITIVE,
        "Learning rate of the task weights.",
    ),
    "training.teachers": Field(
        (),
        rules.NAMES,
        "Teachers, whose label probabilities of the training texts are learnt "
        "in addition to the labels: run directories, folders of seeds, files "
        "of launch.ensemble --output, folders of its --save_probabilities, or "
        "folders `teachers` of other runs; () for none.",
    ),
    "training.distillation": Group(
        "How the model learns from its teachers.",
        needs=("training.teachers",),
    ),
    "training.distillation.temperature": Field(
        2.0,
        rules.POSITIVE,
        "Temperature that divides the logits of teacher and model before they "
        "are compared. The higher it is, the more the improbable labels count.",
    ),
    "training.distillation.hard_weight": Field(
        0.5,
        rules.SHARE,
        "Share of the loss on the labels in the loss of a labelled example. "
        "The rest is the loss on the probabilities of the teachers.",
    ),
    "training.distillation.unlabelled": Field(
        "",
        rules.TEXT,
        "Name of a split of unlabelled texts, such as unlabelled. Tasks that "
        "have this split are also trained on it, with the probabilities of "
        'the teachers. "" for none.',
    ),
    "training.distillation.confidence": Field(
        0.0,
        rules.FRACTION,
        "Minimum probability of the teachers' answer to an unlabelled text. "
        "Texts with a lower probability are not trained on.",
    ),
    "training.fine_tune": Group(
        "Fine-tuning of each task after the joint training.",
        needs=("training.fine_tune.epochs",),
    ),
    "training.fine_tune.epochs": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Epochs of each task; 0 for no fine-tuning.",
    ),
    "training.fine_tune.scope": Field(
        "private",
        rules.one_of("private", "all"),
        "private: only the private weights of the task, so one model remains. "
        "all: a copy of the model for each task.",
    ),
    "training.fine_tune.learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Learning rate of the fine-tuning; 0 for that of the joint training.",
    ),
}
