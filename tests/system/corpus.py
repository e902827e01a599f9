"""Two tasks on files whose labels follow from a rule.

A text is positive where "yes" comes before "no". In the task `plain` that is
its label; in the task `mirror` every label is the opposite, so that no model
without parameters of the tasks' own can be right on both.
"""

import os

import numpy as np

FILLERS = "the a of one some this that tree house river stone cloud".split()  # noqa: SIM905


def text(rng, positive):
    words = list(rng.choice(FILLERS, rng.integers(3, 8)))
    first, second = sorted(rng.integers(0, len(words) + 1, 2))
    order = ("yes", "no") if positive else ("no", "yes")
    words.insert(second, order[1])
    words.insert(first, order[0])
    return " ".join(words)


def write(folder, seed, sizes=None):
    """Writes the files and returns the config entries of the tasks."""
    sizes = sizes or {"train": 600, "validation": 300, "test": 200}
    rng = np.random.default_rng(seed)
    entries = []
    for task in ("plain", "mirror"):
        files = {}
        for split, size in sizes.items():
            path = os.path.join(folder, f"{task}.{split}.tsv")
            with open(path, "w") as file:
                for n in range(size):
                    label = (n + (task == "mirror")) % 2
                    file.write(f"{label}\t{text(rng, n % 2)}\n")
            files[split] = path
        entries.append(
            {
                "name": task,
                "type": "classification",
                "files": files,
                "columns": {"text": 1, "label": 0},
                "labels": ["0", "1"],
            }
        )
    return entries


def config(entries, **training):
    """A small Meta-MTL that learns them in seconds.

    Nothing is compiled by XLA, which takes longer than so few steps.
    """
    from mtl_tf.configs import base

    chosen = base.paper_config()
    chosen.name = "toy"
    chosen.seed = 3
    chosen.tasks = tuple(entries)
    chosen.pipeline.batch_size = 20
    chosen.pipeline.buckets = 1
    chosen.model.embedding_dim = 16
    chosen.model.scheme.units = 16
    chosen.model.scheme.meta_units = 8
    chosen.model.scheme.meta_vector = 8
    chosen.training.optimizer.name = "adam"
    chosen.training.optimizer.learning_rate = 0.02
    chosen.training.epochs = 2
    chosen.training.jit = False
    for name, value in training.items():
        chosen.training[name] = value
    return chosen.to_dict()


def quick(entries, scheme="nbow", **training):
    """A model whose graph is made in a second, for what is around models.

    A bag of words cannot learn these tasks; an "lstm" learns them.
    """
    chosen = config(entries, **training)
    units = {} if scheme == "nbow" else {"units": 16}
    chosen["model"]["scheme"] = {"name": scheme, **units}
    return chosen


def transformer(entries, scheme="l_e", layers=2, **training):
    """A small multi-task Transformer for them."""
    chosen = config(entries, **training)
    chosen["pipeline"] |= {"buckets": 3, "bucket_multiple": 1}
    chosen["model"]["scheme"] = {
        "name": scheme,
        "layers": layers,
        "units": 8,
        "heads": 2,
        "feed_forward": 8,
    }
    return chosen
