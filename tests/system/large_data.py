"""Trains on many examples, and measures the memory that it takes.

    python -m tests.system.large_data --directory=/tmp/large \
        --examples=1000000 --steps=50000 --storage=disk

makes files of texts of about 20 words, trains a bag of words on them, and
prints resident memory after every part of the steps, in megabytes: of the
process, and of it what belongs to no file. The last line is the peak.
"""

import argparse
import json
import os
import resource
import sys

_WORDS = 20_000


def write(directory, examples):
    """Files of a task, made anew unless they are there; its entry."""
    import numpy as np

    rng, files = np.random.default_rng(0), {}
    words = np.array([f"word{n}" for n in range(_WORDS)])
    sizes = {"train": examples, "validation": 2000, "test": 2000}
    for split, size in sizes.items():
        files[split] = os.path.join(directory, f"{split}-{size}.tsv")
        if os.path.exists(files[split]):
            continue
        with open(files[split] + ".part", "w") as file:
            for _ in range(0, size, 1000):
                lengths = rng.integers(10, 31, 1000)
                ids = rng.zipf(1.3, lengths.sum()) % _WORDS
                parts = np.split(ids, np.cumsum(lengths)[:-1])
                for part in parts:
                    label = "odd" if part[0] % 2 else "even"
                    file.write(f"{' '.join(words[part])}\t{label}\n")
        os.replace(files[split] + ".part", files[split])
    columns = {"text": 0, "label": 1}
    return {"name": "texts", "files": files, "columns": columns}


def config_of(entry, steps, storage):
    """A tiny model."""
    from mtl_tf.configs import base

    config = base.default_config().to_dict()
    config["tasks"] = [entry]
    config["text"]["max_size"] = 5000
    config["pipeline"] |= {"batch_size": 16, "storage": storage}
    config["model"] |= {"embedding_dim": 8, "scheme": {"name": "nbow"}}
    config["training"] |= {"steps": steps, "jit": False}
    config["training"]["evaluate_every"] = max(steps // 10, 1)
    return config


def resident():
    """Resident memory: all, and without pages of files, in megabytes."""
    with open("/proc/self/status") as file:
        lines = dict(line.split(":", 1) for line in file)
    return [int(lines[k].split()[0]) // 1024 for k in ("VmRSS", "RssAnon")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", required=True)
    parser.add_argument("--examples", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--storage", default="disk")
    values = parser.parse_args()
    os.makedirs(values.directory, exist_ok=True)
    entry = write(values.directory, values.examples)
    from mtl_tf.runs import training_run
    from mtl_tf.training.callbacks import Callback

    class Memory(Callback):
        """Prints the memory after every evaluation."""

        def on_evaluation(self, *args, **options):
            report("evaluated")

    def report(what):
        print(json.dumps([what, *resident()]), flush=True)

    report("imported")
    config = config_of(entry, values.steps, values.storage)
    run = os.path.join(values.directory, f"run-{values.storage}")
    training_run.train(config, run, callbacks=[Memory()])
    report("trained")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"peak": peak}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
