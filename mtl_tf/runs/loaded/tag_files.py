"""Writes column files with the predicted tags of a run's tasks."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.datasets.column_rows import CONLLU, PLAIN, ColumnLayout
from mtl_tf.datasets.tag_columns import TagColumn, TagColumns, as_text
from mtl_tf.prediction import task_types
from mtl_tf.prediction.other_files import format_as_trained
from mtl_tf.prediction.prediction_type import TaskDict
from mtl_tf.runs.loaded.loaded_run import Run
from mtl_tf.tasks.reading.span_tags import BILOU
from mtl_tf.tasks.reading.tagged_readers import FORMATS, TagLayout
from mtl_tf.tasks.task_types.tagging import layout_of
from mtl_tf.text import span_schemes

# The number of batches read before one is predicted. More batches group
# sentences of similar length, and tasks alternate less often.
_READ_AHEAD = 16
# The entry fields that describe the layout of files.
_LAYOUT = ("columns", "separator", "comment")


def tag(
    run: Run,
    tasks: Sequence[str],
    reader: Any,
    output: BinaryIO,
    batch_size: int,
    columns: TagColumns,
) -> None:
    """Writes the lines of a column file with predicted tags.

    Args:
        run: the return value of `mtl_tf.load`.
        tasks: names of tagging tasks.
        reader: its `batches` give the sentences, like `programs.text_input`.
        output: the stream of the lines, flushed after each batch.
        batch_size: sentences at a time.
        columns: inserts the tags into the lines.

    Raises:
        DataError: an input line is wrong.
        ConfigError: the file lacks the columns.
    """
    for batch in reader.batches(batch_size * _READ_AHEAD):
        tags: list[dict[str, list[str]]] = [{} for _ in batch]
        examples = [item.fields for item in batch]
        for name in tasks:
            task = _described(run, name)
            predictions = run.predict(name, examples, batch_size=batch_size)
            for of_sentence, prediction in zip(tags, predictions):
                of_sentence[name] = tags_of_files(
                    run.config, task, prediction["tags"]
                )
        texts = [columns.text(item.sentence, t) for item, t in zip(batch, tags)]
        output.write("".join(texts).encode())
        output.flush()
    output.write(as_text(reader.rest).encode())
    output.flush()
    columns.tell()


def layout(
    run: Run,
    task: str,
    form: str,
    overrides: Mapping[str, Any],
) -> ColumnLayout:
    """The layout of a column file.

    Args:
        run: the return value of `mtl_tf.load`.
        task: the first task that reads the file.
        form: "conll" or "conllu".
        overrides: the user's values by field of the layout; None if not given.
    """
    fields: dict[str, Any] = {}
    described = _described(run, task)
    if _gives_tags(described):
        task_layout, _ = _own_layout(run.config, described, form)
        fields = {"tokens": task_layout.tokens}
        if form == "conll":
            fields |= {
                "separator": task_layout.separator,
                "comment": task_layout.comment,
            }
    fields |= {k: v for k, v in overrides.items() if v is not None}
    return dataclasses.replace(CONLLU if form == "conllu" else PLAIN, **fields)


def tag_columns(
    run: Run, tasks: Sequence[str], form: str, numbers: Mapping[str, int]
) -> list[TagColumn]:
    """The columns of a file that get the tags of tasks.

    Args:
        run: the return value of `mtl_tf.load`.
        tasks: the tasks' names; none if only tokens are read.
        form: "conll" or "conllu".
        numbers: the column numbers that the user gives, by field.

    Raises:
        ConfigError: a task does not tag, its column is unknown, or a field is
            unknown.
    """
    columns = []
    for name in tasks:
        task = _described(run, name)
        if not _gives_tags(task):
            raise ConfigError(
                f"the task {name} is of type {task['type']}: it gives tokens "
                f"no tags, which could stand in {form}"
            )
        field = "tags" if len(tasks) == 1 else name
        task_layout, is_named = _own_layout(run.config, task, form)
        if field not in numbers and form == "conllu" and not is_named:
            raise ConfigError(
                f"the task {name} was not trained on CoNLL-U: name the column "
                f"for its tags, such as --columns={field}=xpos"
            )
        is_sure = field in numbers or is_named
        known = None if is_sure else known_tags(task)
        unread = "O" if task["scheme"] else "_"
        number = numbers.get(field, task_layout.tags)
        columns.append(TagColumn(name, number, field, known, unread))
    fields = dict.fromkeys(["tokens", *(column.field for column in columns)])
    for field in numbers:
        look_up(field, fields, "field of --columns")
    return columns


def _own_layout(
    config: Mapping[str, Any], task: TaskDict, form: str
) -> tuple[TagLayout, bool]:
    """The column numbers of tokens and tags in a file.

    Args:
        config: the run's config.
        task: the run's description of the task.
        form: the file's format, "conll" or "conllu".

    Returns:
        The layout of the task's own files if they have this format, else the
        default; and whether the tag column is known by name.
    """
    entry = _entry(config, task)
    is_own = "files" in entry and format_as_trained("", entry, FORMATS) == form
    fields = {k: v for k, v in entry.items() if is_own and k in _LAYOUT}
    task_layout = layout_of(fields, form)
    if form == "conll":
        return task_layout, False
    is_column = not is_own and task["name"] in CONLLU_COLUMNS
    tags = task["name"] if is_column else task_layout.tags
    tokens, tags = map(CONLLU_COLUMNS.index, (task_layout.tokens, tags))
    return task_layout._replace(tokens=tokens, tags=tags), is_own or is_column


def tags_of_files(
    config: Mapping[str, Any], task: TaskDict, tags: Sequence[str]
) -> list[str]:
    """Converts tags from the scheme of training to that of the task's files.

    Args:
        config: the run's config.
        task: the run's description of the task.
        tags: the tags of a sentence.
    """
    if not task["scheme"]:
        return list(tags)
    entry = _entry(config, task)
    scheme = str(entry.get("scheme")).replace(BILOU, "iobes")
    if scheme not in span_schemes.SCHEMES:
        scheme = "iob2" if entry.get("train_scheme") else task["scheme"]
    if scheme == task["scheme"]:
        return list(tags)  # also invalid ones
    return span_schemes.convert(tags, scheme)


def known_tags(task: TaskDict) -> frozenset[str]:
    """The tags that a file of the task may contain, in any scheme."""
    tags = set(task["labels"])
    if task["scheme"]:
        types = span_schemes.types_of(tags)
        tags |= set(span_schemes.tag_set(types, "iobes"))
        tags |= {f"{letter}-{name}" for letter in "LU" for name in types}
    return frozenset(tags)


def _gives_tags(task: TaskDict) -> bool:
    """Whether a task's type, perhaps the user's own, tags tokens."""
    return "conll" in task_types.of(task["type"]).forms


def _entry(config: Mapping[str, Any], task: TaskDict) -> Mapping[str, Any]:
    """A task's own entry in the config; {} without one."""
    entries = (e for e in config["tasks"] if isinstance(e, Mapping))
    return next((e for e in entries if e.get("name") == task["name"]), {})


def _described(run: Run, name: str) -> TaskDict:
    """The run's description of a task."""
    return next(task for task in run.tasks if task["name"] == name)
