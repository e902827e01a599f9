"""MQAN for nine tasks of decaNLP on parts of their data, for a CPU.

Paper: McCann et al. 2018, "The Natural Language Decathlon: Multitask Learning
as Question Answering", table 2, but not its data, batches or schedule: SQuAD's
training articles, MultiNLI's and WikiSQL's development files and QA-SRL Bank's
development sentences divided into 80, 10 and 10 %, so that no release is
needed as a whole; Multi30k in place of IWSLT; no QA-ZRE. Batches of at most
2,000 tokens, for which the paper's rate is too high, and tasks drawn by
weights: WOZ learns slowest, and small tasks are soon known by heart.

Command: python -m launch.train --config=decanlp_parts:mqan
    --model_dir=runs/decanlp_parts --manual_dir=FOLDER

Time and score: `mqan` has a mean of 31.9 on the test sets (WOZ 74.5, SST 80.4)
after 1 h 59 min on one core of a shared EPYC
(docs/results/decanlp_mccann2018.md).
The models of table 2: :s2s, :s2s_self_attention, :coattention and :mqan.
"""

from typing import Any

from ml_collections import config_dict

from mtl_tf.configs import decanlp
from mtl_tf.core import checks


def get_config(row: str = "mqan") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        row: one of `decanlp.MODELS`.
    """
    checks.one_of("decanlp_parts argument", row, decanlp.MODELS)
    config = decanlp.get_config(row)
    config.name = f"decanlp_parts_{row}"
    squad = _divided("squad", "squad", "train", "nf1", "nem")
    config.tasks = (
        squad | {"long_contexts": "left_out"},
        "decanlp_multi30k/en-de",
        "decanlp/cnn_dailymail",
        _divided("multinli", "decanlp_multi_nli", "validation_matched", "em"),
        "decanlp/sst",
        _divided("qa_srl", "qa_srl/bank2", "validation", "nf1"),
        "decanlp/woz",
        _divided("wikisql", "wikisql", "validation", "lfem"),
        "decanlp/mwsc",
    )
    weights = {
        "woz": 3.2,
        "sst": 2.2,
        "squad": 0.7,
        "en-de": 0.7,
        "wikisql": 0.7,
        "multinli": 0.3,
        "cnn_dailymail": 0.3,
        "mwsc": 0.3,
    }
    config.pipeline.mixing = config_dict.ConfigDict(
        {"name": "weighted", "weights": weights}
    )
    config.pipeline.tokens_per_batch = 2000
    # Where tasks differ this much in length, there is far less padding
    # without fixed shapes, and nothing has to be compiled.
    config.pipeline.static_shapes = False
    config.training.jit = False
    config.training.optimizer.learning_rate = 5e-4
    config.training.optimizer.warmup_steps = 100
    config.training.optimizer.schedule = "linear"
    config.training.steps = 12_500
    config.training.evaluate_every = 6250
    return config


def _divided(
    name: str, dataset: str, split: str, *metrics: str
) -> dict[str, Any]:
    """A task of one split, of which two tenths are held out."""
    return {
        "name": name,
        "type": "question_answering",
        "dataset": dataset,
        "splits": {
            "train": f"{split}[:80%]",
            "validation": f"{split}[80%:90%]",
            "test": f"{split}[90%:]",
        },
        "metrics": metrics,
    }
