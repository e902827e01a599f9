"""What the configs say of the kinds of models."""

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Group
from mtl_tf.core import task_types
from mtl_tf.runs import systems


@pytest.mark.parametrize("name", task_types.NAMES)
def test_task_types_with_a_model_of_their_own(name):
    declared = {
        path: group.only_with
        for path, group in fields.by_task_type().get(name, {}).items()
        if isinstance(group, Group) and group.only_with is not None
    }
    system = systems.of_type(name)
    assert set(declared) == {f"model.{field}" for field in system.model_fields}
