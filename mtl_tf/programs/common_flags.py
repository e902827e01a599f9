"""Flags that several programs share, defined in one place."""

import os
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError

VIRTUAL_CPUS = "virtual_cpus"
STRATEGIES = ("auto", "one_device", "mirrored", "multi_worker", "tpu")


def define_model_dir(values: flags.FlagValues, help_text: str) -> None:
    """Defines `--model_dir`."""
    flags.DEFINE_string("model_dir", None, help_text, flag_values=values)


def define_data(values: flags.FlagValues) -> None:
    """Defines `--data_dir` and `--manual_dir`, with environment variables."""
    flags.DEFINE_string(
        "data_dir",
        os.environ.get("MTL_TF_DATA_DIR") or None,
        "folder of the built datasets. If not given: the environment variable "
        "MTL_TF_DATA_DIR, else the folder of TensorFlow Datasets, "
        "~/tensorflow_datasets",
        flag_values=values,
    )
    flags.DEFINE_string(
        "manual_dir",
        os.environ.get("MTL_TF_MANUAL_DIR") or None,
        "folder that contains the folders of your corpora, such as fdu_mtl/. "
        "If not given: the environment variable MTL_TF_MANUAL_DIR",
        flag_values=values,
    )


def define_output(
    values: flags.FlagValues, noun: str = "results", more: str = ""
) -> None:
    """Defines `--output`, which `streams.write_json` takes."""
    flags.DEFINE_string(
        "output",
        None,
        f"JSON file for the {noun}{more}. With -, prints JSON instead of the "
        "table",
        flag_values=values,
    )


def define_strategy(values: flags.FlagValues) -> None:
    """Defines `--strategy`."""
    flags.DEFINE_enum(
        "strategy",
        "auto",
        STRATEGIES,
        "which devices train: one_device, mirrored (all GPUs of this "
        "machine), multi_worker (the workers that TF_CONFIG or Slurm names) "
        "or tpu. auto takes the workers or the TPU that the environment "
        "names, else all GPUs, else the CPU",
        flag_values=values,
    )
    flags.DEFINE_integer(
        VIRTUAL_CPUS,
        None,
        "number of devices to split the CPU into. This tries "
        "--strategy=mirrored on a machine without GPUs; it is slower than one "
        "device",
        lower_bound=1,
        flag_values=values,
    )


def divide_cpu(values: flags.FlagValues) -> None:
    """Creates the devices of `--virtual_cpus`, before TensorFlow starts.

    Raises:
        ConfigError: another strategy would train, or there are GPUs.
    """
    count = values[VIRTUAL_CPUS].value if VIRTUAL_CPUS in values else None
    if not count:
        return
    import tensorflow as tf

    if values.strategy != "mirrored":
        raise ConfigError(
            f"--{VIRTUAL_CPUS} is for --strategy=mirrored, got "
            f"--strategy={values.strategy}"
        )
    if gpus := tf.config.list_physical_devices("GPU"):
        raise ConfigError(
            f"--{VIRTUAL_CPUS} is for machines without GPUs, and --strategy="
            f"mirrored takes the {len(gpus)} of this one: leave it out, or "
            "hide them with CUDA_VISIBLE_DEVICES=-1"
        )
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * count
    tf.config.set_logical_device_configuration(cpu, parts)


def define_weights(values: flags.FlagValues) -> None:
    """Defines `--weights`, which `mtl_tf.load` takes."""
    flags.DEFINE_enum(
        "weights",
        "best",
        ("best", "last"),
        "which weights of the run to use: best has the best validation score, "
        "last is from the newest checkpoint. last is the weights of one step, "
        "even if training.average or training.average_last averages weights",
        flag_values=values,
    )


def define_decoding(values: flags.FlagValues) -> None:
    """Defines the flags of the search for texts; `decoding` reads them."""

    def about(name: str, meaning: str, answers: bool = True) -> str:
        runs, default = "For translation", f"evaluation.decoding.{name}"
        if answers:
            runs += " and question answering"
            default += f" or evaluation.answering.{name}"
        return f"{meaning}. {runs}. If not given: the run's {default}"

    for name, least, meaning in (
        ("beam", 1, "hypotheses of the beam search; 1 is greedy search"),
        ("n_best", 1, "number of translations or answers for each text"),
        (
            "max_length",
            0,
            "maximum number of tokens of a translation or an answer. For a "
            "translation, 0 means ten more than twice the tokens of its source",
        ),
    ):
        flags.DEFINE_integer(
            name, None, about(name, meaning), least, flag_values=values
        )
    flags.DEFINE_float(
        "length_penalty",
        None,
        about(
            "length_penalty",
            "exponent of the penalty on short translations or answers",
        ),
        lower_bound=0.0,
        flag_values=values,
    )
    flags.DEFINE_bool(
        "replace_unknown",
        None,
        about(
            "replace_unknown",
            "replace each unknown word by the source word with the most "
            "attention",
            answers=False,
        ),
        flag_values=values,
    )


def define_alignments(values: flags.FlagValues, outputs: str) -> None:
    """Defines `--alignments`, which `decoding` also reads.

    Args:
        values: the flag values.
        outputs: the names of the outputs with alignments.
    """
    flags.DEFINE_bool(
        "alignments",
        None,
        "also give the source word with the most attention for each word of "
        f"a translation, {outputs}. If not given: the run's "
        "evaluation.decoding.alignments",
        flag_values=values,
    )


def decoding(values: flags.FlagValues) -> dict[str, Any]:
    """The given ones among the flags of `define_decoding`."""
    names = (
        "beam",
        "n_best",
        "max_length",
        "length_penalty",
        "replace_unknown",
        "alignments",
    )
    options = {name: values[name].value for name in names if name in values}
    return {name: value for name, value in options.items() if value is not None}
