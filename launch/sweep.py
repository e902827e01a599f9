"""Grid search, seeds and cross-validation: `python -m launch.sweep`."""

import sys

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.programs import common_flags, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of the sweep: cells/SETTING/RUN, sweep.json, sweep.md. To "
        "continue a stopped sweep, repeat the command. With more values, "
        "seeds or folds, the same folder gets the runs that are missing",
    )
    common_flags.define_data(values)
    common_flags.define_strategy(values)
    flags.DEFINE_string(
        "grid",
        None,
        "config fields and their values: FIELD=VALUE,VALUE;FIELD=VALUE,VALUE. "
        "If not given: config.sweep.grid",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "folds",
        None,
        "number of folds of a cross-validation, with a run for each; 0 for "
        "the splits of the corpora. If not given: config.sweep.folds",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "seeds",
        None,
        "number of seeds, counted from config.seed. If not given: "
        "config.sweep.seeds",
        flag_values=values,
    )
    flags.DEFINE_bool(
        "retry",
        False,
        "also train the cells again that diverged",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> int:
    """Trains all cells and prints the table."""
    from mtl_tf.config_fields import validation

    config = validation.checked(_config(values))

    from mtl_tf.evaluation.tables import folding
    from mtl_tf.experiments import sweep, sweep_report

    report = sweep.sweep(
        config,
        model_dir=values.model_dir,
        data_dir=values.data_dir,
        manual_dir=values.manual_dir,
        strategy=values.strategy,
        validate=validation.validate,
        retry=values.retry,
        overridden=values["config"].overridden,
    )
    page = sweep_report.markdown(report)
    page = folding.page(page, terminal.width(sys.stdout))
    print(page, end="", flush=True)
    _check_failures(report)
    return 0


def _check_failures(report: dict) -> None:
    # That a setting diverges is a result; anything else may be repaired.
    failed = [
        cell["folder"]
        for setting in report["settings"]
        for cell in setting["cells"]
        if cell["status"] == "failed"
    ]
    if failed:
        raise RunError(
            f"{len(failed)} of the cells failed, see the table; the same "
            "command tries them again"
        )


def _config(values: flags.FlagValues) -> dict:
    """The config with what the flags say about the sweep."""
    config = values.config.to_dict()
    if "sweep" not in config:
        raise ConfigError(
            "the config field sweep is missing: start from "
            "mtl_tf.configs.base.default_config()"
        )
    for name in ("grid", "folds", "seeds"):
        if values[name].value is not None:
            config["sweep"][name] = values[name].value
    return config


PROGRAM = runner.Program(
    name="sweep",
    summary="""
    Trains a run for each setting of a grid of config fields, for several seeds
    and, if you ask for it, for each fold of a cross-validation. It selects the
    setting with the best validation score and shows its test scores. The table
    goes to standard output, progress to standard error.

    The table names settings that diverge. If a cell fails in another way, the
    exit status is 1. You can stop the sweep at any time with Ctrl-C. The same
    command continues it.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "Four settings on tasks that come with the package, some minutes",
            "--config=quickstart --model_dir=runs/grid "
            '--grid="training.optimizer.learning_rate=0.1,0.01;'
            'training.l2=0,1e-5"',
        ),
        (
            "Three seeds of one setting",
            "--config=quickstart --model_dir=runs/seeds --seeds=3",
        ),
        (
            "Ten-fold cross-validation",
            "--config=quickstart --model_dir=runs/folds --folds=10",
        ),
    ),
    required=("model_dir",),
    takes_config=True,
)


def run() -> None:
    """Entry point of `mtl-sweep`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
