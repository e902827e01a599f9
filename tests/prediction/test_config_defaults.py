"""What runs take for a field that is missing is the config's default."""

import dataclasses

from mtl_tf.config_fields import fields
from mtl_tf.prediction.translating import Decoding


def test_decoding():
    default = fields.defaults("evaluation.decoding")
    assert dataclasses.asdict(Decoding()) == default
    config = {"evaluation": {"decoding": default}}
    assert Decoding.of_config(config) == Decoding()
