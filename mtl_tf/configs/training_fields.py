"""Config fields of the training."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Fields, Group

TRAINING: Fields = {
    "training": Group("How the model is trained."),
    "training.epochs": Field(
        60,
        rules.POSITIVE_INTEGER,
        "Epochs of the joint training, at most.",
        before=10,
        since=4,
    ),
    "training.steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "If not 0, where to stop, in place of epochs.",
    ),
    "training.min_steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "How many steps the joint training has at least, of all tasks "
        "together, where few texts make short epochs, if patience does not "
        "stop it before; 0 for as many as its epochs have.",
    ),
    "training.steps_per_epoch": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "What counts as an epoch of the joint training; 0 for a pass over the "
        "data.",
    ),
    "training.share_steps": Field(
        False,
        rules.BOOLEAN,
        "With train_separately, whether the tasks share training.steps, "
        "min_steps and evaluate_every evenly, so that a task's own model sees "
        "as much of it as a joint one in rounds; else each has all of them.",
    ),
    "training.evaluate_every": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps between evaluations; 0 for once an epoch.",
    ),
    "training.patience": Field(
        10,
        rules.NOT_NEGATIVE_INTEGER,
        "Evaluations without a better score before training stops; 0 never "
        "stops it early.",
        before=0,
        since=4,
    ),
    "training.max_hours": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "If not 0, after how many hours the joint training ends with an "
        "evaluation, all processes together that have continued it. How far "
        "it comes depends on the machine; schedules are those of epochs or "
        "steps.",
    ),
    "training.average": Field(
        0.0,
        rules.FRACTION,
        "Decay of an exponential moving average of the weights over the steps, "
        "such as 0.999, less in the first steps: the averages are scored and "
        "kept in place of the weights themselves. 0 for none.",
    ),
    "training.average_last": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Of how many evaluations, the last ones, the weights are averaged: the "
        "averages are scored and kept in place of the weights themselves. 0 "
        "for none; not together with training.average.",
    ),
    "training.l2": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "Factor of the L2 penalty on weights.",
        before=1e-5,
        since=4,
    ),
    "training.l2_embeddings": Field(
        False,
        rules.BOOLEAN,
        "Whether word vectors have the penalty, too.",
        needs=("training.l2",),
    ),
    "training.clip_norm": Field(
        1.0,
        rules.NOT_NEGATIVE,
        "Greatest norm of the whole gradient; 0 does not clip.",
        before=0.0,
        since=4,
    ),
    "training.accumulate_steps": Field(
        1,
        rules.POSITIVE_INTEGER,
        "How many batches' gradients one update sums, as of one batch so many "
        "times as large as pipeline says, in the memory of one. A step is an "
        "update. A penalty of model.scheme itself (asp) is the mean of the "
        "batches'.",
    ),
    "training.loss_weighting": Field(
        "static",
        rules.NAME,
        "How the tasks' losses are weighted: static; uncertainty; dwa, with "
        "the options of training.dwa; gradnorm, with the options of "
        "training.gradnorm, in joint steps; or the place of your own class.",
    ),
    "training.loss_weighting_options": Group(
        "Options of a loss weighting that is your own class.", open=True
    ),
    "training.gradient_surgery": Field(
        "none",
        rules.one_of("none", "pcgrad"),
        "none, or pcgrad in joint steps.",
    ),
    "training.initialize_from": Field(
        "",
        rules.TEXT,
        'A run directory whose best weights a new run starts from; "" for '
        "none. Weights are matched by path, word vectors by word and stacked "
        "ones by the tasks' names.",
    ),
    "training.initialize_only": Field(
        (),
        rules.NAMES,
        "Which weights of it are taken, named as in training.freeze; () for "
        "all that fit.",
    ),
    "training.freeze": Field(
        (),
        rules.NAMES,
        "What is not trained: shared, private, embedding, scheme, heads, or "
        "patterns of weights' paths such as scheme/*/meta_*.",
    ),
    "training.mixed_precision": Field(
        "float32",
        rules.one_of("float32", "mixed_bfloat16", "mixed_float16"),
        "float32, mixed_bfloat16 or mixed_float16: what the layers of a "
        "Transformer compute in, on float32 weights. mixed_float16 scales the "
        "loss, on one replica.",
    ),
    "training.jit": Field(
        True,
        rules.BOOLEAN,
        "Compile recurrences, and activations of a pretrained encoder, with "
        "XLA: slower to start, faster from then on.",
    ),
    "training.steps_per_call": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps of one call of the compiled function; 0 chooses by itself. It "
        "does not change the result.",
    ),
    "training.checkpoint_seconds": Field(
        60.0,
        rules.POSITIVE,
        "Time between checkpoints within an evaluation period. It does not "
        "change the result.",
    ),
    "training.optimizer": Group("What changes the weights."),
    "training.optimizer.name": Field(
        "adam",
        rules.NAME,
        "Which optimizer: sgd, adagrad, adam, adamw, adadelta, or "
        "FILE.py:CLASS of one's own, or keras.optimizers:CLASS "
        "(docs/own_code.md). Another one on the command line drops the "
        "options of the config's.",
        before="adagrad",
        since=4,
    ),
    "training.optimizer.learning_rate": Field(
        2e-3,
        rules.POSITIVE,
        "The learning rate, before its schedule.",
        before=0.1,
        since=4,
    ),
    "training.optimizer.embedding_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "That of word vectors; 0 for the same as the other parameters.",
    ),
    "training.optimizer.pretrained_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "That of word vectors which start from text.vectors: fine-tuned as "
        "fast as the rest learns, they fit few texts by heart. 0 for "
        "embedding_learning_rate.",
    ),
    "training.optimizer.wide_learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "That of the n-grams' vectors of model.wide, most of which a training "
        "reads a few times only: often more than the rest has. 0 for "
        "embedding_learning_rate.",
        needs=("model.wide.buckets",),
    ),
    "training.optimizer.schedule": Field(
        "constant",
        rules.NAME,
        "How the learning rate goes on after the warm-up: constant, linear, "
        "cosine, inverse_sqrt, or FILE.py:FUNCTION of one's own "
        "(docs/own_code.md).",
    ),
    "training.optimizer.warmup_steps": Field(
        0,
        rules.NOT_NEGATIVE_INTEGER,
        "Steps in which the learning rate comes from 0 to its value; 0 for "
        "warmup_ratio.",
    ),
    "training.optimizer.warmup_ratio": Field(
        0.0,
        rules.FRACTION,
        "The same as a share of a stage's steps, such as 0.1; 0 for none.",
    ),
    "training.optimizer.lazy": Field(
        False,
        rules.BOOLEAN,
        "Change only the word vectors of words that a step has read, each "
        "with moments and a step count of its own.",
    ),
    "training.optimizer.options": Group(
        "Options of the named optimizer itself, such as beta_1.", open=True
    ),
    "training.dwa": Group(
        "Options of the loss weighting dwa.",
        needs=("training.loss_weighting=dwa",),
    ),
    "training.dwa.temperature": Field(
        2.0,
        rules.POSITIVE,
        "The higher it is, the more alike the tasks' weights are.",
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
        "Learning rate of the tasks' weights.",
    ),
    "training.teachers": Field(
        (),
        rules.NAMES,
        "Whose probabilities of the training texts' labels are learnt beside "
        "the labels: run directories, folders of seeds, files that "
        "launch.ensemble --output wrote, or folders of its "
        "--save_probabilities or of another run's `teachers`; () for none.",
    ),
    "training.distillation": Group(
        "How the model learns from its teachers.",
        needs=("training.teachers",),
    ),
    "training.distillation.temperature": Field(
        2.0,
        rules.POSITIVE,
        "What logits are divided by where teacher and model are compared: the "
        "higher, the more the improbable labels count.",
    ),
    "training.distillation.hard_weight": Field(
        0.5,
        rules.SHARE,
        "Share of the loss on the labels themselves in that of a labelled "
        "example; the rest is the loss on the teachers' probabilities.",
    ),
    "training.distillation.unlabelled": Field(
        "",
        rules.TEXT,
        "Name of a split of texts without labels, such as unlabelled, that is "
        "trained on with the teachers' probabilities, of tasks that have it; "
        '"" for none.',
    ),
    "training.distillation.confidence": Field(
        0.0,
        rules.FRACTION,
        "How probable the teachers' answer to an unlabelled text has to be at "
        "least for the text to be trained on.",
    ),
    "training.fine_tune": Group(
        "Training per task after the joint one.",
        needs=("training.fine_tune.epochs",),
    ),
    "training.fine_tune.epochs": Field(
        0, rules.NOT_NEGATIVE_INTEGER, "Epochs for each task; 0 for none."
    ),
    "training.fine_tune.scope": Field(
        "private",
        rules.one_of("private", "all"),
        "private (only the tasks' own parameters: one model remains) or all "
        "(a copy of the model for each task).",
    ),
    "training.fine_tune.learning_rate": Field(
        0.0,
        rules.NOT_NEGATIVE,
        "0 for that of the joint training.",
    ),
}
