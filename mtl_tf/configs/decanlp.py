"""MQAN of McCann et al. 2018 for decaNLP: ten tasks as question answering.

Paper: McCann et al. 2018, "The Natural Language Decathlon: Multitask Learning
as Question Answering", table 2 and appendix C: its sizes (d 200, f 150, 3
heads, 2 self-attention layers), Adam (0.9, 0.98, 1e-9) with a rate that rises
to 2.5e-3 in 800 steps and then falls as 1/sqrt(k), gradients clipped at norm 1,
batches of at most 10,000 tokens, of which those of answers count five times,
in rounds over the tasks. The paper does not say how long it trained; where it
stops is decided by the validation scores.
Corpora: `decanlp`, from the files of their releases. Where some are not there,
name the others: --config.tasks="('decanlp/sst','decanlp/woz')".

It differs from the paper where no vectors are given. Of words
(--config.text.vectors, 300 dimensions): words that occur once in the training
texts then teach the vector of the unknown word, and the model to copy what it
does not know. Of character n-grams (--config.text.ngrams.vectors and
--config.text.ngrams.buckets=0, 100 dimensions): they are hashed and learnt.

Command: python -m launch.train --config=decanlp --model_dir=runs/decanlp
    --manual_dir=FOLDER
Time and score: not run on the whole corpora (docs/results).
The models of table 2: --config=decanlp:s2s, :s2s_self_attention, :coattention
and :mqan; with `single_` before the name a model for each task alone, which
has its share of the steps: as many batches of the task as a joint model. The
strategies of table 3: :curriculum, :anti_curriculum (SQuAD alone first),
:anti_curriculum_3 (SQuAD, IWSLT and CNN/DM), :anti_curriculum_4 (and MNLI).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

MODELS = ("s2s", "s2s_self_attention", "coattention", "mqan")
SINGLE = "single_"
#: The tasks of the first phase, of strategies that have one.
FIRST = {
    "curriculum": ("sst", "qa_srl", "qa_zre", "woz", "wikisql", "mwsc"),
    "anti_curriculum": ("squad",),
    "anti_curriculum_3": ("squad", "iwslt", "cnn_dailymail"),
    "anti_curriculum_4": ("squad", "iwslt", "cnn_dailymail", "multinli"),
}
# Of training.steps. The paper does not say how long its phases are.
_PHASE = 0.2


def get_config(row: str = "mqan") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        row: one of `MODELS`, maybe behind `SINGLE`, or of `FIRST`.
    """
    rows = [*MODELS, *(f"{SINGLE}{name}" for name in MODELS), *FIRST]
    checks.one_of("decanlp argument", row, rows)
    model = "mqan" if row in FIRST else row.removeprefix(SINGLE)
    config = base.paper_config()
    config.name = f"decanlp_{row}"
    config.train_separately = row.startswith(SINGLE)
    config.tasks = ("decanlp",)
    base.questions(config)
    config.text.max_length = 400
    # As the paper's code counts, and as our runs of nine tasks did.
    config.text.count_contexts_once = False
    config.pipeline.tokens_per_batch = 10_000
    rounds = {"name": "round_robin"}
    if row in FIRST:
        phase = {"tasks": FIRST[row], "fraction": _PHASE}
        rounds = {"name": "phases", "phases": (phase,), "mixing": rounds}
    config.pipeline.mixing = config_dict.ConfigDict(rounds)
    config.model.answering.name = model
    optimizer = config.training.optimizer
    optimizer.name = "adam"
    optimizer.learning_rate = 2.5e-3
    optimizer.options = config_dict.ConfigDict(
        {"beta_1": 0.9, "beta_2": 0.98, "epsilon": 1e-9}
    )
    optimizer.schedule = "inverse_sqrt"
    optimizer.warmup_steps = 800
    config.training.clip_norm = 1.0
    config.training.l2 = 0.0
    config.training.steps = 100_000
    config.training.evaluate_every = 2000
    config.training.share_steps = True
    config.evaluation.splits = ("validation", "test")
    return config
