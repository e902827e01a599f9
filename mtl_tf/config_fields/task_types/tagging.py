"""The config fields of tagging tasks."""

from mtl_tf.config_fields import rules
from mtl_tf.config_fields.field import Field, Group

TYPE = {
    "model.tagging": Group("How the tags of a sentence are decoded."),
    "model.tagging.decoder": Field(
        "crf",
        rules.one_of("crf", "softmax"),
        "crf, or softmax for each token on its own.",
    ),
    "model.tagging.constraints": Field(
        True,
        rules.BOOLEAN,
        "Whether a CRF forbids transitions that the span scheme of the labels "
        "does not allow.",
    ),
    "model.tagging.per_token": Field(
        True,
        rules.BOOLEAN,
        "Whether the loss of a sentence is divided by its number of tokens. "
        "Without this, it is about thirty where the loss of a text's label is "
        "about one, and tasks of whole texts learn too little. The papers do "
        "not divide.",
        before=False,
        since=3,
    ),
}
