"""Warm-up requests for TensorFlow Serving, with recorded answers.

The messages are those of tensorflow_serving's `prediction_log.proto`. Their few
fields are declared here, because the package that contains them lags behind
TensorFlow's releases.
"""

import functools
import os
from typing import Any

import tensorflow as tf
from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    wrappers_pb2,
)
from tensorflow.core.framework import tensor_pb2

from mtl_tf.core import files

from . import exported_files

REQUESTS = "tf_serving_warmup_requests"

_PACKAGE = "mtl_tf.warmup"
_TEXT, _MESSAGE = 9, 11
# Message: fields as (name, number, type, message type, repeated).
_MESSAGES = {
    "ModelSpec": [
        ("name", 1, _TEXT, None, False),
        ("version", 2, _MESSAGE, ".google.protobuf.Int64Value", False),
        ("signature_name", 3, _TEXT, None, False),
    ],
    "InputsEntry": [
        ("key", 1, _TEXT, None, False),
        ("value", 2, _MESSAGE, ".tensorflow.TensorProto", False),
    ],
    "PredictRequest": [
        ("model_spec", 1, _MESSAGE, f".{_PACKAGE}.ModelSpec", False),
        ("inputs", 2, _MESSAGE, f".{_PACKAGE}.InputsEntry", True),
    ],
    "PredictLog": [
        ("request", 1, _MESSAGE, f".{_PACKAGE}.PredictRequest", False)
    ],
    "PredictionLog": [
        ("predict_log", 6, _MESSAGE, f".{_PACKAGE}.PredictLog", False)
    ],
}


@functools.cache
def _message_class(name: str) -> Any:
    pool = descriptor_pool.Default()
    try:
        pool.FindFileByName(f"{_PACKAGE}.proto")
    except KeyError:
        pool.Add(_file())
    descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(descriptor)


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[
            wrappers_pb2.DESCRIPTOR.name,
            tensor_pb2.DESCRIPTOR.name,
        ],
    )
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, number, kind, type_name, repeated in fields:
            message.field.add(
                name=field,
                number=number,
                type=kind,
                type_name=type_name,
                label=3 if repeated else 1,
            )
    return file


def request(signature: str, inputs: dict[str, list[str]]) -> bytes:
    """A serialized PredictionLog for a call with lists of strings."""
    log = _message_class("PredictionLog")()
    call = log.predict_log.request
    call.model_spec.signature_name = signature
    for name, values in inputs.items():
        # On the wire, a map field equals a repeated entry message.
        entry = call.inputs.add(key=name)
        entry.value.CopyFrom(tf.make_tensor_proto(values, tf.string))
    return log.SerializeToString()


def write(directory: str, calls: list[dict[str, Any]]) -> None:
    """Writes the warm-up file and the answers into a version directory.

    Args:
        directory: the version directory.
        calls: dicts of `signature`, `inputs` and `outputs`.
    """
    folder = files.make_directory(
        os.path.join(directory, exported_files.FOLDER)
    )
    path = os.path.join(folder, REQUESTS)
    with tf.io.TFRecordWriter(path) as writer:
        for call in calls:
            writer.write(request(call["signature"], call["inputs"]))
    files.write_json(os.path.join(folder, exported_files.ANSWERS), calls)
