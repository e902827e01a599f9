"""Runs of small models that translate, with random weights."""

import os

import numpy as np

from mtl_tf.configs import base
from mtl_tf.training import building, data
from mtl_tf.training.checkpoints import BestWeights
from mtl_tf.training.run_directory import RunDirectory

SOURCE = """\
no tree.
the yes of no house.
a house, a tree.
"""
TARGETS = {
    "aa": "non arbre .\nle oui de non maison .\nune maison , un arbre .\n",
    "bb": "nein baum .\nja von nein haus .\nein haus , ein baum .\n",
}


def entries(folder):
    """Config entries of two pairs on files."""
    source = _written(folder, "lines.xx", SOURCE)
    made = []
    for language, text in TARGETS.items():
        paths = {
            "source": source,
            "target": _written(folder, f"lines.{language}", text),
        }
        splits = ("train", "validation", "test")
        files = {split: dict(paths) for split in splits}
        name = f"xx-{language}"
        made.append({"name": name, "kind": "translation", "files": files})
    return made


def _written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def config(tasks):
    """A model of few units; tokens of the source carry their spaces."""
    chosen = base.default_config().to_dict()
    chosen["tasks"] = tasks
    chosen["text"]["tokenizers"] = {"xx": {"name": "reversible"}}
    chosen["pipeline"]["schedule"] = {"name": "blocks", "block": 4}
    chosen["model"]["translation"] = {"embedding_dim": 6, "units": 5}
    chosen["evaluation"]["decoding"] = {"beam": 2}
    return chosen


def write_weights(directory, chosen, favoured=None):
    """Writes a run of random weights.

    Args:
        directory: where to.
        chosen: its config.
        favoured: what every output layer adds to the logits of some ids.

    Returns:
        The run's directory, and what it says of its tasks.
    """
    run = RunDirectory(str(directory))
    run.claim(chosen)
    loaded = data.load(chosen, run, None, None)
    described = [task.to_json() for task in loaded.tasks]
    model = building.build(chosen, loaded.encoder, described, seed=1)
    # Far from one another, so that no two paths are as good.
    model.set_weights([3 * weight for weight in model.get_weights()])
    for decoder in model.decoders if favoured else ():
        bias = np.zeros(decoder.output_layer.vocabulary_size)
        bias[list(favoured)] = list(favoured.values())
        decoder.output_layer.bias.assign(bias)
    BestWeights(run.file("best"), model).save(1, 50.0)
    return run, described


def write_run(directory, tasks):
    """Writes a run of random weights; returns its directory.

    It has noted two evaluations, after 6 and after 12 steps.
    """
    run, described = write_weights(directory, config(tasks))
    run.write("batches.json", {"steps_per_epoch": 2})
    for step in (6, 12):
        scores = {
            task["name"]: {"bleu": step + n, "bleu_lc": 2 * step + n}
            for n, task in enumerate(described)
        }
        run.append_metrics(
            {
                "stage": "joint",
                "step": step,
                "epoch": step / 2,
                "train_loss": {},
                "validation": {"mean": step + 0.5, "tasks": scores},
            }
        )
    return run.path
