"""A builder takes for a missing field what the papers' configs have."""

from mtl_tf.config_fields import fields
from mtl_tf.configs import base
from mtl_tf.models import components
from mtl_tf.models.translation import options as translation_options


def test_parts_of_a_multi_task_model():
    model = base.paper_config().model
    assert components.checked_dropout(None) == model.dropout.to_dict()
    assert components.checked_head(None) == fields.defaults("model.head")


def test_translation():
    default = fields.defaults("model.translation")
    dropout, output = default.pop("dropout"), default.pop("output")
    assert dropout == translation_options.DROPOUT
    assert output == translation_options.OUTPUT
    assert default.items() <= translation_options.DEFAULTS.items()
    others = {"name": "multi_target", "dropout": {}, "output": {}}
    assert default | others == translation_options.DEFAULTS
