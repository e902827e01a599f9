"""Starting point for your own data, for 200 to 100,000 examples per task.

Paper: none, and no table. Write a config file that starts from it and names
your tasks:

    from mtl_tf.configs import starter

    def get_config():
        config = starter.get_config()
        config.tasks = (MAILS, NAMES)
        return config

Translation tasks start from `get_config("translation")`, question answering
from `get_config("question_answering")`.

Labels, numbers and tags:

* Texts are split into words and single symbols (the tokenizer `regex`), since
  your texts are mostly raw. Between spaces, "parcel," would be another word
  than "parcel". Where words have no spaces between them, as in Chinese, each
  character is a token.
* All tasks share a bidirectional LSTM. It reads words, their characters and
  their casing. Above it, each task has a private one, so that tasks which
  learn at different speeds do not hold each other back.
* Heads of whole texts also read hashed n-grams of words and characters, shared
  and private ones (`model.wide`). They give the model what a linear model
  knows, which is hard to beat with few examples, and learn as a linear model
  does (`model.wide.idf`, NovoGrad). For some texts, heads read one of the two
  alone, so that neither leaves the other nothing to learn. The validation
  examples choose for each task how much of the LSTM its head reads as well.
* The weights of the tasks' losses are learned (uncertainty). Otherwise, large
  losses would change the shared weights most.
* Training uses dropout, gradient clipping, Adam and a moving average of the
  weights, since the validation scores of few examples are noisy. Validation
  scores decide when it stops (patience).

Translation: the encoder and the decoders of Dong et al. (2015) in the sizes of
`multi30k`, on subwords learnt from the training texts, with a moving average of
the weights, and patience instead of a fixed schedule.

Question answering: the MQAN of McCann et al. (2018), with the batch size and
learning rate of `decanlp_parts`, for a small machine, and patience.

Command: python -m launch.train --config=starter --model_dir=runs/starter
    or --config=starter:translation --config.tasks="('multi30k',)"
    --manual_dir=FOLDER

Time and score: on the four sample tasks (seed 0) mean accuracy 91.4 after
15 min on 2 cores of an AMD EPYC beside other jobs; the linear baseline has
82.8.
docs/results/own_configs.md has more.
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks


def get_config(kind: str = "texts") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        kind: "texts" for all types of tasks that give texts, pairs or tokens
            labels or numbers, "translation", or "question_answering".
    """
    checks.one_of("starter argument", kind, KINDS)
    config = base.default_config()
    config.name = "starter"
    KINDS[kind](config)
    return config


def _texts(config: config_dict.ConfigDict) -> None:
    config.tasks = ("sample_reviews",)
    config.text.tokenizer.name = "regex"
    config.model.scheme = config_dict.ConfigDict(
        {
            "name": "ssp",
            "units": 100,
            "private_input": "shared",
            **base.recurrent(bidirectional=True),
            "pooling": "max",
        }
    )
    base.spelling(config, filters=50)
    config.model.wide.buckets = 1 << 17
    config.model.wide.character_ngrams = 5
    config.model.wide.join_characters = True
    config.model.wide.dimension = 0  # As the labels need it.
    # As a linear model does; with Adam, rare n-grams move too far.
    config.model.wide.idf = True
    config.training.optimizer.wide_name = "novograd"
    # Else few texts of many labels, which the LSTM soon knows by heart, teach
    # the n-grams nothing any more, and quick n-grams the LSTM.
    config.model.wide.alone = 0.2
    config.model.wide.encoder_alone = 0.3
    config.training.average = 0.99
    # Adam goes as far for a loss of 2 as for one of 0.1: of the weights that
    # tasks share, those with the greater losses would move most.
    config.training.loss_weighting = "uncertainty"
    config.training.optimizer.lazy = True


def _translation(config: config_dict.ConfigDict) -> None:
    config.tasks = config_dict.placeholder(tuple)  # The user names them.
    config.text.tokenizer = config_dict.ConfigDict(
        {"name": "sentencepiece", "lowercase": False}
    )
    config.text.max_size = 4000
    config.text.max_length = config.text.target_max_length = 100
    config.pipeline.batch_size = 32
    config.pipeline.mixing = config_dict.ConfigDict({"name": "proportional"})
    dropout = config.model.translation.dropout
    dropout.embedding = dropout.encoding = 0.2
    dropout.readout = 0.3
    config.model.translation.label_smoothing = 0.1
    config.training.average = 0.99
    config.evaluation.decoding.beam = 4


def _question_answering(config: config_dict.ConfigDict) -> None:
    config.tasks = config_dict.placeholder(tuple)
    base.questions(config)
    config.text.tokenizer.split_unspaced = True
    config.pipeline.tokens_per_batch = 2000
    config.pipeline.static_shapes = config.training.jit = False
    config.training.average = 0.99
    config.training.optimizer.learning_rate = 5e-4
    config.training.optimizer.warmup_steps = 100


KINDS = {
    "texts": _texts,
    "translation": _translation,
    "question_answering": _question_answering,
}
