"""A config file with tasks on one's own files."""

OWN = """
from mtl_tf.configs import quickstart


def entry(name):
    return {"name": name, "files": {"train": name + ".csv"}}


def get_config():
    config = quickstart.get_config()
    config.tasks = (entry("stars"), entry("subj"), "sample_reviews/books")
    return config
"""
