"""A table of three rows that trains in seconds."""

from mtl_tf.configs import quickstart
from mtl_tf.experiments import planned_runs, published, reproduce
from mtl_tf.experiments.published import (
    PublishedRow,
    PublishedTable,
    PublishedTask,
)

TABLE = PublishedTable(
    name="tiny/1",
    config="quickstart",
    paper="nobody 2000, table 1",
    vectors="good vectors",
    tasks=(PublishedTask("books", "Books", 100),),
    rows=(
        PublishedRow("lstm", "LSTM", published.SINGLE, (50.0,), 100_000),
        PublishedRow("meta", "Meta", published.MULTI, (60.0,), 200_000),
        PublishedRow("old", "Old", published.QUOTED, (40.0,), source="A 1999"),
    ),
    notes=("It is tiny.",),
)


def config(row):
    """A config that trains in seconds."""
    config = quickstart.get_config()
    config.name = row.name
    config.tasks = ("sample_reviews/books",)
    config.training.steps = 6
    config.training.steps_per_call = 1
    config.training.evaluate_every = 3
    config.training.jit = False
    config.train_separately = row.name == "lstm"
    if row.name == "lstm":
        config.model.scheme = {"name": "lstm", "units": 4}
    else:
        config.model.scheme.units = 4
    return config.to_dict()


def plan(folder, seeds=2, **options):
    return planned_runs.plan(TABLE, config, str(folder), seeds, **options)


def run_all(folder, data_dir, seeds=2, **options):
    settings = reproduce.Settings(data_dir=str(data_dir), command="x")
    planned = plan(folder, seeds, **options)
    return reproduce.reproduce(TABLE, planned, str(folder), settings)
