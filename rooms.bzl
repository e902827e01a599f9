"""The rooms of the project and what each may import: the one list of it.

BUILD makes its targets from it and tests/test_rooms.py checks every import
against it, so this file is Starlark and Python at once: literals only.
"""

# Room of mtl_tf -> the rooms it may import. Importing goes one way.
ROOMS = {
    "core": [],
    "text": ["core"],
    "datasets": ["core", "text"],
    "tasks": ["core", "text", "datasets"],
    "pipelines": ["core", "text", "datasets", "tasks"],
    # Layers and models know tensors, not corpora.
    "layers": ["core"],
    "models": ["core", "layers"],
    "evaluation": ["core", "text", "datasets", "tasks", "pipelines"],
    "training": [
        "core",
        "text",
        "datasets",
        "tasks",
        "pipelines",
        "layers",
        "models",
        "evaluation",
    ],
    # Pictures of trained runs.
    "figures": [
        "core",
        "text",
        "datasets",
        "tasks",
        "pipelines",
        "layers",
        "models",
        "evaluation",
        "training",
    ],
    # Configs are pure data.
    "configs": ["core"],
    # What the command-line programs share; light until a program runs.
    "programs": ["core", "configs"],
}

# Programs: folder of the checkout -> names. `python -m launch.train`.
PROGRAMS = {
    "launch": [
        "prepare_data",
        "train_vectors",
        "train",
        "evaluate",
        "predict",
        "benchmark",
        "baseline",
        "transfer",
        "sweep",
        "reproduce",
        "figures",
    ],
    "export": ["saved_model", "check"],
}

# Room -> what its tests need beside what the room itself may import.
TEST_NEEDS = {
    # The configs' list of Transformers is checked against the schemes.
    "models": ["configs"],
    # The shared runner is tried on real programs.
    "programs": ["launch"],
    # Figures are drawn of small runs, whose configs begin with the default.
    "figures": ["configs"],
    # The papers' rows are checked against the configs that train them.
    "training": ["configs", "programs"],
}
