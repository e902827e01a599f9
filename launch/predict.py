"""Predicts texts with a trained run: `python -m launch.predict`."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

# How predictions can be written, by some task types or all.
_FORMS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS, "text")
# What a file's name tells of its form.
_ENDINGS = ("jsonl", *record_table.FORMS, *text_input.COLUMNS)
_WRITTEN = {ending: ending for ending in _ENDINGS}
_READ = {**_WRITTEN, "json": "jsonl"}


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(
        values,
        "folder of a trained run, or the file that launch.ensemble --output "
        "wrote",
    )
    flags.DEFINE_string(
        "task",
        None,
        "task to predict. Needed if the run has several tasks and the input "
        "does not name them. With --output_format=conll or conllu, several "
        "tasks can write their tags into one file: a,b",
        flag_values=values,
    )
    flags.DEFINE_string(
        "input",
        "-",
        "file to read, which may be packed (.gz); - for standard input",
        flag_values=values,
    )
    _define_output(values)
    _define_form(values)
    flags.DEFINE_integer(
        "batch_size",
        64,
        "texts per batch",
        lower_bound=1,
        flag_values=values,
    )
    flags.DEFINE_bool(
        "score",
        False,
        "score given texts instead of writing new ones. For translation and "
        "question answering. The text to score follows the text that the "
        "model reads: in a line after a tab, in jsonl and tables as the field "
        "translation or answer. The output format text is then the "
        "log-likelihood of each text",
        flag_values=values,
    )
    flags.DEFINE_bool(
        "interactive", False, "type texts at a prompt", flag_values=values
    )
    common_flags.define_weights(values)
    common_flags.define_decoding(values)
    common_flags.define_alignments(values, "in jsonl, csv and tsv output")


def _define_output(values: flags.FlagValues) -> None:
    """Defines where predictions are written, and in which format."""
    flags.DEFINE_string(
        "output",
        "-",
        "file for the predictions; - for standard output",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "output_format",
        None,
        _FORMS,
        "format of the predictions. If not given: what the name of --output "
        "ends with, else jsonl; with --interactive, lines that are easy to "
        "read:\n"
        "* jsonl: a JSON object per line.\n"
        "* csv, tsv: a row per example, written at the end.\n"
        "* conll (tagging): a token and its tag per line, a blank line after "
        "each sentence. If the input is conll, too: its lines with the tags "
        "in their column.\n"
        "* conllu (tagging): the lines of a conllu input with the tags in "
        "their column.\n"
        "* text: per line the best translation, the answer, the labels or the "
        "number.",
        flag_values=values,
    )


def _define_form(values: flags.FlagValues) -> None:
    """Defines what says how the input is written."""
    flags.DEFINE_enum(
        "format",
        None,
        text_input.FORMATS,
        "format of the input. If not given: what the name of --input ends "
        "with, else text:\n"
        "* text: an example per line. If an example has several texts, tabs "
        "separate them.\n"
        '* jsonl: an object per line, {"text": ..., "task": ...}, with the '
        'fields of the task\'s type; for tagging also {"tokens": [...]}. '
        "Also one list of such objects, or one object like SQuAD's files. A "
        "name may then end with .json.\n"
        "* csv, tsv: the same fields in columns. The first row names the "
        "columns.\n"
        "* conll (tagging): a token per line and a blank line between "
        "sentences. The tokens are in the same column as in the task's own "
        "files, else in the first one.\n"
        "* conllu (tagging): the words of CoNLL-U.",
        flag_values=values,
    )
    flags.DEFINE_list(
        "columns",
        [],
        "names of columns, as FIELD=COLUMN, separated by commas. If not "
        "given: the names in the task's own files, if the input has such "
        "columns:\n"
        "* jsonl, csv, tsv: the column or key of a field such as text or "
        "task, if it has another name. In jsonl, meta.text is the key text of "
        "the object meta.\n"
        "* conll, conllu: tokens=COLUMN and tags=COLUMN, or TASK=COLUMN for "
        "the tags of several tasks. A column is a number from 0, or from -1 "
        "for the last one; in conllu also a name such as xpos. The number "
        "after the last column adds a column.",
        flag_values=values,
    )
    flags.DEFINE_string(
        "delimiter",
        None,
        "separator of the columns. For csv one character, such as ';'; if not "
        "given: that of the task's own files, else a comma. For conll, if not "
        "given: spaces and tabs",
        flag_values=values,
    )
    flags.DEFINE_string(
        "comment",
        None,
        "start of conll lines that are no tokens, such as '# '. If not given: "
        "as in the task's own files",
        flag_values=values,
    )


def main(values: flags.FlagValues) -> None:
    """Reads texts and writes their labels."""
    import mtl_tf

    streams.check_text(values.input)
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
    if not values.interactive:
        streams.check_apart(values.input, values.output)
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
            run, tasks, read, named, delimiter, values.comment, returned
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
            from mtl_tf.runs.loaded import tag_files

            writer = TagColumns(name, layout, tags)
            tag_files.tag(run, tasks, reader, output, size, writer)
        else:
            row_predictions.predict(
                run, task, reader, output, size, form, values.score
            )
    reader.tell()


def _interact(run: "Run", task: str, values: flags.FlagValues) -> None:
    """Asks at a prompt; of several tasks the first input says which."""
    from mtl_tf.runs.loaded import prompt

    form = values.output_format or prompt.PEOPLE
    first = task if values.task else ""
    prompt.interact(run, first, sys.stdin.buffer, sys.stdout.buffer, form)


def _column_file(
    run: "Run",
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
    from mtl_tf.runs.loaded import tag_files

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


def _own_delimiter(run: "Run", task: str) -> str:
    """That of the csv files that a task was trained on, or ""."""
    from mtl_tf.prediction import labelled_data

    return labelled_data.entry_of(run.config, task).get("delimiter") or ""


def _form_of(path: str, forms: Mapping[str, str]) -> str:
    """The form that the ending of a file's name tells, or ""."""
    ending = os.path.splitext(path.removesuffix(".gz"))[1]
    return forms.get(ending.removeprefix(".").lower(), "")


