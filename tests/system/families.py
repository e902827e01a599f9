"""A small run of every family of models, for what has to hold of each.

Nothing is dropped, so that runs of different numbers of replicas compute the
same; texts are of several lengths, in several buckets.
"""

import functools
import os
import pathlib

from mtl_tf.baselines import linear
from mtl_tf.configs import base
from tests.system import corpus, questions, toy_languages
from tests.text import small_presets

SIZES = {"train": 64, "validation": 12, "test": 8}
UNLABELLED = ["yes the tree no", "no a yes", "of some stone yes no this"] * 4
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
    *("separate", "adam", "lazy_adam", "accumulated"),
    *("encoder", "adapters", "wide", "taught"),
)
FAMILIES = (*SCHEMES, *METHODS, *OTHERS)


def write(folder, names=FAMILIES, steps=6):
    """Writes the files; returns the config of each family by name.

    Args:
        folder: where to, a path.
        names: of the families.
        steps: of every run.
    """
    folder = str(folder)
    texts = corpus.write(folder, 5, SIZES)
    made = {}
    for name in names:
        if name in SCHEMES:
            scheme = {**SCHEMES[name], "name": name}
            made[name] = _texts(texts, scheme, steps)
        elif name in METHODS:
            made[name] = _texts(texts, _META, steps, **METHODS[name])
        else:
            made[name] = _MAKERS[name](folder, texts, steps)
        if name == "asp" or name in METHODS:
            made[name]["pipeline"]["mixing"] = {"name": "joint"}
    return {name: _without_chance(config) for name, config in made.items()}


def _texts(entries, scheme, steps, **training):
    config = corpus.config(entries, steps=steps, evaluate_every=3, **training)
    config["pipeline"] |= {"batch_size": 8}
    config["model"]["scheme"] = dict(scheme)
    return config


def _tagging(folder, texts, steps):
    del folder, texts
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


def _translation(folder, texts, steps):
    del texts
    entries = toy_languages.write(folder, 1, SIZES)[:2]
    config = toy_languages.make_config(
        entries, units=8, steps=steps, evaluate_every=3
    )
    config["pipeline"]["batch_size"] = 8
    return config


def _answering(folder, texts, steps):
    del texts
    entries = questions.entries(folder, SIZES, longer={"behind": 6})
    config = questions.config(entries, units=8, feed_forward=8)
    config["pipeline"]["batch_size"] = 8
    config["training"] |= {"steps": steps, "evaluate_every": 3}
    return config


def _several_types(folder, texts, steps):
    config = _tagging(folder, texts, steps)
    config["tasks"] += texts
    return _balanced(config)


def _compared_pairs(folder, texts, steps):
    return _balanced(_translation(folder, texts, steps))


def _balanced(config):
    config["pipeline"]["mixing"] = {"name": "joint"}
    config["training"] |= METHODS["gradnorm"] | METHODS["pcgrad"]
    return config


def _fine_tuned(folder, texts, steps):
    del folder, steps
    config = _texts(texts, {"name": "ssp", "units": 6}, 0, epochs=1)
    config["training"]["fine_tune"] |= {"epochs": 1}
    return config


def _token_budget(folder, texts, steps):
    del folder
    config = _texts(texts, _META, steps)
    config["pipeline"]["tokens_per_batch"] = 128
    return config


def _separate(folder, texts, steps):
    del folder
    config = _texts(texts, {"name": "lstm", "units": 6}, steps)
    config["train_separately"] = True
    return config


def _adam(folder, texts, steps, lazy=False):
    del folder
    config = _texts(texts, _META, steps)
    # Far from where a gradient's sign alone decides.
    options = {"name": "adam", "options": {"epsilon": 1e-2}, "lazy": lazy}
    config["training"]["optimizer"] |= options
    return config


def _accumulated(folder, texts, steps):
    del folder
    return _texts(texts, _META, steps, accumulate_steps=2)


def _encoder(folder, texts, steps):
    config = _texts(texts, {"name": "direct", "pooling": "mean"}, steps)
    config["model"]["encoder"]["preset"] = small_presets.bert(
        os.path.join(folder, "preset"), dropout=0.0
    )
    config["text"]["max_length"] = 40
    return config


def _adapters(folder, texts, steps):
    """Low-rank changes and adapters of each task in a frozen encoder."""
    config = _encoder(folder, texts, steps)
    config["model"]["encoder"] |= {
        **{"trainable": False, "adapter_units": 4, "lora_rank": 2},
    }
    return config


def _wide(folder, texts, steps):
    del folder
    config = _texts(texts, {"name": "lstm", "units": 6}, steps)
    config["model"]["wide"] |= {"buckets": 64, "word_ngrams": 2}
    return config


def _taught(folder, texts, steps):
    """By a linear model, also about texts without labels."""
    config = _wide(folder, texts, steps)
    path = os.path.join(folder, "more.tsv")
    with open(path, "w") as file:
        file.writelines(f"\t{text}\n" for text in UNLABELLED)
    entry, *others = texts
    files = {**entry["files"], "unlabelled": path}
    config["tasks"] = [{**entry, "files": files}, *others]
    teacher = os.path.join(folder, "linear")
    if not os.path.exists(teacher):
        linear.train(config, teacher, probabilities_of=("train", "unlabelled"))
    config["training"]["teachers"] = [teacher]
    config["training"]["distillation"]["unlabelled"] = "unlabelled"
    return config


_MAKERS = {
    "tagging": _tagging,
    "translation": _translation,
    "answering": _answering,
    "several_types": _several_types,
    "compared_pairs": _compared_pairs,
    "fine_tuned": _fine_tuned,
    "token_budget": _token_budget,
    "separate": _separate,
    "adam": _adam,
    "lazy_adam": functools.partial(_adam, lazy=True),
    "accumulated": _accumulated,
    "encoder": _encoder,
    "adapters": _adapters,
    "wide": _wide,
    "taught": _taught,
}


def _without_chance(config):
    config["pipeline"] |= {"buckets": 3, "bucket_multiple": 1}
    model, optimizer = config["model"], config["training"]["optimizer"]
    for name in model["dropout"]:
        model["dropout"][name] = 0.0
    model["word_dropout"] = model["rare_word_dropout"] = 0.0
    if "epsilon" not in optimizer["options"]:
        optimizer |= {"name": "adagrad", "learning_rate": 0.05, "options": {}}
    return config
