"""Differences between a table's runs and the paper's setting, as text."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from mtl_tf.evaluation.tables.score_format import metric_title
from mtl_tf.experiments.published import PublishedTable

_UNITS = {"examples": "texts", "tokens": "tokens"}


def setting(
    table: PublishedTable,
    tasks: list[dict],
    overrides: Sequence[str],
    vectors: str,
) -> Iterator[str]:
    """Differences in word vectors, numbers of test texts and config fields.

    Args:
        table: the paper's table.
        tasks: the tasks from `table_report.build`.
        overrides: fields changed in every row's config.
        vectors: the file of pretrained vectors, or "".
    """
    if vectors:
        paper = table.vectors or "none"
        yield f"Word vectors from {vectors}; the paper's: {paper}."
    elif table.vectors:
        yield f"No pretrained word vectors; the paper has {table.vectors}."
    sizes: dict[tuple[int, int, str], list[str]] = {}
    for task in tasks:
        ours, paper = task["test"], task["paper_test"]
        if None not in (ours, paper) and ours != paper:
            key = (ours, paper, _UNITS[task["unit"]])
            sizes.setdefault(key, []).append(task["title"])
    for (ours, paper, unit), titles in sizes.items():
        every = "each task" if len(titles) == len(tasks) else ", ".join(titles)
        yield f"{ours:,} test {unit} of {every}; the paper has {paper:,}."
    if overrides:
        yield (
            "Changed in every row's config, whatever else stands here: "
            f"{', '.join(overrides)}."
        )


def coverage(
    table: PublishedTable,
    tasks: list[dict],
    finished: list[dict],
    absent: Mapping[str, str],
) -> Iterator[str]:
    """Differences in tasks and their metrics.

    Args:
        table: the paper's table.
        tasks: the tasks from `table_report.build`.
        finished: the results of the finished runs.
        absent: the tasks left out, with the reasons.
    """
    if absent:
        yield (
            "Left out, since their files are not there, or not all of them: "
            f"{', '.join(absent)}. Means are over the tasks that are there."
        )
    absent_names = {short_name(name) for name in absent}
    lacking = [
        task["title"]
        for task in tasks
        if task["test"] is None and task["name"] not in absent_names
    ]
    if finished and lacking:
        yield (
            f"Not among the tasks of these runs: {', '.join(lacking)}. Means, "
            "the paper's, too, are over the tasks that are there."
        )
    for task in tasks:
        if task["metric"] != task["paper_metric"]:
            ours, paper = map(
                metric_title, (task["metric"], task["paper_metric"])
            )
            yield f"{task['title']}: ours is {ours}, the paper's {paper}."
    known = {name for task in table.tasks for name in (task.name, *task.also)}
    trained = {name for results in finished for name in results["tasks"]}
    unknown = sorted(name for name in trained if short_name(name) not in known)
    if unknown:
        yield (
            "Our means include tasks that the table does not have: "
            f"{', '.join(unknown)}."
        )


def thinned_rows(
    table: PublishedTable,
    thinned: Mapping[str, Sequence[str]],
    planned: Collection[str],
) -> Iterator[str]:
    """Rows that are changed, or not run, because tasks are missing.

    Args:
        table: the paper's table.
        thinned: by the name of a row's config, the missing tasks.
        planned: the names of the planned rows.
    """
    for row in table.rows:
        config = f"{table.config}_{row.config_row or row.name}"
        if lost := ", ".join(thinned.get(config, ())):
            if row.name in planned:
                yield f"{row.title}: its phases are without {lost}."
            else:
                yield (
                    f"{row.title} is not run: without {lost} one of its "
                    "phases has no task."
                )


def short_name(name: str) -> str:
    """A task's name; with its group, group/task."""
    return name.split("/")[-1]
