"""Runs on a pretrained encoder, and their models before they train."""

from mtl_tf.runs import building
from mtl_tf.runs.data import run_data
from tests.system import corpus

#: Of every kind, in an encoder that is not trained.
ADAPTERS = {
    "trainable": False,
    "adapter_units": 3,
    "lora_rank": 2,
    "projected_attention_units": 4,
    "projected_attention_heads": 2,
}


def config_of(entries, preset, scheme="direct", **encoder):
    chosen = corpus.quick(entries)
    chosen["text"]["max_length"] = 60
    chosen["model"]["encoder"] |= {"preset": preset, **encoder}
    chosen["model"]["scheme"] = {"name": scheme}
    chosen["training"]["optimizer"]["learning_rate"] = 1e-3
    chosen["evaluation"]["yardsticks"] = False
    return chosen


def made(config, directory):
    """A model of a config before it trains, as a new run makes it."""
    run = run_data.RunDirectory(str(directory))
    run.claim(config)
    loaded = run_data.load(config, run, None, None)
    tasks = [task.to_json() for task in loaded.tasks]
    model = building.build(config, loaded.encoder, tasks)
    system = run_data.systems.of_type(loaded.tasks[0].type)
    system.set_pretrained(model, config, loaded.encoder)
    return model
