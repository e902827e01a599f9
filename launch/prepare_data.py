"""Builds datasets ahead of training: `python -m launch.prepare_data`."""

from absl import flags, logging

from mtl_tf.core.errors import MissingData
from mtl_tf.programs import common_flags, runner


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    flags.DEFINE_list(
        "datasets",
        None,
        "what to build, separated by commas: fdu_mtl (all of its tasks), "
        "fdu_mtl/books (one of them), sst (sst/sst1 and sst/sst2), subj, mr, "
        "imdb, conll2000, conll2003, ud_pos, multi30k, europarl, "
        "squad, qa_srl, qa_zre, wikisql, mwsc, "
        "sample_reviews, a group such as movie_reviews, or any TFDS name. Of "
        "a name that stands for several, those without files are left out",
        flag_values=values,
    )
    common_flags.define_data(values)


def main(values: flags.FlagValues) -> None:
    """Builds, counts and prints the tables and the warnings."""
    from mtl_tf.datasets import building

    names: dict[str, bool] = {}
    for given in filter(None, map(str.strip, values.datasets)):
        found = _behind(given)
        names |= dict.fromkeys(found, found == [given])
    rows, warnings, left_out = [], [], []
    for number, (name, is_named) in enumerate(names.items(), 1):
        logging.info("[%d/%d] %s", number, len(names), name)
        try:
            builder = building.prepare(name, values.data_dir, values.manual_dir)
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
    print(_table(rows))
    for warning in warnings:
        print(f"warning: {warning}")
    print(
        f"{len(names) - len(left_out)} prepared in "
        f"{building.data_directory(values.data_dir)}"
    )


def _behind(name: str) -> list[str]:
    """The datasets that a corpus, or a group of tasks, consists of."""
    from mtl_tf.datasets import building
    from mtl_tf.tasks.groups import GROUPS

    if name in building.OWN or name not in GROUPS:
        return building.expand(name)
    members = GROUPS[name].members.values()
    return list(dict.fromkeys(member.dataset for member in members))


def _rows(name: str, builder) -> list[tuple[str, ...]]:
    from mtl_tf.datasets.statistics import statistics

    return [
        (
            name,
            split.split,
            f"{split.examples:,}",
            "-" if split.tokens is None else f"{split.tokens:.1f}",
            _balance(split.labels),
        )
        for split in statistics(builder)
    ]


def _balance(labels: dict[str, int] | None) -> str:
    """Share of each class, in percent."""
    total = sum(labels.values()) if labels else 0
    if not total:
        return "-"
    shares = [f"{name} {100 * n / total:.1f}" for name, n in labels.items()]
    shown = shares[:5] + (["..."] if len(shares) > 5 else [])
    return ", ".join(shown)


def _table(rows: list[tuple[str, ...]]) -> str:
    head = ("dataset", "split", "texts", "tokens/text", "labels (%)")
    widths = [max(map(len, column)) for column in zip(head, *rows)]
    lines = []
    for row in (head, *rows):
        cells = [
            cell.rjust(width) if column in (2, 3) else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


PROGRAM = runner.Program(
    name="prepare_data",
    summary="""
    Builds datasets, so that training finds them ready, and prints what is in
    them: texts, tokens a text, balance of the labels, and what was odd about
    the files. Training builds what it needs by itself; this shows it first.

    A build is reused until its source files change. Tables go to standard
    output, progress to standard error.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        ("The reviews that come with the package", "--datasets=sample_reviews"),
        (
            "FDU-MTL, whose files you have in corpora/fdu_mtl",
            "--datasets=fdu_mtl --manual_dir=corpora",
        ),
        (
            "The movie reviews of the shared-memory paper, in corpora/sst, ...",
            "--datasets=sst,subj,imdb --manual_dir=corpora",
        ),
        (
            "A dataset of the TFDS catalogue (downloads it)",
            "--datasets=imdb_reviews/plain_text --data_dir=builds",
        ),
    ),
    required=("datasets",),
)


def run() -> None:
    """Entry point of `mtl-prepare-data`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
