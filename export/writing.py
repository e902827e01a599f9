"""Writes a SavedModel with its warm-up requests and further files."""

import os
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from mtl_tf.core import digests, files
from mtl_tf.runs.directory.run_directory import RunDirectory

from . import exported_files, serving, warmup
from .served_graph import ServedGraph

_WARMUP_TEXTS = (
    "a good one , i would buy it again",
    "not what i hoped for .",
    "",
)


def write(graph: ServedGraph, directory: str) -> None:
    """Writes a version's files.

    Args:
        graph: what is served.
        directory: the version's directory, which exists and is empty.
    """
    archive = keras.export.ExportArchive()
    for item in graph.weights:
        archive.track(item)
    # Keras's archive tracks tables only inside their own module.
    tables = tf.Module()
    tables.all = list(graph.tables)
    archive.track(tables)
    for name, function in graph.functions.items():
        archive.add_endpoint(name, function)
    # Servers do not need backward loops, which take half of the tracing.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    archive.write_out(directory, options, verbose=False)
    has_default = serving.DEFAULT in graph.functions
    _clean(directory, drop=() if has_default else (serving.DEFAULT,))
    warmup.write(directory, _warmup_calls(graph))
    extra = os.path.join(directory, exported_files.FOLDER)
    for name, value in graph.files.items():
        RunDirectory(extra).write(name, value)
    # TensorFlow itself has checksums of the weights.
    names = [
        *(f"assets/{name}" for name in os.listdir(f"{directory}/assets")),
        "saved_model.pb",
        f"{exported_files.FOLDER}/{exported_files.LABELS}",
        # A server refuses a version whose requests it cannot read.
        f"{exported_files.FOLDER}/{warmup.REQUESTS}",
    ]
    digest_of = digests.of_files(directory, names)
    files.write_json(os.path.join(extra, digests.FILE), digest_of)


def _clean(directory: str, drop: Sequence[str]) -> None:
    """Removes from a SavedModel what servers do not need.

    First, signatures. Keras names the first endpoint also `serving_default` if
    there is none, and the task that it answers for would be arbitrary. Second,
    names of gradients that are not in the file: Python warns of each when the
    model is loaded.

    Args:
        directory: the SavedModel's directory.
        drop: names of the signatures to remove.
    """
    path = os.path.join(directory, "saved_model.pb")
    with open(path, "rb") as file:
        model = saved_model_pb2.SavedModel.FromString(file.read())
    (graph,) = model.meta_graphs
    for name in drop:
        del graph.signature_def[name]
    for node in graph.object_graph_def.nodes:
        for child in list(node.children):
            if child.local_name in drop:
                node.children.remove(child)
    changed = bool(drop)
    for function in graph.graph_def.library.function:
        for node in function.node_def:
            if "_gradient_op_type" in node.attr:
                del node.attr["_gradient_op_type"]
                changed = True
    if not changed:
        return
    with open(path, "wb") as file:
        file.write(model.SerializeToString(deterministic=True))
    # It belongs to the old file, and models do not need one.
    os.unlink(os.path.join(directory, "fingerprint.pb"))


def _warmup_calls(graph: ServedGraph) -> list[dict[str, Any]]:
    names = list(graph.inputs)
    calls = []
    for signature, function in graph.functions.items():
        texts = list(_WARMUP_TEXTS)
        strings = graph.inputs.get(signature, graph.inputs[names[0]])
        inputs = {}
        if signature == serving.DEFAULT and graph.names_tasks:
            texts = list(_WARMUP_TEXTS[:1]) * (len(names) + 1)
            inputs["task"] = [*names, "no such task"]
        inputs = dict.fromkeys(strings, texts) | inputs
        tensors = {k: tf.constant(v) for k, v in inputs.items()}
        outputs = {
            key: _plain(value) for key, value in function(**tensors).items()
        }
        calls.append(
            {"signature": signature, "inputs": inputs, "outputs": outputs}
        )
    return calls


def _plain(value: Any) -> list:
    array = value.numpy()
    if array.dtype == object:
        array = np.vectorize(bytes.decode, otypes=[object])(array)
    return array.tolist()
