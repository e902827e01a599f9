"""Registries of sharing schemes and character features by name."""

from collections.abc import Mapping

from mtl_tf.core import checks, own_functions
from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import hint, look_up
from mtl_tf.layers.inputs.character_features import (
    CharacterCNN,
    CharacterFeatures,
    CharacterLSTM,
)
from mtl_tf.models import own_layers
from mtl_tf.models.scheme import SharingScheme
from mtl_tf.models.schemes.adversarial import AdversarialScheme
from mtl_tf.models.schemes.arc_i import ArcIScheme
from mtl_tf.models.schemes.arc_ii import ArcIIScheme
from mtl_tf.models.schemes.direct import DirectScheme
from mtl_tf.models.schemes.hyper_lstm import HyperLSTMScheme
from mtl_tf.models.schemes.lstm import LSTMScheme
from mtl_tf.models.schemes.me_lstm import MELSTMScheme
from mtl_tf.models.schemes.meta_lstm import MetaLSTMScheme
from mtl_tf.models.schemes.mt_cnn import MTCNNScheme
from mtl_tf.models.schemes.mt_dnn import MTDNNScheme
from mtl_tf.models.schemes.nbow import NBOWScheme
from mtl_tf.models.schemes.shared_private import ParallelScheme, SerialScheme
from mtl_tf.models.schemes.transformer_layerwise import (
    LayerwiseExplicitScheme,
    LayerwiseImplicitScheme,
)
from mtl_tf.models.schemes.transformer_stack import (
    StackCLSScheme,
    StackPoolingScheme,
)

# A new scheme needs one file in schemes/ and one line here.
SCHEMES = {
    "arc_i": ArcIScheme,
    "arc_ii": ArcIIScheme,
    "asp": AdversarialScheme,
    "direct": DirectScheme,
    "hyper_lstm": HyperLSTMScheme,
    "l_e": LayerwiseExplicitScheme,
    "l_i": LayerwiseImplicitScheme,
    "lstm": LSTMScheme,
    "me_lstm": MELSTMScheme,
    "meta_lstm": MetaLSTMScheme,
    "mt_cnn": MTCNNScheme,
    "mt_dnn": MTDNNScheme,
    "nbow": NBOWScheme,
    "psp": ParallelScheme,
    "s_c": StackCLSScheme,
    "s_p": StackPoolingScheme,
    "ssp": SerialScheme,
}

CHARACTERS = {
    "cnn": CharacterCNN,
    "lstm": CharacterLSTM,
}


def make_scheme(
    config: Mapping,
    tasks: int,
    init: Mapping | None = None,
    dtype: str = "float32",
) -> SharingScheme:
    """Makes the scheme that `config["name"]` names.

    Args:
        config: "name", and options of the scheme's constructor. The name may
            also be the path of a user's class such as "my_scheme.py:MyScheme"
            (see `own_functions.load`).
        tasks: number of tasks.
        init: how the weights are initialised.
        dtype: the dtype policy of the scheme.

    Raises:
        ConfigError: the name, an option or a value is wrong.
    """
    known, name = SCHEMES, config.get("name", "")
    if own_functions.is_own(name):
        known = {name: own_layers.load_scheme(name)}
    parts = {"init": init, "dtype": dtype}
    with checks.options_of("model.scheme", config):
        scheme = _make(config, known, "scheme", parts, tasks=tasks)
    if dtype != "float32" and not scheme.half_precision:
        raise ConfigError(
            f"training.mixed_precision is {dtype!r}, but the scheme {name} "
            "computes in float32 only: leave it at 'float32', or set "
            "half_precision = True in the scheme's class"
        )
    return scheme


def make_characters(
    config: Mapping | None, parts: Mapping | None = None
) -> CharacterFeatures | None:
    """Makes the character features that `config["name"]` names.

    Args:
        config: "name", and options of the constructor. The name "none", or None
            as config, means no features.
        parts: "init", how the weights are initialised, and "dtype".

    Raises:
        ConfigError: the name, an option or a value is wrong.
    """
    if not config or config.get("name") == "none":
        return None
    return _make(config, CHARACTERS, "characters", parts or {})


def _make(config: Mapping, known: Mapping, name: str, parts: Mapping, **fixed):
    """Makes the layer that a config names, with the config's options."""
    options = dict(config)
    layer = look_up(options.pop("name", ""), known, name)
    # Keras layers accept any keyword argument, so the options of a layer are
    # taken from its `get_config`.
    fields = set(layer(**fixed).get_config())
    fields -= {"name", "trainable", "dtype", "init", *fixed}
    for option in options:
        if option in fields:
            continue
        message = f"{name} {config['name']!r} has no option {option!r}; "
        message += hint(option, fields)
        if any(
            option in other(**fixed).get_config() for other in known.values()
        ):
            # Most likely, only the name was changed.
            message += (
                " (another name has other options: give them together, as "
                f"{{'name': {config['name']!r}, ...}})"
            )
        raise ConfigError(message)
    return layer(name=name, **parts, **fixed, **options)
