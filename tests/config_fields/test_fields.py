"""Every field has its default, its rule and its sentence in one place."""

import json

import pytest

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Field, Group
from mtl_tf.configs import base
from mtl_tf.core import task_types
from mtl_tf.core.errors import ConfigError


def leaves(config, prefix=""):
    for name, value in config.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict) and value:
            yield from leaves(value, f"{path}.")
        else:
            yield path, value


DEFAULTS = dict(leaves(base.default_config().to_dict()))


def test_the_default_config_has_every_field_and_no_other():
    declared = {
        path: field.default if isinstance(field, Field) else {}
        for path, field in fields.every().items()
        if isinstance(field, Field) or path in DEFAULTS
    }
    assert declared == DEFAULTS


def test_groups_without_fields_have_fields_of_the_users_choice():
    empty = [path for path, value in DEFAULTS.items() if value == {}]
    assert empty and all(map(fields.is_open, empty))


@pytest.mark.parametrize("path", fields.every())
def test_it_has_a_sentence_and_a_rule_that_its_default_keeps(path):
    field = fields.every()[path]
    assert field.doc[0].isalnum() or field.doc[0] in "\"'("
    assert field.doc.endswith(".")
    if isinstance(field, Field):
        assert field.rule.words
        field.rule.check(path, field.default)
        with pytest.raises(ConfigError, match=path):
            field.rule.check(path, {"no": "field has this"})


@pytest.mark.parametrize("path", fields.every())
def test_it_stands_in_a_group_that_is_declared(path):
    parent = path.rpartition(".")[0]
    assert not parent or isinstance(fields.every()[parent], Group)


def test_no_field_is_declared_twice():
    parts = fields.by_task_type()
    assert set(parts) <= {"", *task_types.NAMES}
    assert sum(map(len, parts.values())) == len(fields.every())


def test_fields_of_one_task_type_stand_with_it():
    parts = fields.by_task_type()
    assert "model.tagging.decoder" in parts["tagging"]
    assert "evaluation.decoding.beam" in parts["translation"]
    assert "classification" not in parts
    assert not [path for path in parts[""] if path.endswith("decoding")]


def test_defaults_of_a_group_are_new_each_time():
    scheme = fields.defaults("model.scheme")
    assert scheme == base.default_config().model.scheme.to_dict()
    scheme["units"] = 3
    fields.defaults()["model"]["init"]["range"] = 3
    assert fields.defaults("model.scheme")["units"] == 100
    assert fields.defaults("model.init") == {}


def test_defaults_survive_json():
    plain = json.loads(json.dumps(fields.defaults()))
    assert list(plain) == list(fields.defaults())


def test_renamed_fields_lead_to_fields():
    assert not set(fields.RENAMED) & set(fields.every())
    assert set(fields.RENAMED.values()) <= set(fields.every())


def test_an_old_name_is_refused_with_the_new_one():
    fields.check_renamed("pipeline.schedules")
    fields.check_renamed("training.optimizer.schedule")
    with pytest.raises(ConfigError) as caught:
        fields.check_renamed("pipeline.schedule.name")
    assert str(caught.value) == (
        "the config field pipeline.schedule.name is called "
        "pipeline.mixing.name by now"
    )


def test_what_a_field_needs_is_another_field():
    every = fields.every()
    assert every["model.wide"].needs == ("model.wide.buckets",)
    for path, field in every.items():
        for needed in field.needs:
            other = needed.partition("=")[0]
            assert isinstance(every[other], Field) and other != path
