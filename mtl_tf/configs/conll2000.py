"""BiLSTM-CRF for the chunks of CoNLL-2000: `words`, `characters` or `best`.

Paper: table 5 of Chen et al. 2018, "Meta Multi-Task Learning for Sequence
Modeling", row LSTM+CRF, after Huang, Xu and Yu 2015. Its sizes (embeddings
100, LSTMs 100), but regularisation and an optimizer of our own choice
(`mtl_tf.configs.base.tagging`), without pretrained vectors. `words` reads words
alone, `characters` also their characters and casing; `best` is larger and
learns the corpus's parts of speech beside the chunks, from the training
sentences; no part of speech is an input. `meta_mtl_5` has the paper's own
settings.

The corpus has no validation part: a tenth of its training sentences is held
out to choose the checkpoint. `words_all`, `characters_all` and `best_all`
train on that tenth, too, with the settings that were chosen without: their
validation scores are of sentences that were trained on, and say nothing.

Command: python -m launch.train --config=conll2000:characters
    --model_dir=runs/conll2000 --manual_dir=FOLDER (that holds conll2000/)

Time and score: test F1 of chunks on one shared core of an AMD EPYC: `words`
91.1, 4 min; `words_all` 91.6, 4 min; `characters` 92.6, 12 min;
`characters_all` 92.9, 13 min; `best_all` 93.8, 23 min; none for `best` yet
(docs/results.md).
Measured before the defaults of version 2 (see there).
"""

from ml_collections import config_dict

from mtl_tf.configs import base
from mtl_tf.core import checks

_ALL = "_all"
ARGUMENTS = (
    *base.TAGGING_FEATURES,
    *(f"{features}{_ALL}" for features in base.TAGGING_FEATURES),
)


def get_config(features: str = "characters") -> config_dict.ConfigDict:
    """Returns the config.

    Args:
        features: one of `ARGUMENTS`.
    """
    checks.one_of("conll2000 argument", features, ARGUMENTS)
    config = base.tagging(
        "conll2000", "conll2000/chunk", features.removesuffix(_ALL)
    )
    config.name = f"conll2000_{features}"
    if features.startswith("characters"):
        config.training.epochs = 25  # chosen on the sentences held out
    if features.startswith("best"):
        config.tasks = (*config.tasks, "conll2000/pos")
    if features.endswith(_ALL):
        config.tasks = tuple(_on_all_sentences(task) for task in config.tasks)
    return config


def _on_all_sentences(task: str) -> dict:
    return {
        "name": task.partition("/")[2],
        "type": "tagging",
        "dataset": task,
        "splits": {
            "train": "train+validation",
            "validation": "validation",
            "test": "test",
        },
    }
