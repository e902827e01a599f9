"""Runs of small models that tag, with random weights: nothing is trained."""

from mtl_tf.configs import base
from tests.system.random_runs import write_weights, written

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
        files[split] = written(folder, f"{split}.conll", text)
    files["test"] = written(folder, "test.conll", TEST)
    own = {"type": "tagging", "files": files}
    found = [
        own | {"name": "chunks", "train_scheme": "iobes"},
        own | {"name": "words", "columns": {"tags": 1}},
    ]
    if mood:
        lines = "good\tEU sleeps\nbad\tlamb rejects EU\n"
        path = written(folder, "mood.tsv", lines)
        columns = {"label": 0, "text": 1}
        files = {"train": path, "validation": path, "test": path}
        found.append({"name": "mood", "files": files, "columns": columns})
    return found


def config(tasks):
    """A small LSTM with all that it may read of words."""
    chosen = base.paper_config().to_dict()
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


def transformer(tasks, scheme):
    """The same with a small Transformer."""
    chosen = config(tasks)
    chosen["model"]["scheme"] = {
        "name": scheme,
        "layers": 2,
        "units": 8,
        "heads": 2,
        "feed_forward": 8,
    }
    return chosen


def write_run(directory, tasks, scheme=""):
    """Writes a run of random weights; returns its directory.

    Args:
        directory: where.
        tasks: see `entries`.
        scheme: of a Transformer; "" for an LSTM.
    """
    chosen = transformer(tasks, scheme) if scheme else config(tasks)
    return write_weights(directory, chosen)[0].path
