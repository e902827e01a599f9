"""A small run of every family of models, for what has to hold of each.

Nothing is dropped, so that runs of different numbers of replicas compute the
same; texts are of several lengths, in several buckets.
"""

import pathlib

from mtl_tf.configs import base
from tests.system import corpus, questions, toy_languages

SIZES = {"train": 64, "validation": 12, "test": 8}
_DATA = pathlib.Path(__file__).parents[1] / "stored_runs" / "data"
_MEMORY = {"units": 6, "memory_slots": 5, "memory_width": 4}
_BLOCKS = {
    **{"layers": 2, "units": 8, "heads": 2, "feed_forward": 8},
    **{"dropout": 0.0, "input_dropout": 0.0},
}
_META = {"name": "meta_lstm", "units": 6, "meta_units": 4, "meta_vector": 3}
SCHEMES = {
    "lstm": {"units": 6, "bidirectional": True},
    "meta_lstm": _META,
    "hyper_lstm": {"units": 6, "hyper_units": 4, "hyper_vector": 3},
    "psp": {"units": 6},
    "ssp": {"units": 6},
    "asp": {"units": 6, "orthogonality_weight": 1.0},
    "me_lstm": {"align": "mlp", **_MEMORY},
    "arc_i": _MEMORY,
    "arc_ii": _MEMORY,
    "mt_cnn": {"filters": 4, "widths": [2, 3]},
    "mt_dnn": {"units": 6},
    "nbow": {"bag": "mean"},
    "s_p": _BLOCKS,
    "s_c": _BLOCKS,
    "l_i": _BLOCKS,
    "l_e": _BLOCKS,
}
#: Ways of training that replicas have a part in.
METHODS = {
    "uncertainty": {"loss_weighting": "uncertainty"},
    "gradnorm": {"loss_weighting": "gradnorm"},
    "pcgrad": {"gradient_surgery": "pcgrad", "clip_norm": 0.5},
}
OTHERS = (
    *("tagging", "translation", "answering", "fine_tuned", "token_budget"),
    *("several_types", "compared_pairs"),
    *("separate", "adam", "lazy_adam"),
)
FAMILIES = (*SCHEMES, *METHODS, *OTHERS)


def write(folder, steps=6):
    """Writes the files; returns the config of each family by name.

    Args:
        folder: where to, a path.
        steps: of every run.
    """
    folder = str(folder)
    texts = corpus.write(folder, 5, SIZES)
    made = {}
    for name, scheme in SCHEMES.items():
        made[name] = _texts(texts, {**scheme, "name": name}, steps)
    for name, training in METHODS.items():
        made[name] = _texts(texts, _META, steps, **training)
        made[name]["pipeline"]["mixing"] = {"name": "joint"}
    made["asp"]["pipeline"]["mixing"] = {"name": "joint"}
    made["tagging"] = _tagging(steps)
    made["several_types"] = _tagging(steps)
    made["several_types"]["tasks"] += texts
    made["translation"] = _translation(folder, steps)
    made["compared_pairs"] = _translation(folder, steps)
    for name in ("several_types", "compared_pairs"):
        made[name]["pipeline"]["mixing"] = {"name": "joint"}
        made[name]["training"] |= METHODS["gradnorm"] | METHODS["pcgrad"]
    made["answering"] = _answering(folder, steps)
    made["fine_tuned"] = _texts(texts, {"name": "ssp", "units": 6}, 0, epochs=1)
    made["fine_tuned"]["training"]["fine_tune"] |= {"epochs": 1}
    made["token_budget"] = _texts(texts, _META, steps)
    made["token_budget"]["pipeline"]["tokens_per_batch"] = 128
    made["separate"] = _texts(texts, {"name": "lstm", "units": 6}, steps)
    made["separate"]["train_separately"] = True
    for name in ("adam", "lazy_adam"):
        made[name] = _texts(texts, _META, steps)
        # Far from where a gradient's sign alone decides.
        options = {"name": "adam", "options": {"epsilon": 1e-2}}
        made[name]["training"]["optimizer"] |= options
    made["lazy_adam"]["training"]["optimizer"]["lazy"] = True
    assert set(made) == set(FAMILIES)
    return {name: _without_chance(config) for name, config in made.items()}


def _texts(entries, scheme, steps, **training):
    config = corpus.config(entries, steps=steps, evaluate_every=3, **training)
    config["pipeline"] |= {"batch_size": 8}
    config["model"]["scheme"] = dict(scheme)
    return config


def _tagging(steps):
    splits = ("train", "validation", "test")
    files = {s: str(_DATA / f"spans.{s}.conll") for s in splits}
    entry = {"name": "spans", "type": "tagging", "train_scheme": "iobes"}
    config = base.paper_config().to_dict()
    config["tasks"] = [{**entry, "files": files}]
    config["text"]["casing"] = True
    config["text"]["characters"]["max_word_length"] = 5
    config["pipeline"]["batch_size"] = 8
    config["model"] |= {
        "embedding_dim": 6,
        "scheme": {"name": "lstm", "units": 6, "bidirectional": True},
        "characters": {"name": "cnn", "filters": 3, "dimension": 4},
        "casing_dim": 2,
    }
    config["training"] |= {"steps": steps, "evaluate_every": 3, "jit": False}
    return config


def _translation(folder, steps):
    entries = toy_languages.write(folder, 1, SIZES)[:2]
    config = toy_languages.make_config(
        entries, units=8, steps=steps, evaluate_every=3
    )
    config["pipeline"]["batch_size"] = 8
    return config


def _answering(folder, steps):
    entries = questions.entries(folder, SIZES, longer={"behind": 6})
    config = questions.config(entries, units=8, feed_forward=8)
    config["pipeline"]["batch_size"] = 8
    config["training"] |= {"steps": steps, "evaluate_every": 3}
    return config


def _without_chance(config):
    config["pipeline"] |= {"buckets": 3, "bucket_multiple": 1}
    model, optimizer = config["model"], config["training"]["optimizer"]
    for name in model["dropout"]:
        model["dropout"][name] = 0.0
    model["word_dropout"] = model["rare_word_dropout"] = 0.0
    if "epsilon" not in optimizer["options"]:
        optimizer |= {"name": "adagrad", "learning_rate": 0.05, "options": {}}
    return config
