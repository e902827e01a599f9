"""What the configs say of the kinds of models."""

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Group
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError
from mtl_tf.runs import systems
from tests.system import questions


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
