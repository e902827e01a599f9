"""Predicts texts with a trained run: `python -m launch.predict`."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from absl import flags, logging

from mtl_tf.core.errors import ConfigError, MtlError
from mtl_tf.core.names import hint, look_up
from mtl_tf.programs import common_flags, runner, streams, text_input

# How predictions can be written, by some task types or all.
_FORMS = ("jsonl", "conll", "text")

_INTERACTIVE_HELP = (
    "A line is a text; what else an example has is asked for. /task NAME "
    "changes the task, /tasks lists them, Ctrl-D ends.\n"
)


def define_flags(values: flags.FlagValues) -> None:
    """Defines the program's flags."""
    common_flags.define_model_dir(values, "folder of a trained run")
    flags.DEFINE_string(
        "task",
        None,
        "whose labels or tags to give; needed where the run has several tasks "
        "and the input does not name them",
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
        "format",
        "text",
        text_input.FORMATS,
        "text: an example a line, its texts between tabs where it has several; "
        'jsonl: {"text": ..., "task": ...} a line, with the fields of the '
        'task\'s type, where tokens are tagged also {"tokens": [...]}; conll, '
        "where tokens are tagged: a token a line, in the first column, and a "
        "blank line between sentences",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "output_format",
        "jsonl",
        _FORMS,
        "jsonl: an object a line; conll, where tokens are tagged: token and "
        "tag a line, and a blank line after each sentence; text: the best "
        "translation, the answer, the labels or the number a line",
        flag_values=values,
    )
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


