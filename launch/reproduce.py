"""Reproduces a table of a paper: `python -m launch.reproduce`."""

import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mtl_tf.core import terminal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, MissingData, MtlError, RunError
from mtl_tf.programs import common_flags, config_argument, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of the table: a run directory for each row and seed, table.md "
        "and table.json. To continue, repeat the command",
    )
    common_flags.define_data(values)
    flags.DEFINE_string(
        "table",
        None,
        "table to reproduce, such as meta_mtl/3, or "
        "multi_target_nmt/3_multi30k for its experiment on a small corpus. A "
        "wrong name lists all tables. FILE.py:NAME is a table of your own "
        "(docs/add_an_experiment.md)",
        flag_values=values,
    )
    flags.DEFINE_integer(
        "seeds",
        3,
        "number of runs of each row",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_list(
        "rows",
        [],
        "rows to run, such as lstm,arc_i; if empty: all",
        flag_values=values,
    )
    flags.DEFINE_list(
        "columns",
        [],
        "kinds of rows to run, from single,mtl,transfer,baseline; if empty: "
        "all",
        flag_values=values,
    )
    flags.DEFINE_string(
        "vectors",
        "",
        "file of pretrained word vectors for all rows",
        flag_values=values,
    )
    flags.DEFINE_multi_string(
        "override",
        [],
        "FIELD=VALUE changes a config field of every row, such as "
        "training.epochs=2; may be repeated. The table lists these changes",
        flag_values=values,
    )
    common_flags.define_strategy(values)
    flags.DEFINE_bool(
        "dry_run", False, "list the runs without training", flag_values=values
    )


def main(values: flags.FlagValues) -> int:
    """Does the runs and prints the table."""
    from mtl_tf.evaluation.tables import folding
    from mtl_tf.experiments import planned_runs, reproduce, table_page
    from mtl_tf.experiments.present_tasks import PresentTasks
    from mtl_tf.training.distribution import strategies

    strategies.check_one_process(values.strategy, "launch.reproduce")
    table = reproduce.find_table(values.table)
    overrides = tuple(values.override)
    if values.vectors and not os.path.isfile(values.vectors):
        raise ConfigError(f"--vectors: there is no file {values.vectors}")
    changes = [*overrides]
    if values.vectors:
        changes.append(f"text.vectors={os.path.abspath(values.vectors)}")
    present = PresentTasks(table, values.data_dir, values.manual_dir)
    planned = planned_runs.plan(
        table,
        lambda row: present(row_config(table.config, row, changes)),
        values.model_dir,
        values.seeds,
        [name.strip() for name in values.rows],
        [name.strip() for name in values.columns],
    )
    _check_used(planned, changes)
    if changes:
        _check_choices(planned, Directories(values.data_dir, values.manual_dir))
    if values.dry_run:
        for run in planned:
            print(f"{run.state:8}  {run.row.name:12}  {run.path}")
        return 0
    present.check(planned)
    settings = reproduce.Settings(
        data_dir=values.data_dir,
        manual_dir=values.manual_dir,
        strategy=values.strategy,
        command=_command(),
        overrides=overrides,
        absent=present.absent,
        thinned=present.thinned,
    )
    report = reproduce.reproduce(table, planned, values.model_dir, settings)
    page = table_page.markdown(report)
    print(folding.page(page, terminal.width(sys.stdout)), end="")
    _check_failures(planned)
    return 0


def row_config(config: str, row: Any, changes: list[str]) -> dict[str, Any]:
    """The validated config of a table's row.

    Args:
        config: the name of the table's config.
        row: a `PublishedRow`.
        changes: `FIELD=VALUE` each, in every row.

    Raises:
        ConfigError: a change names no field of this row, or has a wrong value.
    """
    from mtl_tf.config_fields import validation

    name = f"{config}:{row.config_row or row.name}"
    argv = [row.name, *(f"--config.{change}" for change in changes)]
    for change in changes:
        if "=" not in change:
            raise ConfigError(f"--override={change} must be FIELD=VALUE")
        if change.startswith("seed="):
            raise ConfigError(
                f"--override={change} would change nothing: the runs of a row "
                "have the seeds 1, 2, ..., as many as --seeds says"
            )
    values = flags.FlagValues()
    try:
        values(config_argument.define(name, argv, values))
        return validation.validate(values.config.to_dict())
    except ConfigError as error:
        # Other rows may have the field: schemes have different options.
        raise ConfigError(f"row {row.name}: {error}")


def _check_used(planned: Sequence[Any], changes: Sequence[str]) -> None:
    """Refuses changes that do nothing in any row.

    Runs that were begun go on with what they have.

    Raises:
        ConfigError: there is such a change.
    """
    from mtl_tf.config_fields import idle_fields, validation
    from mtl_tf.tasks import registry

    paths = [change.partition("=")[0] for change in changes]
    for run in planned:
        for name, *within in (["config.json"], ["transfer.json", "config"]):
            file = os.path.join(run.path, name)
            paths = idle_fields.not_as_begun(run.config, paths, file, *within)
    validation.check_used_by_some(
        (run.config, paths, registry.types_of(run.config["tasks"]))
        for run in planned
    )


def _check_choices(planned: Sequence[Any], directories: Directories) -> None:
    """Refuses changes with which a row could only fail; it reads no texts.

    Args:
        planned: the runs.
        directories: where data are.

    Raises:
        ConfigError: there is such a row; the message names the first.
    """
    from mtl_tf.experiments import published
    from mtl_tf.runs import starting_choices
    from mtl_tf.tasks import registry

    for run in planned:
        if (
            run.seed > 1
            or run.has_trained
            or run.row.column == published.BASELINE
        ):
            continue
        types = registry.types_of(run.config["tasks"])
        try:
            starting_choices.check(run.config, types)
            _check_weights(run.config, directories)
        except MtlError as error:
            raise ConfigError(f"row {run.row.name}: {error}")


def _check_weights(config: Mapping[str, Any], directories: Directories) -> None:
    """Refuses names of weights that the model lacks, if the corpora are there.

    Raises:
        ConfigError: there is such a name.
    """
    from mtl_tf.runs import starting_choices
    from mtl_tf.tasks import registry

    if not config["training"]["freeze"]:
        return
    try:
        tasks = registry.resolve(config["tasks"], *directories)
    except MissingData:
        return  # A dry run needs no corpora.
    starting_choices.check_weights(config, tasks)


def _command() -> str:
    return f"{PROGRAM.command()} {shlex.join(sys.argv[1:])}"


def _check_failures(planned: Sequence[Any]) -> None:
    from mtl_tf.experiments.planned_runs import FAILED

    if failed := sum(run.state == FAILED for run in planned):
        raise RunError(
            f"{failed} of the runs failed, see the table; the same command "
            "tries them again"
        )


PROGRAM = runner.Program(
    name="reproduce",
    summary="""
    Trains all rows of a paper's table with several seeds. After each run, it
    writes the table with the paper's scores next to the new ones, as Markdown
    and JSON. At the end, it prints the table.

    It takes long. You can stop it at any time, even with kill -9; the same
    command continues it. If a row fails, the table says so and the other rows
    go on. Some tables can do without corpora that are missing or lack a split:
    sequence tagging, decaNLP and translation on Europarl. The table says what
    is left out.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "List the runs of a table",
            "--table=shared_memory/4 --model_dir=runs/table --dry_run",
        ),
        (
            "A table with three seeds, with the corpora in the folder corpora",
            "--table=shared_memory/4 --model_dir=runs/table "
            "--manual_dir=corpora",
        ),
        (
            "Two rows of another table with one seed and pretrained word "
            "vectors",
            "--table=meta_mtl/3 --rows=meta_lstm,meta_mtl --seeds=1 "
            "--vectors=glove.6B.200d.txt --model_dir=runs/meta "
            "--manual_dir=corpora",
        ),
        (
            "Translation with little data for two of three targets, on a small "
            "machine",
            "--table=multi_target_nmt/4_multi30k --seeds=1 "
            "--model_dir=runs/poor --manual_dir=corpora",
        ),
        (
            "Sequence tagging, with the Wall Street Journal in column files",
            "--table=meta_mtl/5 --model_dir=runs/tagging --manual_dir=corpora "
            "--override=\"tasks=('conll2000/chunk', {'name': 'wsj', "
            "'type': 'tagging', 'format': 'conll', 'columns': {'tags': 1}, "
            "'files': {'train': 'wsj.train', 'test': 'wsj.test'}})\"",
        ),
        (
            "decaNLP with a part of SQuAD (docs/answer_questions.md)",
            "--table=decanlp/2 --rows=mqan,anti_curriculum "
            "--model_dir=runs/parts --manual_dir=corpora "
            "--override=\"evaluation.splits=('validation',)\" "
            "--override=\"tasks=({'name': 'squad', "
            "'type': 'question_answering', 'dataset': 'squad', "
            "'splits': {'train': 'train[:90%]', 'validation': 'train[90%:]'}, "
            "'long_contexts': 'left_out'}, 'decanlp/sst', 'decanlp/woz')\"",
        ),
    ),
    required=("table", "model_dir"),
)


def run() -> None:
    """Entry point of `mtl-reproduce`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
