"""Makes the stored runs: small ones of each family, with what they say.

    python -m tests.stored_runs.make            makes those that are not there
    python -m tests.stored_runs.make --compare  trains all again, elsewhere,
                                                and tells whether bits differ

Run it from the root of a checkout of the commit whose behaviour is to be
kept. A run is stored without its checkpoints; `expected.json` beside its
files has its predictions, its scores and the answers of its export.
`tests/system/test_stored_runs.py` holds later code to them.
"""

import json
import pathlib
import shutil
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).parent
# As it stands in the configs: relative to the checkout.
DATA = "tests/stored_runs/data"
KEPT = ("config.json", "labels.json", "data.json", "results.json")
FOLDERS = ("vocabulary", "best")
TEXTS = ["yes the stone no house", "no Tree 7 yes", "unheard of", ""]
_WORDS = "the a of one some this that tree house river stone cloud".split()  # noqa: SIM905


def write_data(folder: pathlib.Path = HERE / "data") -> None:
    """Writes the corpora, the same ones every time."""
    folder.mkdir(exist_ok=True)
    rng = np.random.default_rng(7)
    for split, size in (("train", 96), ("validation", 24), ("test", 30)):
        labelled, tagged, sources, reverse = [], [], [], []
        for number in range(size):
            words = list(rng.choice(_WORDS, rng.integers(2, 9)))
            order = ("yes", "no") if number % 2 else ("no", "yes")
            places = sorted(rng.integers(0, len(words) + 1, 2))
            words.insert(places[1], order[1])
            words.insert(places[0], order[0])
            labelled.append(f"{number % 2}\t{' '.join(words)}\n")
            tags = ["B-X" if w in ("yes", "no") else "O" for w in words]
            for n, tag in enumerate(tags[:-1]):
                if tag == "B-X" and tags[n + 1] == "O":
                    tags[n + 1] = "I-X"
            tagged += [f"{w} {t}\n" for w, t in zip(words, tags)] + ["\n"]
            sources.append(" ".join(words[:6]) + "\n")
            reverse.append(" ".join(words[:6][::-1]) + "\n")
        (folder / f"order.{split}.tsv").write_text("".join(labelled))
        (folder / f"spans.{split}.conll").write_text("".join(tagged))
        (folder / f"lines.{split}.xx").write_text("".join(sources))
        (folder / f"lines.{split}.rr").write_text("".join(reverse))
        (folder / f"lines.{split}.cc").write_text("".join(sources))


def _files(pattern: str) -> dict[str, str]:
    splits = ("train", "validation", "test")
    return {split: f"{DATA}/{pattern.format(split)}" for split in splits}


def _texts(name: str) -> dict:
    return {
        "name": name,
        "type": "classification",
        "files": _files("order.{}.tsv"),
        "columns": {"text": 1, "label": 0},
    }


def _spans() -> dict:
    files = _files("spans.{}.conll")
    tags = {"type": "tagging", "train_scheme": "iobes"}
    return {"name": "spans", **tags, "files": files}


def _pair(language: str) -> dict:
    source, target = _files("lines.{}.xx"), _files("lines.{}." + language)
    files = {s: {"source": source[s], "target": target[s]} for s in source}
    return {"name": f"xx-{language}", "type": "translation", "files": files}


_TRANSFORMER = {"layers": 2, "units": 8, "heads": 2, "feed_forward": 8}
_MEMORY = {"units": 8, "memory_slots": 4, "memory_width": 5}
SCHEMES = {
    "lstm": {"name": "lstm", "units": 8},
    "meta_mtl": {
        "name": "meta_lstm",
        "units": 8,
        "meta_units": 4,
        "meta_vector": 4,
    },
    "l_e": {"name": "l_e", **_TRANSFORMER},
    "l_i": {"name": "l_i", **_TRANSFORMER},
    "asp": {"name": "asp", "units": 6},
    "arc_i": {"name": "arc_i", **_MEMORY},
    "mt_cnn": {"name": "mt_cnn", "filters": 4},
    "tagging": {"name": "lstm", "units": 8, "bidirectional": True},
}


