"""Runs of small models that translate, with random weights."""

from mtl_tf.configs import base
from tests.system.random_runs import write_weights, written

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
    source = written(folder, "lines.xx", SOURCE)
    made = []
    for language, text in TARGETS.items():
        paths = {
            "source": source,
            "target": written(folder, f"lines.{language}", text),
        }
        splits = ("train", "validation", "test")
        files = {split: dict(paths) for split in splits}
        name = f"xx-{language}"
        made.append({"name": name, "type": "translation", "files": files})
    return made


def config(tasks):
    """A model of few units; tokens of the source carry their spaces."""
    chosen = base.paper_config().to_dict()
    chosen["tasks"] = tasks
    chosen["text"]["tokenizers"] = {"xx": {"name": "reversible"}}
    chosen["pipeline"]["mixing"] = {"name": "blocks", "block": 4}
    chosen["model"]["translation"] = {"embedding_dim": 6, "units": 5}
    chosen["evaluation"]["decoding"] = {"beam": 2}
    return chosen


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
