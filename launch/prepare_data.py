"""Builds datasets ahead of training: `python -m launch.prepare_data`."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from absl import flags, logging

from mtl_tf.core import terminal
from mtl_tf.core.directories import Directories
from mtl_tf.core.errors import ConfigError, MissingData, MtlError
from mtl_tf.programs import common_flags, runner

# Of the words of corpora that are tokenised hardly any has a comma.
_GLUED = 0.02
_REGEX = """--config.text.tokenizer="{'name':'regex','lowercase':True}\""""


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    from mtl_tf.datasets import building

    flags.DEFINE_list(
        "datasets",
        [],
        "datasets to build, separated by commas: a corpus such as fdu_mtl "
        "(all of its tasks), a part such as fdu_mtl/books (one of them), a "
        "group such as movie_reviews, or any TFDS name. The corpora are "
        f"{', '.join(building.OWN)}. If a name means several datasets, those "
        "without files are left out",
        flag_values=values,
    )
    common_flags.define_data(values)
    flags.DEFINE_integer(
        "show",
        None,
        "show this many training examples of each task as the model will read "
        "them. Also prints lengths in tokens, unknown words and texts that "
        "are cut. Builds the vocabulary as training does, but keeps nothing. "
        "Needs --config",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_string(
        "beam_runner",
        None,
        "Apache Beam runner that builds --datasets with several workers, such "
        "as DirectRunner for processes on this machine. Needs pip install "
        "'mtl_tf[beam]'",
        flag_values=values,
    )
    flags.DEFINE_list(
        "beam_pipeline_options",
        [],
        "options of the runner as NAME=VALUE, separated by commas, such as "
        "direct_num_workers=4,direct_running_mode=multi_processing",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Builds, counts and prints the tables and the warnings."""
    has_config = values["config"].present
    if not values.datasets and not has_config:
        raise ConfigError("nothing to prepare: give --datasets or --config")
    if values.show and not has_config:
        raise ConfigError(
            "--show needs --config, such as --config=starter: the config "
            "defines how texts are read"
        )
    if values.datasets:
        _prepare(values)
    if has_config:
        _show_tasks(values)


def _show_tasks(values: flags.FlagValues) -> None:
    """Reads the tasks of a config, one's own files included, and counts."""
    from mtl_tf.config_fields import validation
    from mtl_tf.tasks import registry, task_statistics

    config = validation.validate(values.config.to_dict())
    tasks = registry.resolve(
        config["tasks"],
        values.data_dir,
        values.manual_dir,
        config["cross_validation"],
    )
    rows, warnings, raw = [], [], []
    for number, task in enumerate(tasks, 1):
        logging.info("[%d/%d] %s", number, len(tasks), task.name)
        for split in task_statistics.statistics(task):
            counts = (split.examples, split.tokens, split.labels, split.values)
            rows.append(_row(task.name, split.split, *counts))
            warnings += [f"{task.name}: {text}" for text in split.warnings()]
            if split.split == "train" and split.glued > _GLUED:
                raw.append(f"{task.name} ({100 * split.glued:.0f} %)")
        # A source may have read one split more than once.
        distinct = dict.fromkeys(task.source.warnings)
        warnings += [f"{task.name}: {text}" for text in distinct]
    if raw and _splits_at_spaces(config):
        warnings.append(
            "words end in a comma, a full stop or another symbol, or are "
            "several of a script without spaces, such as Chinese: "
            f"{', '.join(raw)}. The tokenizer whitespace is for texts that are "
            f"already tokenised. For raw texts use {_REGEX}"
        )
    if refused := _refused(config, tasks):
        warnings.append(f"a training refuses this config: {refused}")
    previews = []
    if values.show:
        from mtl_tf.runs.data import task_preview

        # Before anything is printed: what is wrong stands alone.
        directories = Directories(values.data_dir, values.manual_dir)
        previews = task_preview.previews(
            config, tasks, directories, values.show
        )
    _print(("task", *_HEAD), rows, warnings)
    if previews:
        _print_previews(previews)


def _refused(config: Mapping[str, Any], tasks: Sequence[Any]) -> str:
    """Why no training takes the tasks (each a `Task`) together; may be ""."""
    from mtl_tf.runs import training_run

    try:
        training_run.check_scored(tasks, config["evaluation"]["splits"])
        training_run.check_options(config, tasks)
    except MtlError as error:
        return str(error)
    return ""


def _splits_at_spaces(config: Mapping[str, Any]) -> bool:
    """Whether the words that models read are those between spaces."""
    is_plain = config["text"]["tokenizer"]["name"] == "whitespace"
    return is_plain and not config["model"]["encoder"]["preset"]


def _print_previews(previews: Sequence[Any]) -> None:
    """Prints what a model would read of tasks, each a `TaskPreview`."""
    from mtl_tf.runs.data import preview_page

    print()
    _print(preview_page.HEAD, list(preview_page.rows(previews)), (), (2, 9))
    print()
    columns = terminal.width(sys.stdout)
    print("\n".join(preview_page.examples(previews, columns)))


def _prepare(values: flags.FlagValues) -> None:
    """Builds what `--datasets` names."""
    from mtl_tf.datasets import building

    beam = _beam(values)
    names: dict[str, bool] = {}
    for argument in filter(None, map(str.strip, values.datasets)):
        members = _behind(argument)
        names |= dict.fromkeys(members, members == [argument])
    rows, warnings, left_out = [], [], []
    for number, (name, is_named) in enumerate(names.items(), 1):
        logging.info("[%d/%d] %s", number, len(names), name)
        try:
            builder = building.prepare(
                name, values.data_dir, values.manual_dir, beam
            )
        except MissingData as error:
            # Of a group, or a corpus of many parts, one has what one needs.
            if is_named:
                raise
            left_out.append(error)
            warnings.append(f"left out: {error}")
            continue
        rows += _rows(name, builder)
        warnings += [
            f"{name}: {text}" for text in building.warnings_of(builder)
        ]
    if left_out and not rows:
        raise left_out[0]
    _print(("dataset", *_HEAD), rows, warnings)
    print(
        f"{len(names) - len(left_out)} prepared in "
        f"{building.data_directory(values.data_dir)}"
    )


def _beam(values: flags.FlagValues):
    """Where Apache Beam is to build, or None."""
    from mtl_tf.datasets.beam import Beam

    if not values.beam_runner:
        if values.beam_pipeline_options:
            raise ConfigError(
                "--beam_pipeline_options needs --beam_runner, such as "
                "DirectRunner"
            )
        return None
    beam = Beam(values.beam_runner, tuple(values.beam_pipeline_options))
    beam.check()
    return beam


_HEAD = ("split", "texts", "tokens/text", "labels (%)")


def _behind(name: str) -> list[str]:
    """The datasets that a corpus, or a group of tasks, consists of."""
    from mtl_tf.datasets import building
    from mtl_tf.tasks.splits.groups import GROUPS

    if name in building.OWN or name not in GROUPS:
        return building.expand(name)
    members = GROUPS[name].members.values()
    return list(dict.fromkeys(member.dataset for member in members))


def _rows(name: str, builder) -> Iterator[tuple[str, ...]]:
    from mtl_tf.datasets.statistics import statistics

    for split in statistics(builder):
        counts = (split.examples, split.tokens, split.labels)
        yield _row(name, split.split, *counts)


def _row(
    name: str,
    split: str,
    examples: int,
    tokens: float | None,
    labels: Mapping[str, int] | None,
    values: Sequence[float] = (),
) -> tuple[str, ...]:
    length = "-" if tokens is None else f"{tokens:.1f}"
    targets = _balance(labels)
    if values:
        targets = "{:g} to {:g}, mean {:.4g}".format(*values[::2], values[1])
    return name, split, f"{examples:,}", length, targets


def _balance(labels: Mapping[str, int] | None) -> str:
    """Share of each class, in percent."""
    total = sum(labels.values()) if labels else 0
    if not total:
        return "-"
    shares = [f"{name} {100 * n / total:.1f}" for name, n in labels.items()]
    parts = shares[:5] + (["..."] if len(shares) > 5 else [])
    return ", ".join(parts)


def _print(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    warnings: Sequence[str],
    texts: Sequence[int] = (4,),
) -> None:
    """Prints a table, folded if the terminal is narrow, and the warnings.

    Args:
        head, rows: cells.
        warnings: sentences.
        texts: numbers of the cells that hold words.
    """
    from mtl_tf.evaluation.tables import folding

    columns = terminal.width(sys.stdout)
    # The name of a dataset and of its split are one cell, that of the row.
    width = max(len(row[0]) for row in (head, *rows))
    cells = [
        (f"{row[0].ljust(width)}  {row[1]}", *row[2:]) for row in (head, *rows)
    ]
    blocks = folding.blocks(cells, columns, [n - 1 for n in texts])
    print("\n\n".join("\n".join(block) for block in blocks))
    for warning in warnings:
        print("\n".join(folding.wrapped(f"warning: {warning}", columns)))


PROGRAM = runner.Program(
    name="prepare_data",
    summary="""
    Builds datasets and prints for each split: number of texts, tokens per text,
    balance of the labels, and warnings about the files. Training also builds
    the datasets that it needs; with this program you see them first.

    With --config, it shows the tasks of the config, which may be on your own
    files. It also warns about texts of a split that occur in an earlier split.
    With --show, it prints examples as the model will read them. It trains
    nothing and writes no run directory.

    A build is reused until its source files change. If a build was killed, the
    same command continues it (docs/large_data.md). Tables go to standard
    output, progress to standard error.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("The reviews that come with the package", "--datasets=sample_reviews"),
        (
            "FDU-MTL, with the corpus in corpora/fdu_mtl",
            "--datasets=fdu_mtl --manual_dir=corpora",
        ),
        (
            "The movie reviews of Liu et al. 2016, with the corpora in "
            "corpora/sst, ...",
            "--datasets=sst,subj,imdb --manual_dir=corpora",
        ),
        (
            "A dataset of the TFDS catalogue, which is downloaded",
            "--datasets=imdb_reviews/plain_text --data_dir=builds",
        ),
        (
            "A large corpus, built by four processes",
            "--datasets=europarl --manual_dir=corpora "
            "--beam_runner=DirectRunner --beam_pipeline_options="
            "direct_num_workers=4,direct_running_mode=multi_processing",
        ),
        ("The tasks on your own files in a config", "--config=garden.py"),
        (
            "The first three examples of each task, as the model reads them",
            "--config=garden.py --show=3",
        ),
    ),
    takes_config=True,
    config_optional=True,
)


def run() -> None:
    """Entry point of `mtl-prepare-data`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
