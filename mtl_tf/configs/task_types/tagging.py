"""The config fields of tagging tasks."""

from mtl_tf.configs import rules
from mtl_tf.configs.field import Field, Group

TYPE = {
    "model.tagging": Group("How the tags of a sentence are decoded."),
    "model.tagging.decoder": Field(
        "crf",
        rules.one_of("crf", "softmax"),
        "crf, or softmax for every token by itself.",
    ),
    "model.tagging.constraints": Field(
        True,
        rules.BOOLEAN,
        "Whether a CRF forbids transitions that the span scheme of the labels "
        "does not have.",
    ),
    "model.tagging.per_token": Field(
        True,
        rules.BOOLEAN,
        "Whether a sentence's loss is divided by its tokens: one of thirty "
        "beside losses of about one, of whole texts' labels, leaves those "
        "tasks behind. The papers do not.",
        before=False,
        since=3,
    ),
}
