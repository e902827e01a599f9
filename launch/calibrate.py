"""Fits temperatures and thresholds to a run: `python -m launch.calibrate`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner, streams


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(values, "folder of a trained run")
    common_flags.define_data(values)
    flags.DEFINE_bool(
        "temperature",
        True,
        "fit a temperature to the probabilities of each task. With "
        "--notemperature, the run uses the model's own probabilities again",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "threshold",
        [],
        "fit the threshold from which a label is predicted; may be repeated. "
        "TASK=LABEL:f1 takes the threshold with the best F1. "
        "TASK=LABEL:precision=0.95 takes the one with this precision and the "
        "highest recall",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        "test",
        "split to score in addition to the validation split, before and after",
        flag_values=values,
    )
    common_flags.define_output(values, "scores")


def main(values: flags.FlagValues) -> None:
    """Fits, scores before and after, and prints the table."""
    wishes: dict[str, list[tuple[str, float]]] = {}
    for task, wish in map(parse_threshold, values.threshold):
        wishes.setdefault(task, []).append(wish)

    from mtl_tf.evaluation.tables import folding
    from mtl_tf.experiments import calibration

    calibrated = calibration.calibrate(
        values.model_dir,
        values.temperature,
        wishes,
        values.split,
        Directories(values.data_dir, values.manual_dir),
    )
    streams.write_json(values.output, calibrated)
    if values.output == "-":
        return
    rows = calibration.table(calibrated)
    for block in folding.blocks(rows, terminal.width(sys.stdout), (1,)):
        print("\n".join(block) + "\n")
    for sentence in calibration.settled_sentences(calibrated):
        print(sentence)


def parse_threshold(argument: str) -> tuple[str, tuple[str, float]]:
    """Reads `TASK=LABEL:f1` or `TASK=LABEL:precision=NUMBER`.

    Returns:
        The task, the label, and the precision, 0 for the best F1.

    Raises:
        ConfigError: it has another form.
    """
    task, _, rest = argument.partition("=")
    label, _, criterion = rest.rpartition(":")
    name, _, number = criterion.partition("=")
    wrong = ConfigError(
        "--threshold must be TASK=LABEL:f1 or TASK=LABEL:precision=NUMBER, "
        f"with a number above 0 and at most 1, got {argument!r}"
    )
    if not task or not label or name not in ("f1", "precision"):
        raise wrong
    if name == "f1":
        if number:
            raise wrong
        return task, (label, 0.0)
    try:
        precision = float(number)
    except ValueError:
        raise wrong
    if not 0.0 < precision <= 1.0:
        raise wrong
    return task, (label, precision)


PROGRAM = runner.Program(
    name="calibrate",
    summary="""
    Calibrates the probabilities of a trained run without training again. It
    fits a temperature for each task on the validation examples and, with
    --threshold, thresholds of labels. From then on, predictions, evaluations
    and exports of the run use them. A table shows how good the probabilities
    were before and are now.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("Temperatures for all tasks", "--model_dir=runs/quickstart"),
        (
            "Predict the label spam only if 95 of 100 such texts are spam",
            "--model_dir=runs/mails --threshold=mails=spam:precision=0.95",
        ),
        (
            "Use the model's own probabilities again",
            "--model_dir=runs/mails --notemperature",
        ),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-calibrate`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
