"""The fields of a config that an optimizer reads."""


def training_fields(**optimizer):
    """The config's `training`, as far as an optimizer reads it."""
    rates = dict.fromkeys(
        (
            "embedding_learning_rate",
            "pretrained_learning_rate",
            "wide_learning_rate",
        ),
        0.0,
    )
    settings = {
        "name": "sgd",
        "learning_rate": 0.1,
        "schedule": "constant",
        "warmup_steps": 0,
        "warmup_ratio": 0.0,
        "lazy": False,
        "wide_name": "",
        "options": {},
    }
    return {
        "l2": 0.0,
        "l2_embeddings": False,
        "clip_norm": 0.0,
        "average": 0.0,
        "optimizer": settings | rates | optimizer,
    }
