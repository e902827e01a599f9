"""Predicts texts with a trained run: `python -m launch.predict`."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from absl import flags, logging

from mtl_tf.core.errors import ConfigError, MtlError
from mtl_tf.core.names import look_up, renamed
from mtl_tf.datasets import column_rows
from mtl_tf.datasets.tag_columns import TagColumns
from mtl_tf.programs import (
    common_flags,
    input_rows,
    record_table,
    runner,
    streams,
    text_input,
)

# How predictions can be written, by some task types or all.
_FORMS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS, "text")
# What a file's name tells of its form.
_ENDINGS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS)


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(values, "folder of a trained run")
    flags.DEFINE_string(
        "task",
        None,
        "whose labels or tags to give; needed where the run has several tasks "
        "and the input does not name them. A file of columns that comes back "
        "may get the tags of several, a,b",
        flag_values=values,
    )
    flags.DEFINE_string(
        "input", "-", "file of texts, - for standard input", flag_values=values
    )
    flags.DEFINE_string(
        "output",
        "-",
        "file for the predictions, - for standard output",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "output_format",
        None,
        _FORMS,
        "by default what the output's name ends with, else jsonl; at a prompt "
        "lines for people. jsonl: an object a line; csv and tsv: a row an "
        "example, written at the end; conll, where tokens are tagged: token "
        "and tag a line, and a blank line after each sentence, or, where the "
        "input is conll too, its lines with the tags in their column; conllu: "
        "likewise the lines of an input in conllu; text: the best "
        "translation, the answer, the labels or the number a line",
        flag_values=values,
    )
    _define_form(values)
    flags.DEFINE_integer(
        "batch_size",
        64,
        "texts in a batch",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_bool(
        "interactive", False, "ask for texts at a prompt", flag_values=values
    )
    common_flags.define_decoding(values)


def _define_form(values: flags.FlagValues) -> None:
    """Defines what says how the input is written."""
    flags.DEFINE_enum(
        "format",
        None,
        text_input.FORMATS,
        "by default what the input's name ends with, else text. text: an "
        "example a line, its texts between tabs where it has several; "
        'jsonl: {"text": ..., "task": ...} a line, with the fields of the '
        'task\'s type, where tokens are tagged also {"tokens": [...]}; csv '
        "and tsv: the same in columns, which the first row names; conll, where "
        "tokens are tagged: a token a line, in the column that the task's own "
        "files have it in, else the first one, and a blank line between "
        "sentences; conllu: the words of CoNLL-U",
        flag_values=values,
    )
    flags.DEFINE_list(
        "columns",
        [],
        "FIELD=COLUMN, what a field such as text or task is called in jsonl, "
        "csv or tsv, where it has another name; comma-separated. By default "
        "what the task's own files call it, where the input has such a column. "
        "Of conll and conllu tokens=COLUMN and tags=COLUMN, or TASK=COLUMN "
        "where there are tags of several tasks: numbers from 0, or negative "
        "from the last, of conllu names such as xpos. A number behind the "
        "last column adds one",
        flag_values=values,
    )
    flags.DEFINE_string(
        "delimiter",
        None,
        "what stands between the cells of a csv file, one character such as "
        "';'; by default that of the task's own files, or a comma; of conll "
        "what stands between columns, by default spaces and tabs",
        flag_values=values,
    )
    flags.DEFINE_string(
        "comment",
        None,
        "how lines of conll begin that are no tokens, such as '# '; by default "
        "as in the task's own files",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Reads texts and writes their labels."""
    import mtl_tf
    from mtl_tf.runs import labelled_data, prompt, tag_files

    read = values.format or _ending(values.input) or "text"
    columns = input_rows.parse_columns(values.columns, read)
    delimiter = input_rows.parse_delimiter(values.delimiter, read)
    if values.comment is not None and read != "conll":
        raise ConfigError(
            f"--comment is for conll, and the input is read as {read}: give "
            "--format=conll"
        )
    run = mtl_tf.load(values.model_dir, common_flags.decoding(values))
    tasks = _given_tasks(run, values.task)
    task = tasks[0] if tasks else ""
    if values.delimiter is None and read == "csv":
        # As the columns: what the task's own files have.
        entry = labelled_data.entry_of(run.config, task)
        delimiter = entry.get("delimiter") or delimiter
    form = values.output_format or _ending(values.output) or "jsonl"
    # The lines of such an input come back.
    returned = read in text_input.COLUMNS and form == read
    _check_tasks(run, tasks, read, form, values.interactive)
    if values.interactive:
        form = values.output_format or prompt.PEOPLE
        first = task if values.task else ""
        prompt.interact(run, first, sys.stdin.buffer, sys.stdout.buffer, form)
        return
    layout = tags = None
    if read in text_input.COLUMNS:
        numbers, columns = column_rows.numbered(columns, read), {}
        given = {
            "tokens": numbers.get("tokens"),
            "separator": (read == "conll" and delimiter) or None,
            "comment": values.comment,
            "one_width": returned or None,
        }
        layout = tag_files.layout(run, task, read, given)
        tags = tag_files.tag_columns(
            run, tasks if returned else [], read, numbers
        )
    with (
        streams.reading(values.input) as (stream, name),
        streams.writing(values.output) as output,
    ):
        reader = text_input.TextReader(
            stream, name, read, columns, delimiter, layout
        )
        if returned:
            writer = TagColumns(name, layout, tags)
            tag_files.tag(run, tasks, reader, output, values.batch_size, writer)
        else:
            predict(run, task, reader, output, values.batch_size, form)
    if reader.undecodable:
        logging.warning(
            "%s: lines that are not UTF-8, read as Latin-1: %d",
            *(name, reader.undecodable),
        )
    if reader.replaced:
        logging.warning(
            "%s: %d halves of surrogate pairs, which are no characters, "
            "became U+FFFD",
            *(name, reader.replaced),
        )


