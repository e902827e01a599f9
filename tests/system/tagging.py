"""Runs of small models that tag, with random weights: nothing is trained."""

import os

from mtl_tf.configs import base
from mtl_tf.models.multi_task import build_model
from mtl_tf.training import data
from mtl_tf.training.checkpoints import BestWeights
from mtl_tf.training.run_directory import RunDirectory

MAX_LENGTH = 8
TRAIN = """\
The DT B-NP
EU NNP I-NP
rejects VBZ O
German JJ B-NP
lamb NN I-NP

Paris NNP B-LOC
sleeps VBZ O
"""
# The last sentence has two tokens more than the model reads.
TEST = f"""\
EU NNP B-NP
sleeps VBZ O

{"German JJ B-NP" + chr(10)}{("lamb NN I-NP" + chr(10)) * (MAX_LENGTH + 1)}"""


def entries(folder, mood=False):
    """Config entries: spans, words, and maybe whole texts; on files."""
    files = {}
    for split, text in (("train", TRAIN), ("validation", TRAIN)):
        files[split] = _written(folder, f"{split}.conll", text)
    files["test"] = _written(folder, "test.conll", TEST)
    own = {"kind": "tagging", "files": files}
    found = [
        own | {"name": "chunks", "train_scheme": "iobes"},
        own | {"name": "words", "columns": {"tags": 1}},
    ]
    if mood:
        lines = "good\tEU sleeps\nbad\tlamb rejects EU\n"
        path = _written(folder, "mood.tsv", lines)
        columns = {"label": 0, "text": 1}
        files = {"train": path, "validation": path, "test": path}
        found.append({"name": "mood", "files": files, "columns": columns})
    return found


def _written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def config(tasks):
    """A small LSTM with all that it may read of words."""
    chosen = base.default_config().to_dict()
    chosen["tasks"] = tasks
    chosen["text"]["max_length"] = MAX_LENGTH
    chosen["text"]["casing"] = True
    chosen["text"]["characters"]["max_word_length"] = 6
    chosen["model"] |= {
        "embedding_dim": 5,
        "scheme": {"name": "lstm", "units": 4, "bidirectional": True},
        "characters": {"name": "cnn", "filters": 3, "dimension": 4},
        "casing_dim": 2,
    }
    return chosen


def write_run(directory, tasks):
    """Writes a run of random weights; returns its directory."""
    chosen, run = config(tasks), RunDirectory(str(directory))
    run.claim(chosen)
    loaded = data.load(chosen, run, None, None)
    described = [task.to_json() for task in loaded.tasks]
    model = build_model(
        chosen["model"], len(loaded.encoder.vocabulary), described, seed=1
    )
    # Far from one another, so that no two paths are as good.
    model.set_weights([3 * weight for weight in model.get_weights()])
    BestWeights(run.file("best"), model).save(1, 50.0)
    return run.path