PROGRAM = runner.Program(
    name="predict",
    summary="""
    Predicts examples with a trained run. Each prediction is a line of JSON with
    the texts, the task and the result, which depends on the type of the task:

    * classification: the label, and the score of every label
    * multi-label: the labels, and the score of every label
    * regression: the number
    * tagging: the tokens, their tags, character offsets and confidences;
      without tokens beyond the run's text.max_length
    * translation: the translation and its score
    * question answering: the answer, its confidence, and the source of each
      word

    Predictions are written as soon as texts are read, so the program works in a
    pipe. Other fields of the input, such as an id, are copied: they come before
    the prediction. If the prediction has a field of the same name, the copy is
    called input_NAME.

    Two texts of an example are separated by a tab in a line, or are fields of a
    JSON object. Tokens that you give are not split again and have no offsets.
    Column files (conll, conllu) can be written back with the tags in a column.
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
            "A file with a text per line",
            "--model_dir=runs/quickstart --task=books --input=texts.txt "
            "--output=predictions.jsonl",
        ),
        (
            'Texts of several tasks, each line as {"text": "...", "task": '
            '"books"}',
            "--model_dir=runs/quickstart --format=jsonl --input=texts.jsonl",
        ),
        (
            "A column of a table; the other columns are kept, and labels and "
            "scores are added",
            "--model_dir=runs/quickstart --task=books --input=reviews.csv "
            "--columns=text=review --output=predicted.csv",
        ),
        (
            "Tags in a column of a file; everything else stays the same",
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
            "Translations with a beam of 4, line by line",
            "--model_dir=runs/multi30k --task=en-de --input=texts.en "
            "--output=texts.de --output_format=text --beam=4",
        ),
        (
            "Questions about contexts, typed at a prompt",
            "--model_dir=runs/decanlp --task=squad --interactive "
            "--output_format=text",
        ),
        (
            "Texts typed at a prompt, predicted for all tasks",
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
