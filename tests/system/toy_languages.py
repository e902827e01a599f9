"""Toy languages: copying, reversing and mapping one source, on files."""

import os

import numpy as np

from mtl_tf.configs import base

LETTERS = [f"w{n}" for n in range(12)]
TARGETS = {
    "aa": lambda words: words,
    "bb": lambda words: words[::-1],
    "cc": lambda words: [f"c{word}" for word in words],
}


def write(folder, seed, sizes, longest=5):
    """Writes files of all targets; returns their config entries."""
    rng = np.random.default_rng(seed)
    entries = {
        f"xx-{name}": {"name": f"xx-{name}", "type": "translation", "files": {}}
        for name in TARGETS
    }
    for split, size in sizes.items():
        sources = [
            list(rng.choice(LETTERS, rng.integers(1, longest + 1)))
            for _ in range(size)
        ]
        for name, change in TARGETS.items():
            paths = {}
            for side, lines in (
                ("source", sources),
                ("target", [change(words) for words in sources]),
            ):
                paths[side] = os.path.join(folder, f"{name}.{split}.{side}")
                with open(paths[side], "w") as file:
                    file.writelines(" ".join(words) + "\n" for words in lines)
            entries[f"xx-{name}"]["files"][split] = paths
    return list(entries.values())


def make_config(entries, units=24, **training):
    """A small model of the tasks on such files."""
    config = base.paper_config()
    config.name = "toy_translation"
    config.tasks = tuple(entries)
    config.pipeline.batch_size = 32
    config.pipeline.buckets = 1
    config.pipeline.mixing = {"name": "blocks", "block": 3}
    config.model.translation = {"embedding_dim": units, "units": units}
    config.evaluation.decoding = {"beam": 2}
    config.training.optimizer.name = "adam"
    config.training.optimizer.learning_rate = 0.01
    config.training.l2 = 0.0
    config.training.clip_norm = 1.0
    config.training.jit = False
    for name, value in training.items():
        config.training[name] = value
    return config.to_dict()
