"""Predicts texts with a trained run: `python -m launch.predict`."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.datasets import column_rows
from mtl_tf.datasets.column_rows import ColumnLayout
from mtl_tf.datasets.tag_columns import TagColumn, TagColumns
from mtl_tf.programs import (
    common_flags,
    input_rows,
    record_table,
    runner,
    streams,
    text_input,
)

from . import asked_predictions, row_predictions

# How predictions can be written, by some task types or all.
_FORMS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS, "text")
# What a file's name tells of its form.
_ENDINGS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS)
_WRITTEN = {ending: ending for ending in _ENDINGS}
_READ = {**_WRITTEN, "json": "jsonl"}


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
        "input",
        "-",
        "file of texts, maybe packed (.gz); - for standard input",
        flag_values=values,
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
        "score",
        False,
        "of runs that write texts: score the texts that stand behind those "
        "that are read, in a line behind a tab, in jsonl or tables as "
        "translation or answer, in place of writing some; text, as output "
        "format, is then the log-likelihood a line",
        flag_values=values,
    )
    flags.DEFINE_bool(
        "interactive", False, "ask for texts at a prompt", flag_values=values
    )
    common_flags.define_weights(values)
    common_flags.define_decoding(values)
    common_flags.define_alignments(values, "in jsonl, csv and tsv")


def _define_form(values: flags.FlagValues) -> None:
    """Defines what says how the input is written."""
    flags.DEFINE_enum(
        "format",
        None,
        text_input.FORMATS,
        "by default what the input's name ends with, else text. text: an "
        "example a line, its texts between tabs where it has several; "
        'jsonl: {"text": ..., "task": ...} a line, with the fields of the '
        'task\'s type, where tokens are tagged also {"tokens": [...]}, or one '
        "list of such objects, or one object as SQuAD's files are, which may "
        "end in .json; csv and tsv: the same in columns, which the first row "
        "names; conll, where tokens are tagged: a token a line, in the column "
        "that the task's own files have it in, else the first one, and a blank "
        "line between sentences; conllu: the words of CoNLL-U",
        flag_values=values,
    )
    flags.DEFINE_list(
        "columns",
        [],
        "FIELD=COLUMN, what a field such as text or task is called in jsonl, "
        "csv or tsv, where it has another name, in jsonl also a key inside "
        "objects, meta.text; comma-separated. By default "
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

    read = values.format or _form_of(values.input, _READ) or "text"
    columns = input_rows.parse_columns(values.columns, read)
    delimiter = input_rows.parse_delimiter(values.delimiter, read)
    if values.comment is not None and read != "conll":
        raise ConfigError(
            f"--comment is for conll, and the input is read as {read}: give "
            "--format=conll"
        )
    form = values.output_format or _form_of(values.output, _WRITTEN) or "jsonl"
    # The lines of such an input come back.
    returned = read in text_input.COLUMNS and form == read
    asked_predictions.check_search(form, values)
    decoding = common_flags.decoding(values)
    run = mtl_tf.load(values.model_dir, decoding, values.weights)
    tasks = asked_predictions.given_tasks(run, values.task)
    task = tasks[0] if tasks else ""
    asked_predictions.check(run, tasks, read, returned, form, values)
    if values.interactive:
        _interact(run, task, values)
        return
    layout = tags = None
    if read in text_input.COLUMNS:
        named, columns = columns, {}
        layout, tags = _column_file(
            *(run, tasks, read, named, delimiter, values.comment, returned)
        )
    elif values.delimiter is None and read == "csv":
        delimiter = _own_delimiter(run, task) or delimiter
    with (
        streams.reading(values.input) as (stream, name),
        streams.writing(values.output) as output,
    ):
        reader = text_input.TextReader(
            stream, name, read, columns, delimiter, layout
        )
        size = values.batch_size
        if returned:
            from mtl_tf.runs import tag_files

            writer = TagColumns(name, layout, tags)
            tag_files.tag(run, tasks, reader, output, size, writer)
        else:
            row_predictions.predict(
                run, task, reader, output, size, form, values.score
            )
    reader.tell()


def _interact(run: Any, task: str, values: flags.FlagValues) -> None:
    """Asks at a prompt; of several tasks the first input says which."""
    from mtl_tf.runs import prompt

    form = values.output_format or prompt.PEOPLE
    first = task if values.task else ""
    prompt.interact(run, first, sys.stdin.buffer, sys.stdout.buffer, form)


def _column_file(
    run: Any,
    tasks: Sequence[str],
    read: str,
    columns: Mapping[str, str],
    delimiter: str,
    comment: str | None,
    returned: bool,
) -> tuple[ColumnLayout, list[TagColumn]]:
    """How an input of columns is laid out, and the columns that get tags.

    Args:
        run: what `mtl_tf.load` returns.
        tasks: names of those that are asked for.
        read: the form of the input.
        columns: what `--columns` says, by field.
        delimiter, comment: what these flags say.
        returned: whether its lines come back.
    """
    from mtl_tf.runs import tag_files

    numbers = column_rows.numbered(columns, read)
    overrides = {
        "tokens": numbers.get("tokens"),
        "separator": (read == "conll" and delimiter) or None,
        "comment": comment,
        "one_width": returned or None,
    }
    layout = tag_files.layout(run, tasks[0], read, overrides)
    tagged = tasks if returned else []
    return layout, tag_files.tag_columns(run, tagged, read, numbers)


def _own_delimiter(run: Any, task: str) -> str:
    """That of the csv files that a task was trained on, or ""."""
    from mtl_tf.runs import labelled_data

    return labelled_data.entry_of(run.config, task).get("delimiter") or ""


def _form_of(path: str, forms: Mapping[str, str]) -> str:
    """The form that the ending of a file's name tells, or ""."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1]
    return forms.get(ending.removeprefix(".").lower(), "")


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