def _ending(path: str) -> str:
    """The form that a file's name ends with, or ""."""
    ending = os.path.splitext(path)[1].removeprefix(".").lower()
    return ending if ending in _ENDINGS else ""


def task_names(run: Any) -> list[str]:
    """The names of the tasks of a run."""
    return [task["name"] for task in run.tasks]


def predict(
    run: Any,
    task: str,
    reader: text_input.TextReader,
    output: BinaryIO,
    batch_size: int,
    form: str = "jsonl",
) -> None:
    """Writes the prediction for each example of `reader`, batch by batch.

    What else a row of the input has stands before its prediction; a field
    that the prediction has, too, is then called `input_NAME`.

    Args:
        run: what `mtl_tf.load` returns.
        task: the task of texts that name none; "" if each has to.
        reader: gives the texts.
        output: where the predictions go; it is flushed after each batch.
            Tables are written at the end, when all their columns are known.
        batch_size: how many texts the model gets at once.
        form: how they are written; one of the forms of the tasks' types.

    Raises:
        DataError: a line of the input is wrong.
        ConfigError: an example has no task, an unknown one, or one that
            cannot take it or be written so.
    """
    from mtl_tf.runs.labelled_data import trained_columns

    known = {task["name"]: task for task in run.tasks}
    own = {
        name: trained_columns(run.config, task) for name, task in known.items()
    }
    empty = input_rows.EmptyTexts()
    with contextlib.ExitStack() as resources:
        table = None
        if form in record_table.FORMS:
            table = resources.enter_context(record_table.RecordTable(form))
        for batch in reader.batches(batch_size):
            tasks = [known[_task_of(item, task, known)] for item in batch]
            columns = [
                _own_columns(item, task, own[task["name"]], reader.columns)
                for item, task in zip(batch, tasks)
            ]
            fields = [_fields(*row, form) for row in zip(batch, tasks, columns)]
            empty.look(batch, fields)
            predictions = _predictions(run, tasks, fields, batch_size)
            records = [
                input_rows.record({**of_task, **reader.columns}, *row)
                for of_task, *row in zip(columns, batch, fields, predictions)
            ]
            if table:
                for record in records:
                    table.add(record)
            else:
                _write(output, map(_writer(form), tasks, records))
        if table:
            table.write(output)
            output.flush()
            table.tell_altered()
    empty.tell()


def _check_tasks(
    run: Any, tasks: Sequence[str], read: str, form: str, interactive: bool
) -> None:
    """Refuses several tasks, or none, and forms that do not fit together.

    Args:
        run: what `mtl_tf.load` returns.
        tasks: names of those that are asked for.
        read: the form of the input.
        form: that of the output.
        interactive: whether there is a prompt in place of both.
    """
    returned = read in text_input.COLUMNS and form == read
    if len(tasks) > 1 and (interactive or not returned):
        raise ConfigError(
            f"--task names {len(tasks)} tasks: only a file of columns can get "
            "the tags of several, where --format and --output_format are both "
            "conll or both conllu"
        )
    if interactive:
        return
    if not tasks and read not in input_rows.NAMED:
        raise ConfigError(
            f"--task is missing: this run has {', '.join(task_names(run))}"
        )
    if form == "conllu" and not returned:
        raise ConfigError(
            "--output_format=conllu is for input in conllu, whose lines come "
            f"back, and the input is read as {read}"
        )


def _given_tasks(run: Any, given: str | None) -> list[str]:
    """The tasks that `--task` names, or the run's only one, or none."""
    names = task_names(run)
    if not given:
        return names if len(names) == 1 else []
    known = {name: name for name in names}
    tasks = [look_up(n.strip(), known, "task") for n in given.split(",")]
    for task in tasks:
        if tasks.count(task) > 1:
            raise ConfigError(f"--task names the task {task} twice")
    return tasks


def _task_of(item: text_input.Item, default: str, known: Mapping) -> str:
    name = item.task or default
    if not name:
        raise ConfigError(
            f"{item.location}: no task: give --task or a field 'task', one of "
            f"{', '.join(known)}"
        )
    try:
        return look_up(name, known, "task")["name"]
    except MtlError as error:
        raise ConfigError(f"{item.location}: {error}")


