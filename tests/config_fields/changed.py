"""The default config with a changed field, and what is said of it."""

import pytest

from mtl_tf.config_fields import validation
from mtl_tf.configs import base
from mtl_tf.core.errors import ConfigError


def config_with(path, value):
    config = base.default_config().to_dict()
    *parents, last = path.split(".")
    here = config
    for name in parents:
        here = here[name]
    here[last] = value
    return config


def error(path, value):
    with pytest.raises(ConfigError) as caught:
        validation.validate(config_with(path, value))
    return str(caught.value)
