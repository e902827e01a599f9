"""Flags that several programs have, defined in one place."""

import os

from absl import flags

STRATEGIES = ("auto", "one_device", "mirrored")


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


def define_strategy(values: flags.FlagValues) -> None:
    """Defines `--strategy`."""
    flags.DEFINE_enum(
        "strategy",
        "auto",
        STRATEGIES,
        "where to train: auto takes every GPU of this machine, else the CPU",
        flag_values=values,
    )
