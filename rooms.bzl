"""The rooms of the project and what each may import: the one list of it.

BUILD makes its targets from it and tests/test_rooms.py checks every import
against it, so this file is Starlark and Python at once: literals only.
"""

# Room of mtl_tf -> the rooms it may import. Importing goes one way.
ROOMS = {
    "core": [],
    "text": ["core"],
    # TFDS builders and the official file formats.
    "datasets": ["core", "text"],
    "tasks": ["core", "text", "datasets"],
    "pipelines": ["core", "text", "tasks"],
    # Layers and models know tensors, not corpora.
    "layers": ["core"],
    "models": ["core", "layers"],
    "evaluation": ["core", "text", "tasks"],
    # What trains tensors, and knows neither tasks nor models.
    "training": ["core"],
    # Predictions and scores of a model, by task type; knows no run directory.
    "prediction": [
        "core",
        "text",
        "datasets",
        "tasks",
        "pipelines",
        "layers",
        "models",
        "evaluation",
    ],
    # Training on texts without labels.
    "pretraining": ["core", "text", "pipelines", "models", "training"],
    # What fields a config has; their defaults, rules and checks.
    "config_fields": ["core"],
    # One file an experiment; pure data.
    "configs": ["core", "config_fields"],
    # A run: its directory, its data, its stages, its model.
    "runs": [
        "core",
        "config_fields",
        "text",
        "datasets",
        "tasks",
        "pipelines",
        "layers",
        "models",
        "evaluation",
        "training",
        "prediction",
        "pretraining",
    ],
    # What the command-line programs share; light until a program runs.
    "programs": ["core", "datasets", "config_fields", "configs"],
    "baselines": [
        "core",
        "tasks",
        "pipelines",
        "evaluation",
        "prediction",
        "runs",
    ],
    # Many runs: the papers' tables, sweeps, transfer.
    "experiments": [
        "core",
        "config_fields",
        "tasks",
        "pipelines",
        "models",
        "evaluation",
        "training",
        "prediction",
        "runs",
        "baselines",
    ],
    # Pictures of trained runs.
    "figures": [
        "core",
        "text",
        "pipelines",
        "layers",
        "models",
        "evaluation",
        "prediction",
        "runs",
    ],
    # The page of a run, or of its seeds.
    "analysis": [
        "core",
        "evaluation",
        "runs",
        "experiments",
        "figures",
    ],
    "benchmarks": [
        "core",
        "pipelines",
        "layers",
        "models",
        "training",
        "programs",
    ],
}

# Programs: folder of the checkout -> names. `python -m launch.train`.
PROGRAMS = {
    "launch": [
        "prepare_data",
        "train_vectors",
        "pretrain",
        "data_service",
        "train",
        "evaluate",
        "predict",
        "benchmark",
        "baseline",
        "compare",
        "calibrate",
        "ensemble",
        "analyse",
        "transfer",
        "sweep",
        "reproduce",
        "figures",
    ],
    "export": ["saved_model", "check"],
}

# Room -> what its tests need beside what the room itself may import.
TEST_NEEDS = {
    # Checks are tried on whole configs, and read lists of names in these rooms.
    "config_fields": ["configs", "models", "pipelines", "training"],
    # The metrics that tasks may name are those that are computed.
    "evaluation": ["tasks"],
    # The fields' list of Transformers is checked against the schemes.
    "models": ["config_fields", "configs"],
    # The shared runner is tried on real programs.
    "programs": ["launch"],
    "baselines": ["configs"],
    # Defaults are checked against the config's.
    "prediction": ["config_fields"],
    # Runs are loaded as a user loads them: mtl_tf.load.
    "runs": ["configs", "programs"],
    "figures": ["config_fields", "configs", "programs"],
    "analysis": ["configs"],
    # The papers' rows are checked against the configs that train them.
    "experiments": ["configs", "programs", "launch"],
    # The list of cases is the program's.
    "benchmarks": ["launch"],
}
