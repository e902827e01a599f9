"""Exports a trained run for TensorFlow Serving: `export.saved_model`."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from absl import flags, logging

from mtl_tf.core import checks, digests, files
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, DataError, RunError
from mtl_tf.core.names import RESERVED_TASKS
from mtl_tf.programs import common_flags, runner

if TYPE_CHECKING:
    from mtl_tf.runs.loaded_run import Run

WEIGHTS = ("float32", "bfloat16", "int8")
_WARMUP_TEXTS = (
    "a good one , i would buy it again",
    "not what i hoped for .",
    "",
)


def next_version(export_dir: str) -> int:
    """One more than the largest version in `export_dir`, or 1."""
    names = os.listdir(export_dir) if os.path.isdir(export_dir) else []
    return max((int(n) for n in names if n.isdecimal()), default=0) + 1


def export(
    run: "Run", export_dir: str, version: int = 0, weights: str = "float32"
) -> str:
    """Writes a run as one version directory of a SavedModel.

    The export has float32 weights and computes in float32, in whatever
    precision the run was trained, as servers' processors do best. It has a
    signature for each task, by the task's name, with the inputs and outputs of
    its type, such as `text -> label, scores, classes` (see
    `export.task_types`). If all tasks have one type, `serving_default(text,
    task)` takes rows of any task (for question answering
    `serving_default(question, context)`). Several types have different outputs,
    so there is no `serving_default`. The vocabularies are saved as assets.
    Labels, results, decoding options and warm-up requests are in
    `assets.extra`.

    Args:
        run: the return value of `mtl_tf.load`.
        export_dir: the parent of the versions, as a model server expects.
        version: the version number; 0 for the next free one.
        weights: the format of the stored weights; see `stored_weights`.

    Returns:
        The version directory.

    Raises:
        RunError: the version exists already, or `export_dir` is not writable.
        ConfigError: a task has the name of a reserved signature, the format of
            weights is unknown, or the run was loaded with its last weights.
    """
    check(run, export_dir, version, weights)
    if not run.directory.has("results.json"):
        logging.warning(
            "The training in %s has not come to its end: its best weights so "
            "far are exported.",
            run.directory.path,
        )
    with files.hidden_directory(_path(export_dir, version)) as directory:
        _write(run, directory, weights)
        return _published(directory, export_dir, version)


def check(run: "Run", export_dir: str, version: int, weights: str) -> None:
    """Refuses what `export` refuses, with the same arguments and errors."""
    if not export_dir:
        raise ConfigError("export_dir must name a folder, got ''")
    checks.one_of("weights", weights, WEIGHTS)
    run.check_best("an export, with its results.json,")
    checks.not_negative_integer("version", version)
    for task in run.tasks:
        # Configs refuse such names, but a run may be older than that check.
        if task["name"] in RESERVED_TASKS:
            raise ConfigError(
                f"a task cannot be exported under the name {task['name']!r}: "
                f"{', '.join(RESERVED_TASKS)} are reserved"
            )
    with files.hidden_directory(_path(export_dir, version)):
        pass  # It will be created.


def _path(export_dir: str, version: int) -> str:
    return os.path.join(export_dir, str(version or next_version(export_dir)))


def _published(directory: str, export_dir: str, version: int) -> str:
    """Renames a complete export to its version and returns the path.

    Another export may have taken the version in the meantime.
    """
    while True:
        path = _path(export_dir, version)
        try:
            files.publish(directory, path)
        except RunError:
            if version:
                raise
        else:
            return path


def _write(run: "Run", directory: str, weights: str) -> None:
    import keras
    import tensorflow as tf

    from mtl_tf.runs.run_directory import RunDirectory

    from . import exported_files, serving, stored_weights, warmup

    models = _models(run)
    # Stored instead of the models, as Keras's archive writes their weights
    # twice.
    stored = {
        number: stored_weights.StoredWeights(model, weights)
        for number, model in {id(m): m for m in models}.items()
    }
    served = serving.all_served(run, models, stored)
    functions = serving.functions(served, run.tasks)
    archive = keras.export.ExportArchive()
    for item in stored.values():
        archive.track(item)
    # Keras's archive tracks tables only inside their own module.
    tables = tf.Module()
    tables.all = list(run.encoder.tables)
    tables.more = [t for item in served.values() for t in item.tables]
    archive.track(tables)
    for name, function in functions.items():
        archive.add_endpoint(name, function)
    # Servers do not need backward loops, which take half of the tracing.
    options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
    archive.write_out(directory, options, verbose=False)
    _clean(
        directory,
        drop=() if serving.DEFAULT in functions else (serving.DEFAULT,),
    )
    warmup.write(directory, _warmup_calls(functions, served))
    extra = os.path.join(directory, exported_files.FOLDER)
    for name in ("labels.json", "results.json", "config.json"):
        if run.directory.has(name):
            RunDirectory(extra).write(name, run.directory.read(name))
    for item in served.values():
        for name, value in item.extra.items():
            files.write_json(os.path.join(extra, name), value)
    # TensorFlow itself has checksums of the weights.
    names = [
        *(f"assets/{name}" for name in os.listdir(f"{directory}/assets")),
        "saved_model.pb",
        f"{exported_files.FOLDER}/labels.json",
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
    from tensorflow.core.protobuf import saved_model_pb2

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


def _models(run: "Run") -> list:
    """The model of each task; copies where fine-tuned weights differ."""
    from mtl_tf.runs.building import build

    by_weights: dict[str, Any] = {}
    models = []
    for task in run.tasks:
        path = run.weights_for(task["name"])
        if path not in by_weights:
            # An export computes in float32, whatever the precision of training.
            training = {**run.config["training"], "mixed_precision": "float32"}
            config = {**run.config, "training": training}
            copy = build(config, run.encoder, run.tasks)
            copy.set_weights(run.model.get_weights())
            by_weights[path] = copy
        models.append(by_weights[path])
    return models


def _warmup_calls(
    functions: Mapping[str, Any], served: Mapping[str, Any]
) -> list[dict[str, Any]]:
    import tensorflow as tf

    from . import serving

    inputs_of = {
        n: of_type.inputs for of_type in served.values() for n in of_type.names
    }
    names = list(inputs_of)
    names_tasks = next(iter(served.values())).names_tasks
    calls = []
    for signature, function in functions.items():
        texts = list(_WARMUP_TEXTS)
        strings = inputs_of.get(signature, inputs_of[names[0]])
        inputs = {}
        if signature == serving.DEFAULT and names_tasks:
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
    import numpy as np

    array = value.numpy()
    if array.dtype == object:
        array = np.vectorize(bytes.decode, otypes=[object])(array)
    return array.tolist()


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_string(
        "model_dir", None, "folder of the trained run", flag_values=values
    )
    flags.DEFINE_string(
        "export_dir",
        None,
        "folder to write the numbered version to, in the layout of model "
        "servers",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "version",
        0,
        "number of the version; 0 for the next one",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "weights",
        "float32",
        WEIGHTS,
        "type of the stored weights. bfloat16 and int8 (with a scale for each "
        "channel) are converted to float32 when a text is read. The change of "
        "the scores is printed",
        flag_values=values,
    )
    flags.DEFINE_string(
        "score_split",
        "validation",
        'split on which to measure the change of the scores; "" for none',
        flag_values=values,
    )
    common_flags.define_data(values)
    common_flags.define_decoding(values)
    common_flags.define_alignments(values, "as an output of signatures")


def main(values: flags.FlagValues) -> None:
    """Exports and prints the version directory."""
    import tensorflow as tf

    # With a visible GPU, an export can contain kernels for GPUs only.
    tf.config.set_visible_devices([], "GPU")
    import mtl_tf
    from mtl_tf.training.signals import sigterm_raises

    run = mtl_tf.load(values.model_dir, common_flags.decoding(values))
    with sigterm_raises("stopped before the export was complete"):
        # Before writing anything, as a flag may be wrong.
        check(run, values.export_dir, values.version, values.weights)
        change = _change(run, values)
        path = export(run, values.export_dir, values.version, values.weights)
    if values.weights != "float32":
        _print_size(run, path, values.weights)
    for name, (metric, before, after) in change.items():
        print(
            f"{name} {values.score_split} {metric}: {before:.2f} as float32, "
            f"{after:.2f} as {values.weights}, {after - before:+.2f}"
        )
    logging.info("Check it with: %s --model=%s", _check_command(), path)
    print(path)


def _change(run: "Run", values: flags.FlagValues) -> dict[str, tuple]:
    """How much the stored format changes the scores, if asked for."""
    from . import stored_weights

    if values.weights == "float32" or not values.score_split:
        return {}
    directories = Directories(values.data_dir, values.manual_dir)
    try:
        return stored_weights.change_of_scores(
            run, values.weights, values.score_split, directories
        )
    except DataError as error:
        logging.warning("The scores are not compared: %s", error)
        return {}
    finally:
        run.loaded = None  # its weights are rounded now


def _print_size(run: "Run", path: str, weights: str) -> None:
    """Prints how much space the stored format saves."""
    size = sum(
        os.path.getsize(os.path.join(path, "variables", name))
        for name in os.listdir(os.path.join(path, "variables"))
    )
    copies = len({run.weights_for(task["name"]) for task in run.tasks})
    full_size = 4 * copies * run.model.count_params()
    print(
        f"weights: {size / 1e6:.1f} MB as {weights}, "
        f"{full_size / 1e6:.1f} MB as float32"
    )


def _check_command() -> str:
    """The command of `export.check` for the way this program was started."""
    if PROGRAM.command() == PROGRAM.installed_as():
        return "mtl-check"  # The package `export` is not here to start.
    return "python -m export.check"


PROGRAM = runner.Program(
    name="saved_model",
    package="export",
    script="mtl-export",
    summary="""
    Exports the best weights of a trained run as a SavedModel that takes raw
    strings. It has a signature for each task. If all tasks are of one type,
    serving_default takes texts of any task. An export is complete or absent.
    Existing versions are never changed.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Export a run",
            "--model_dir=runs/quickstart --export_dir=runs/quickstart/export",
        ),
        (
            "A quarter of the size",
            "--model_dir=runs/quickstart --export_dir=runs/small "
            "--weights=int8",
        ),
    ),
    required=("model_dir", "export_dir"),
)


def run() -> None:
    """Entry point of `mtl-export`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
