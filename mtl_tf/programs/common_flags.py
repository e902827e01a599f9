"""Flags that several programs have, defined in one place."""

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
    """Defines `--data_dir` and `--manual_dir` with their environment."""
    flags.DEFINE_string(
        "data_dir",
        os.environ.get("MTL_TF_DATA_DIR") or None,
        "folder of the built datasets (environment: MTL_TF_DATA_DIR; else "
        "that of TensorFlow Datasets, ~/tensorflow_datasets)",
        flag_values=values,
    )
    flags.DEFINE_string(
        "manual_dir",
        os.environ.get("MTL_TF_MANUAL_DIR") or None,
        "folder that holds the folders of the corpora you have, such as "
        "fdu_mtl/ (environment: MTL_TF_MANUAL_DIR)",
        flag_values=values,
    )


def define_output(
    values: flags.FlagValues, noun: str = "results", more: str = ""
) -> None:
    """Defines `--output`, which `streams.write_json` takes."""
    flags.DEFINE_string(
        "output",
        None,
        f"JSON file for the {noun}{more}; - prints JSON in place of the table",
        flag_values=values,
    )


def define_strategy(values: flags.FlagValues) -> None:
    """Defines `--strategy`."""
    flags.DEFINE_enum(
        "strategy",
        "auto",
        STRATEGIES,
        "where to train: on one_device, mirrored on the GPUs of this machine, "
        "on multi_worker (TF_CONFIG or Slurm names them) or a tpu; auto takes "
        "the workers or the TPU that are named, else every GPU, else the CPU",
        flag_values=values,
    )
    flags.DEFINE_integer(
        VIRTUAL_CPUS,
        None,
        "divides the CPU into so many devices, to try --strategy=mirrored on "
        "a machine without GPUs: slower than one device",
        lower_bound=1,
        flag_values=values,
    )


def divide_cpu(values: flags.FlagValues) -> None:
    """Makes the devices of `--virtual_cpus`, before TensorFlow runs anything.

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
        "which weights of the run: those with the best validation score, or "
        "the last ones, of its newest checkpoint: of one step, also where "
        "training.average or training.average_last takes averages",
        flag_values=values,
    )


def define_decoding(values: flags.FlagValues) -> None:
    """Defines how texts are looked for; `decoding` reads it."""

    def about(name: str, meaning: str, answers: bool = True) -> str:
        runs, default = "translate", f"evaluation.decoding.{name}"
        if answers:
            runs = "translate or answer questions"
            default += f" or evaluation.answering.{name}"
        return f"of runs that {runs}: {meaning}; by default the run's {default}"

    for name, least, meaning in (
        ("beam", 1, "hypotheses of a text, 1 for greedy search"),
        ("n_best", 1, "translations or answers that are given"),
        (
            "max_length",
            0,
            "the most tokens of a text that is written; of a translation 0 "
            "for ten more than twice those of its source",
        ),
    ):
        flags.DEFINE_integer(
            name, None, about(name, meaning), least, flag_values=values
        )
    flags.DEFINE_float(
        "length_penalty",
        None,
        about("length_penalty", "exponent of the penalty on short ones"),
        lower_bound=0.0,
        flag_values=values,
    )
    flags.DEFINE_bool(
        "replace_unknown",
        None,
        about(
            "replace_unknown",
            "write the source word that was attended to most in place of an "
            "unknown one",
            answers=False,
        ),
        flag_values=values,
    )


def define_alignments(values: flags.FlagValues, place: str) -> None:
    """Defines `--alignments`; `decoding` reads it, too.

    Args:
        values: get the flag.
        place: what has them.
    """
    flags.DEFINE_bool(
        "alignments",
        None,
        f"of runs that translate: {place} also which source word each word of "
        "the translation attended to most; by default the run's "
        "evaluation.decoding.alignments",
        flag_values=values,
    )


def decoding(values: flags.FlagValues) -> dict[str, Any]:
    """Those flags of `define_decoding` that were given."""
    names = (
        *("beam", "n_best", "max_length"),
        *("length_penalty", "replace_unknown", "alignments"),
    )
    options = {name: values[name].value for name in names if name in values}
    return {name: value for name, value in options.items() if value is not None}
