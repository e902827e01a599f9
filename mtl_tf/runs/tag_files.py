"""Column files that come back with the tags of a run's tasks in them."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.datasets.column_files import CONLLU_COLUMNS
from mtl_tf.datasets.column_rows import CONLLU, PLAIN, ColumnLayout
from mtl_tf.datasets.tag_columns import TagColumn, TagColumns, as_text
from mtl_tf.runs import task_types
from mtl_tf.runs.prediction_type import TaskDict, format_of
from mtl_tf.tasks.span_tags import BILOU
from mtl_tf.tasks.tagged_readers import FORMATS, TagLayout
from mtl_tf.tasks.task_types.tagging import layout_of
from mtl_tf.text import span_schemes

# How many batches are read before one is predicted: sentences of like lengths
# then come together, and the tasks take turns less often. With many more at
# once the model would be compiled, which a small file does not pay back.
_READ_AHEAD = 3
# What an entry says of the layout of its files.
_LAYOUT = ("columns", "separator", "comment")


def tag(
    run: Any,
    tasks: Sequence[str],
    reader: Any,
    output: BinaryIO,
    batch_size: int,
    columns: TagColumns,
) -> None:
    """Writes the lines of a column file with predicted tags in them.

    Args:
        run: what `mtl_tf.load` returns.
        tasks: names of tagging tasks.
        reader: its `batches` give the sentences, as `programs.text_input` does.
        output: where the lines go; it is flushed after each batch.
        batch_size: how many sentences the model gets at once.
        columns: puts the tags into the lines.

    Raises:
        DataError: a line of the input is wrong.
        ConfigError: the file has no such columns.
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
    run: Any,
    task: str,
    form: str,
    overrides: Mapping[str, Any],
) -> ColumnLayout:
    """How a column file is laid out.

    Args:
        run: what `mtl_tf.load` returns.
        task: the first task that it is read for.
        form: "conll" or "conllu".
        overrides: what the user says, by field of the layout; None where
            nothing.
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
    run: Any, tasks: Sequence[str], form: str, numbers: Mapping[str, int]
) -> list[TagColumn]:
    """The columns of a file that get the tags of tasks.

    Args:
        run: what `mtl_tf.load` returns.
        tasks: names of the tasks; none where only tokens are read.
        form: "conll" or "conllu".
        numbers: of the columns that the user names, by field.

    Raises:
        ConfigError: a task does not tag, nothing tells its column, or a field
            is unknown.
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
    """Where the tokens and the tags of a file stand, as numbers of columns.

    Args:
        config: the run's.
        task: as the run knows it.
        form: of the file, "conll" or "conllu".

    Returns:
        The layout of the task's own files, as far as they have this format,
        else the usual one; and whether the column of the tags is known by its
        name.
    """
    entry = _entry(config, task)
    is_own = "files" in entry and format_of("", entry, FORMATS) == form
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
    """Tags in the scheme of the task's own files, not of its training.

    Args:
        config: the run's.
        task: as the run knows it.
        tags: of a sentence.
    """
    if not task["scheme"]:
        return list(tags)
    entry = _entry(config, task)
    scheme = str(entry.get("scheme")).replace(BILOU, "iobes")
    if scheme not in span_schemes.SCHEMES:
        scheme = "iob2" if entry.get("train_scheme") else task["scheme"]
    if scheme == task["scheme"]:
        return list(tags)  # wrong ones, too
    return span_schemes.convert(tags, scheme)


def known_tags(task: TaskDict) -> frozenset[str]:
    """The tags that a file of the task may hold, in any scheme."""
    tags = set(task["labels"])
    if task["scheme"]:
        types = span_schemes.types_of(tags)
        tags |= set(span_schemes.tag_set(types, "iobes"))
        tags |= {f"{letter}-{name}" for letter in "LU" for name in types}
    return frozenset(tags)


def _gives_tags(task: TaskDict) -> bool:
    """Whether a task's type tags tokens; one of the user's own may, too."""
    return "conll" in task_types.of(task["type"]).forms


def _entry(config: Mapping[str, Any], task: TaskDict) -> Mapping[str, Any]:
    """A task's entry in the config, if it has one of its own; else {}."""
    entries = (e for e in config["tasks"] if isinstance(e, Mapping))
    return next((e for e in entries if e.get("name") == task["name"]), {})


def _described(run: Any, name: str) -> TaskDict:
    """A task as the run knows it."""
    return next(task for task in run.tasks if task["name"] == name)