def configs() -> dict[str, dict]:
    """The config of each stored run."""
    from mtl_tf.configs import base

    made = {}
    for name in (*SCHEMES, "translation"):
        config = base.paper_config().to_dict()
        config["name"] = name
        config["tasks"] = [_texts("one"), _texts("two")]
        config["pipeline"] |= {"batch_size": 8, "buckets": 2}
        config["model"]["embedding_dim"] = 6
        config["model"]["dropout"] = {"embedding": 0.1, "head": 0.1}
        config["training"]["epochs"] = 2
        config["training"]["optimizer"]["learning_rate"] = 0.05
        made[name] = config
        if name in SCHEMES:
            config["model"]["scheme"] = SCHEMES[name]
    tagging = made["tagging"]
    tagging["tasks"] = [_spans(), _texts("one")]
    tagging["text"]["casing"] = True
    tagging["text"]["characters"]["max_word_length"] = 5
    tagging["model"]["casing_dim"] = 2
    tagging["model"]["characters"] = {
        "name": "cnn",
        "filters": 3,
        "dimension": 4,
    }
    translation = made["translation"]
    translation["tasks"] = [_pair("rr"), _pair("cc")]
    translation["pipeline"]["mixing"] = {"name": "blocks", "block": 2}
    translation["model"]["translation"] = {"embedding_dim": 8, "units": 8}
    translation["evaluation"]["decoding"] = {"beam": 3, "n_best": 2}
    return made


def train(config: dict, folder: str) -> None:
    """Trains a run of this checkout."""
    from mtl_tf.runs import training_run

    training_run.train(config, folder)


def config_of(stored: pathlib.Path) -> dict:
    """The config of a stored run, completed with what defaults were."""
    from mtl_tf.runs.directory.run_directory import RunDirectory

    return RunDirectory(str(stored)).read("config.json")


def said_by(folder: str) -> dict:
    """What a run predicts, scores and exports."""
    import mtl_tf
    from export import saved_model

    run = mtl_tf.load(folder)
    predictions = {t["name"]: run.predict(t["name"], TEXTS) for t in run.tasks}
    scores = run.evaluate("test")
    with tempfile.TemporaryDirectory() as place:
        path = pathlib.Path(saved_model.export(run, f"{place}/export"))
        answers = path / "assets.extra" / "warmup_answers.json"
        exported = json.loads(answers.read_text())
    return {"predictions": predictions, "scores": scores, "export": exported}


def weights_of(folder: str) -> dict[str, np.ndarray]:
    """The best weights of a run, by path."""
    from mtl_tf.training.checkpoints.saved_weights import BestWeights

    return BestWeights.read(f"{folder}/best")[1]


def main() -> None:
    """Makes what is not there, or compares."""
    compare = "--compare" in sys.argv
    if not compare:
        write_data()
    for name, config in configs().items():
        stored = HERE / name
        if not compare and stored.exists():
            continue
        with tempfile.TemporaryDirectory() as place:
            folder = f"{place}/{name}"
            if compare:
                config = config_of(stored)
            train(config, folder)
            if compare:
                old, new = weights_of(str(stored)), weights_of(folder)
                same = old.keys() == new.keys() and all(
                    np.array_equal(old[path], new[path]) for path in old
                )
                print(f"{name}: {'the same bits' if same else 'DIFFERENT'}")
                continue
            expected = said_by(folder)
            stored.mkdir()
            for file in KEPT:
                shutil.copy(f"{folder}/{file}", stored / file)
            for part in FOLDERS:
                shutil.copytree(f"{folder}/{part}", stored / part)
            (stored / "expected.json").write_text(json.dumps(expected))
            print(f"{name}: made", flush=True)


if __name__ == "__main__":
    main()
