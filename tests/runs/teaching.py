"""Configs of students, and their data."""

from mtl_tf.runs import teachers, training_run
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from tests.system import corpus

UNLABELLED = ["yes the tree no", "no a yes", "of some stone yes no this"] * 4


def with_unlabelled(folder):
    """Entries of two tasks, the first with texts without labels."""
    sizes = {"train": 60, "validation": 20, "test": 20}
    found = corpus.write(folder, 5, sizes)
    path = folder / "more.tsv"
    path.write_text("".join(f"\t{text}\n" for text in UNLABELLED))
    found[0]["files"]["unlabelled"] = str(path)
    return found


def train(config, directory):
    return training_run.train(config, str(directory), strategy="one_device")


def student(entries, *given, **distillation):
    config = corpus.quick(entries, epochs=2)
    config["training"]["teachers"] = list(map(str, given))
    config["training"]["distillation"] |= distillation
    return config


def loaded(config, directory):
    run = RunDirectory(str(directory))
    run.claim(config)
    teachers.prepare(config, run, (None, None))
    return run_data.load(config, run, None, None)
