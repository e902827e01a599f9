"""What the configs say of the kinds of models."""

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Group
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import building, systems
from mtl_tf.runs.data import run_data
from mtl_tf.runs.directory.run_directory import RunDirectory
from mtl_tf.training.optimizers import freezing
from tests.system import families, questions


@pytest.mark.parametrize("name", task_types.NAMES)
def test_task_types_with_a_model_of_their_own(name):
    declared = {
        path: group.only_with
        for path, group in fields.by_task_type().get(name, {}).items()
        if isinstance(group, Group) and group.only_with is not None
    }
    system = systems.of_type(name)
    assert set(declared) == {f"model.{field}" for field in system.model_fields}


def test_a_wrong_option_of_the_answering_model_has_its_whole_name():
    system = systems.of_type("question_answering")
    with pytest.raises(ConfigError, match=r"^model\.answering\.units must be"):
        system.check(questions.config([], units=7))


@pytest.mark.by_default("wide")
@pytest.mark.parametrize(
    "family", ["several_types", "wide", "translation", "answering"]
)
def test_a_model_without_words_has_the_names_of_the_weights(tmp_path, family):
    config = families.write(tmp_path, [family])[family]
    run = RunDirectory(str(tmp_path / "run"))
    run.claim(config)
    loaded = run_data.load(config, run, None, None)
    tasks = [task.to_json() for task in loaded.tasks]
    model = systems.of_type(tasks[0]["type"]).model_without_words(config, tasks)
    whole = building.build(config, loaded.encoder, tasks)
    names = [weight.path for weight in model.trainable_variables]
    assert names == [weight.path for weight in whole.trainable_variables]
    for part in freezing.PARTS.values():
        found = [w.path for w in part(model, model.trainable_variables)]
        assert found == [w.path for w in part(whole, whole.trainable_variables)]