def main(values: flags.FlagValues) -> None:
    """Reads texts and writes their labels."""
    import mtl_tf

    run = mtl_tf.load(values.model_dir, common_flags.decoding(values))
    task = _default_task(run, values.task)
    form = values.output_format
    if values.interactive:
        interact(run, task, sys.stdin.buffer, sys.stdout.buffer, form)
        return
    if not task and values.format != "jsonl":
        raise ConfigError(
            f"--task is missing: this run has {', '.join(task_names(run))}"
        )
    with (
        streams.reading(values.input) as (stream, name),
        streams.writing(values.output) as output,
    ):
        reader = text_input.TextReader(stream, name, values.format)
        predict(run, task, reader, output, values.batch_size, form)
    if reader.replaced:
        logging.warning(
            "%s: %d characters stand for bytes that are not UTF-8",
            name,
            reader.replaced,
        )


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

    Args:
        run: what `mtl_tf.load` returns.
        task: the task of texts that name none; "" if each has to.
        reader: gives the texts.
        output: where the predictions go; it is flushed after each batch.
        batch_size: how many texts the model gets at once.
        form: how they are written; one of the forms of the tasks' types.

    Raises:
        DataError: a line of the input is wrong.
        ConfigError: an example has no task, an unknown one, or one that
            cannot take it or be written so.
    """
    known = {one["name"]: one for one in run.tasks}
    for batch in reader.batches(batch_size):
        tasks = [known[_task_of(item, task, known)] for item in batch]
        fields = [_fields(*pair, form) for pair in zip(batch, tasks)]
        _write(output, _lines(run, tasks, fields, batch_size, form))


def interact(
    run: Any,
    task: str,
    source: BinaryIO,
    output: BinaryIO,
    form: str = "jsonl",
) -> None:
    """Predicts texts typed at a prompt, until the input ends.

    The prompt and remarks go to standard error, predictions to `output`.

    Args:
        run: what `mtl_tf.load` returns.
        task: the task to begin with; the first one if "".
        source: where lines are read from.
        output: where the predictions go.
        form: how predictions are written; see `predict`.
    """
    from mtl_tf.runs import task_types

    task = task or task_names(run)[0]
    known = {one["name"]: one for one in run.tasks}
    _remark(_INTERACTIVE_HELP)
    while True:
        _remark(f"{task}> ")
        line = source.readline()
        if not line:
            _remark("\n")
            return
        text = _typed(line)
        if text.startswith("/"):
            task = _command(run, text, task)
            continue
        asked = task_types.of(known[task]["type"]).asked(known[task])
        if "\t" not in text:
            for name in asked[1:]:
                _remark(f"{name}> ")
                text += "\t" + _typed(source.readline())
        try:
            item = text_input.Item({"text": text}, task, "-", is_line=True)
            fields = _fields(item, known[task], form)
        except ConfigError as error:
            _remark(f"{error}\n")
            continue
        _write(output, _lines(run, [known[task]], [fields], 1, form))


def _typed(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip("\r\n")


def _command(run: Any, text: str, task: str) -> str:
    """Obeys a line that begins with a slash; returns the task from now on."""
    word, _, argument = text.partition(" ")
    names = task_names(run)
    if word == "/task" and argument.strip() in names:
        return argument.strip()
    if word == "/task":
        _remark(f"unknown task {argument!r}; {hint(argument, names)}\n")
    elif word == "/tasks":
        _remark("\n".join(names) + "\n")
    else:
        _remark(_INTERACTIVE_HELP)
    return task


def _remark(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _default_task(run: Any, task: str | None) -> str:
    names = task_names(run)
    if task:
        return look_up(task, {name: name for name in names}, "task")
    return names[0] if len(names) == 1 else ""


def _task_of(item: text_input.Item, default: str, known: Mapping) -> str:
    name = item.task or default
    if not name:
        raise ConfigError(
            f"{item.where}: no task: give --task or a field 'task', one of "
            f"{', '.join(known)}"
        )
    try:
        return look_up(name, known, "task")["name"]
    except MtlError as error:
        raise ConfigError(f"{item.where}: {error}")


def _fields(
    item: text_input.Item, task: Mapping[str, Any], form: str
) -> dict[str, Any]:
    """The fields of an example of a task.

    Raises:
        ConfigError: the task cannot take it, or be written in that form.
    """
    from mtl_tf.runs import task_types

    task_type = task_types.of(task["type"])
    if form not in task_type.forms:
        raise ConfigError(
            f"{item.where}: the task {task['name']} is of type {task['type']}: "
            f"it is written as {' or '.join(task_type.forms)}, not as {form}"
        )
    try:
        if item.is_line:
            return task_type.fields_of_line(task, item.fields["text"])
        return task_type.fields_of(task, item.fields)
    except TypeError as error:
        raise ConfigError(f"{item.where}: {error}")


def _lines(
    run: Any,
    tasks: Sequence[Mapping[str, Any]],
    examples: Sequence[dict[str, Any]],
    batch_size: int,
    form: str,
) -> list[str]:
    """The lines of predictions in the examples' order; a call for each task."""
    from mtl_tf.runs import task_types

    lines = [""] * len(examples)
    names = [task["name"] for task in tasks]
    for task in {task["name"]: task for task in tasks}.values():
        task_type = task_types.of(task["type"])
        places = [n for n, name in enumerate(names) if name == task["name"]]
        chosen = [examples[place] for place in places]
        found = run.predict(task["name"], chosen, batch_size=batch_size)
        for place, example, prediction in zip(places, chosen, found):
            shown = task_type.fields_to_show(example)
            lines[place] = task_type.forms[form]({**shown, **prediction})
    return lines


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
    a pipe. Tokens may also be given: they are then not split, and have no
    offsets. Two texts of an example stand in a line with a tab between them,
    or in fields of JSON.
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
            "Tags for sentences that are split already, in columns",
            "--model_dir=runs/chunks --format=conll --input=sentences.conll "
            "--output_format=conll --output=tagged.conll",
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
        ("At a prompt", "--model_dir=runs/quickstart --interactive"),
    ),
    required=("model_dir",),
)


def run() -> None:
    """Entry point of `mtl-predict`."""
    runner.run(PROGRAM)


if __name__ == "__main__":
    run()
