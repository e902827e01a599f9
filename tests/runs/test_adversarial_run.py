"""ASP-MTL trained from a config: the discriminator loses, the tasks do not.

Four tasks have a word of their own in every text, and one word, the same for
all tasks, decides the label. What tells the tasks apart is of no use.
"""

import json
import os

import numpy as np
import pytest

from mtl_tf.runs import training_run
from tests.runs.charts import scalars
from tests.runs.helpers import assert_same_weights, metrics
from tests.system import corpus

TASKS = ("books", "films", "music", "toys")
FILLERS = "the a of one some this that tree".split()  # noqa: SIM905


def text(draw, task, label):
    words = [("no", "yes")[label], *[task] * 3, *draw.choice(FILLERS, 2)]
    return " ".join(draw.permutation(words))


@pytest.fixture(scope="module")
def entries(tmp_path_factory):
    seed = int(np.random.SeedSequence().generate_state(1)[0]) >> 1
    print(f"seed {seed}")
    draw, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("asp")
    found = []
    for task in TASKS:
        files = {}
        for split, size in (("train", 240), ("validation", 200), ("test", 20)):
            path = folder / f"{task}.{split}.tsv"
            lines = [f"{n % 2}\t{text(draw, task, n % 2)}" for n in range(size)]
            path.write_text("\n".join(lines) + "\n")
            files[split] = str(path)
        found.append(
            {
                "name": task,
                "type": "classification",
                "files": files,
                "columns": {"text": 1, "label": 0},
                "labels": ["0", "1"],
            }
        )
    return found


def make_config(entries, epochs, **scheme):
    config = corpus.config(entries, epochs=epochs)
    config["pipeline"] |= {"batch_size": 8, "mixing": {"name": "joint"}}
    config["model"] |= {
        "init": {"name": "uniform", "range": 0.5},
        "scheme": {"name": "asp", "units": 16} | scheme,
    }
    config["training"]["optimizer"] |= {
        "name": "adagrad",
        "learning_rate": 0.1,
        "options": {"initial_accumulator_value": 1e-3},
    }
    return config


@pytest.mark.extended
def test_the_discriminator_falls_to_chance_and_the_tasks_hold(
    entries, tmp_path
):
    last = {}
    for weight, epochs in ((0.0, 6), (0.1, 10)):
        folder = str(tmp_path / str(weight))
        config = make_config(entries, epochs, adversarial_weight=weight)
        results = training_run.train(config, folder)
        history = [entry["validation"] for entry in metrics(folder)]
        accuracy = [h["diagnostics"]["discriminator_accuracy"] for h in history]
        print(weight, [round(a) for a in accuracy])
        assert history[-1]["mean"] > 97
        # Simultaneous steps circle around the equilibrium: a mean is stable.
        last[weight] = np.mean(accuracy[-8:])
        tests = results["mean"]["diagnostics"]
        assert 0 <= tests["discriminator_accuracy"] <= 100
        of_tasks = [
            task["diagnostics"]["discriminator_accuracy"]
            for task in history[-1]["tasks"].values()
        ]
        np.testing.assert_allclose(np.mean(of_tasks), accuracy[-1])
    assert last[0.0] > 45
    assert last[0.1] < 35


@pytest.mark.slow
def test_a_scheduled_weight_survives_a_stop_and_is_reported(entries, tmp_path):
    schedule = {
        "adversarial_weight": 0.5,
        "adversarial_schedule": "linear",
        "adversarial_start": 10,
        "adversarial_steps": 40,
    }
    stopped, whole = str(tmp_path / "stopped"), str(tmp_path / "whole")
    for epochs in (1, 2):
        training_run.train(make_config(entries, epochs, **schedule), stopped)
    training_run.train(make_config(entries, 2, **schedule), whole)
    assert_same_weights(stopped, whole)
    assert metrics(stopped)[-1] == metrics(whole)[-1]
    constant = str(tmp_path / "constant")
    training_run.train(
        make_config(entries, 2, adversarial_weight=0.5), constant
    )
    with pytest.raises(AssertionError):
        assert_same_weights(constant, whole)
    wanted = {
        entry["step"]: entry["validation"]["diagnostics"]
        for entry in metrics(whole)
    }
    charts = os.path.join(whole, "tensorboard")
    drawn = scalars(
        os.path.join(charts, "mean"), "diagnostics/discriminator_accuracy"
    )
    assert drawn == pytest.approx(
        {s: d["discriminator_accuracy"] for s, d in wanted.items()}, abs=1e-3
    )
    for task in TASKS:
        assert scalars(
            os.path.join(charts, task), "diagnostics/discriminator_accuracy"
        )
    with open(os.path.join(whole, "results.md")) as file:
        assert "mean discriminator accuracy: " in file.read()
    with open(os.path.join(whole, "results.json")) as file:
        assert "diagnostics" in json.load(file)["tasks"]["books"]
