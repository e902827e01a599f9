"""Writes a page about a trained run: `python -m launch.analyse`."""

import os

from absl import flags

from mtl_tf.core import files
from mtl_tf.core.errors import ConfigError
from mtl_tf.programs import common_flags, runner

_NAME = "analysis.html"


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "model_dir",
        [],
        "folder of a finished run. For several seeds of one config: their "
        "folders, separated by commas, or the folder that contains seed_1, "
        "seed_2, ...",
        flag_values=values,
    )
    flags.DEFINE_string(
        "split",
        None,
        "split to show. If not given: that of results.json. A split that the "
        "run was not scored on is scored first",
        flag_values=values,
    )
    flags.DEFINE_string(
        "output",
        None,
        f"file of the page. If not given: {_NAME} in the first run's folder",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "examples",
        20,
        "number of mistakes to show for each task",
        lower_bound=0,
        flag_values=values,
    )
    common_flags.define_data(values)


def main(values: flags.FlagValues) -> None:
    """Analyses the run and writes the page."""
    from mtl_tf.analysis import page, run_analysis
    from mtl_tf.figures import drawing, style

    paths = [named.path for named in drawing.all_named(values.model_dir)]
    output = values.output or os.path.join(paths[0], _NAME)
    if not output.lower().endswith((".html", ".htm")):
        raise ConfigError(f"--output={output} must end with .html")
    if values.output:
        files.check_file(output)
    style.check_installed()  # Told before anything is scored.
    analysis = run_analysis.analyse(
        paths,
        values.split or "",
        values.examples,
        values.data_dir,
        values.manual_dir,
    )
    files.write_text(output, page.page(analysis))
    print(output)


PROGRAM = runner.Program(
    name="analyse",
    summary="""
    Writes a report on a finished run: one HTML page that needs no other file
    and no network. It shows the scores of each task, precision, recall and F1
    of each class or type, confusion matrices, the worst mistakes with their
    texts, learning curves, and how the training ended.

    For several seeds of one config, it shows the spread of the scores, and
    curves with bands. It needs matplotlib: pip install 'mtl_tf[figures]'.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("One run", "--model_dir=runs/quickstart"),
        (
            "The validation examples, with 50 mistakes of each task",
            "--model_dir=runs/quickstart --split=validation --examples=50 "
            "--output=validation.html",
        ),
        (
            "Three seeds of one config",
            "--model_dir=runs/seed_1,runs/seed_2,runs/seed_3 "
            "--output=seeds.html",
        ),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-analyse`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