def _own_columns(
    item: text_input.Item,
    task: Mapping[str, Any],
    own: Mapping[str, str],
    given: Mapping[str, str],
) -> dict[str, str]:
    """The columns of a row that the task was trained with, by field.

    Args:
        item: what was read, its fields named as `given` says.
        task: the task.
        own: all columns that it was trained with.
        given: columns that the user has named, which come first.
    """
    from mtl_tf.runs import task_types

    if not item.row:
        return {}
    rest = {k: column for k, column in own.items() if k not in given}
    return task_types.of(task["type"]).columns_in(item.fields, rest)


def _fields(
    item: text_input.Item,
    task: Mapping[str, Any],
    columns: Mapping[str, str],
    form: str,
) -> dict[str, Any]:
    """The fields of an example of a task.

    Raises:
        ConfigError: the task cannot take it, or be written in that form.
    """
    from mtl_tf.runs import task_types

    task_type = task_types.of(task["type"])
    forms = [*task_type.forms, *record_table.FORMS]
    if form not in forms:
        raise ConfigError(
            f"{item.location}: the task {task['name']} is of type "
            f"{task['type']}: it is written as {', '.join(forms[:-1])} "
            f"or {forms[-1]}, not as {form}"
        )
    try:
        if item.is_line:
            return task_type.fields_of_line(task, item.fields["text"])
        return task_type.fields_of(task, renamed(item.fields, columns))
    except TypeError as error:
        advice = input_rows.advice(item, task_type.column_fields(task))
        raise ConfigError(f"{item.location}: {error}{advice}")


def _predictions(
    run: Any,
    tasks: Sequence[Mapping[str, Any]],
    examples: Sequence[dict[str, Any]],
    batch_size: int,
) -> list[dict[str, Any]]:
    """What is predicted, in the examples' order; a call for each task."""
    from mtl_tf.runs import task_types

    predictions: list[dict[str, Any]] = [{} for _ in examples]
    names = [task["name"] for task in tasks]
    for task in {task["name"]: task for task in tasks}.values():
        task_type = task_types.of(task["type"])
        numbers = [n for n, name in enumerate(names) if name == task["name"]]
        of_task = [examples[number] for number in numbers]
        predicted = run.predict(task["name"], of_task, batch_size=batch_size)
        for number, example, prediction in zip(numbers, of_task, predicted):
            fields = task_type.fields_to_show(example)
            predictions[number] = {**fields, **prediction}
    return predictions


def _writer(
    form: str,
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], str]:
    """From a task and a record to its lines."""
    from mtl_tf.runs import task_types

    return lambda task, record: task_types.of(task["type"]).forms[form](record)


def _write(output: BinaryIO, lines: Iterable[str]) -> None:
    output.write("".join(lines).encode())
    output.flush()


PROGRAM = runner.Program(
    name="predict",
    summary="""
    Predicts examples with a trained run. Each prediction is a line of JSON:
    the texts, the task, and what the task's type gives: the label and the
    score of every label; the labels of several; a number; the tokens, their
    tags, offsets in characters and confidence (tokens that the run's
    text.max_length cuts off are left out); the translation and its score; the
    answer, its confidence, and of each word where it comes from. It
    is written as soon as the text has been read, so the program can stand in
    a pipe. What else a line of JSON or a row of a csv or tsv file has, such as
    an id, stands before its prediction; a field that the prediction has, too,
    is then called input_NAME. Tokens may also be given: they are then not
    split, and have no offsets; a file of columns comes back with tags in one
    of them. Two texts of an example stand in a line with a
    tab between them, or in fields of JSON.
    """,
    main=main,
    define_flags=define_flags,
    examples=(
        (
            "One text",
            "echo 'a moving story' | {command} --model_dir=runs/quickstart "
            "--task=books",
        ),
        (
            "A file, a text a line",
            "--model_dir=runs/quickstart --task=books --input=texts.txt "
            "--output=predictions.jsonl",
        ),
        (
            'Texts of several tasks, as {"text": "...", "task": "books"}',
            "--model_dir=runs/quickstart --format=jsonl --input=texts.jsonl",
        ),
        (
            "A column of a table; the other columns stay, and scores are added",
            "--model_dir=runs/quickstart --task=books --input=reviews.csv "
            "--columns=text=review --output=predicted.csv",
        ),
        (
            "Tags in a column of a file, which stays as it is but for that",
            "--model_dir=runs/chunks --input=sentences.conll "
            "--output=tagged.conll",
        ),
        (
            "Tags of two tasks in CoNLL-U, in a pipe",
            "cat parsed.conllu | {command} --model_dir=runs/ewt "
            "--task=upos,xpos --format=conllu --output_format=conllu",
        ),
        (
            "Pairs of texts, with a tab between them",
            "--model_dir=runs/nli --task=snli --input=pairs.txt",
        ),
        (
            "Translations with a beam of 4, a line for each line",
            "--model_dir=runs/multi30k --task=en-de --input=texts.en "
            "--output=texts.de --output_format=text --beam=4",
        ),
        (
            "A question about a context, asked for one after the other",
            "--model_dir=runs/decanlp --task=squad --interactive "
            "--output_format=text",
        ),
        (
            "At a prompt, all tasks at once",
            "--model_dir=runs/quickstart --interactive",
        ),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-predict`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
