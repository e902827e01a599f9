"""Labels texts, or tags their tokens: `python -m launch.predict`."""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, BinaryIO

from absl import flags, logging

from mtl_tf.core.errors import ConfigError, MtlError
from mtl_tf.core.names import hint, look_up
from mtl_tf.programs import common_flags, runner, streams, text_input

# From an answer to its lines.
Writer = Callable[[Mapping[str, Any]], str]

_INTERACTIVE_HELP = (
    "A line is a text. /task NAME changes the task, /tasks lists them, "
    "Ctrl-D ends.\n"
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
        "file for the answers, - for standard output",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "format",
        "text",
        text_input.FORMATS,
        'text: a text a line; jsonl: {"text": ..., "task": ...} a line, for '
        'tagging tasks also {"tokens": [...], "task": ...}; conll, for tagging '
        "tasks: a token a line, in the first column, and a blank line between "
        "sentences",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "output_format",
        "jsonl",
        tuple(_WRITERS),
        "jsonl: an object a line; conll, for tagging tasks: token and tag a "
        "line, and a blank line after each sentence; text, for translation "
        "tasks: the best translation a line",
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
    write = _WRITERS[values.output_format]
    if values.interactive:
        interact(run, task, sys.stdin.buffer, sys.stdout.buffer, write)
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
        predict(run, task, reader, output, values.batch_size, write)
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
    write: Writer | None = None,
) -> None:
    """Writes the answer to each text of `reader`, batch by batch.

    Args:
        run: what `mtl_tf.load` returns.
        task: the task of texts that name none; "" if each has to.
        reader: gives the texts.
        output: where the answers go; it is flushed after each batch.
        batch_size: how many texts the model gets at once.
        write: gives the lines of an answer; a line of JSON by default.

    Raises:
        DataError: a line of the input is wrong.
        ConfigError: a text has no task, an unknown one, or one that cannot
            take it or be written so.
    """
    write = write or as_json
    known = {one["name"]: one for one in run.tasks}
    for batch in reader.batches(batch_size):
        tasks = [_task_of(item, task, known) for item in batch]
        for item, name in zip(batch, tasks):
            _check_kind(item, known[name], write)
        texts = [item.content for item in batch]
        _write(output, map(write, _answers(run, tasks, texts, batch_size)))


def interact(
    run: Any,
    task: str,
    source: BinaryIO,
    output: BinaryIO,
    write: Writer | None = None,
) -> None:
    """Answers texts typed at a prompt, until the input ends.

    The prompt and remarks go to standard error, answers to `output`.

    Args:
        run: what `mtl_tf.load` returns.
        task: the task to begin with; the first one if "".
        source: where lines are read from.
        output: where the answers go.
        write: gives the lines of an answer; a line of JSON by default.
    """
    write = write or as_json
    task = task or task_names(run)[0]
    known = {one["name"]: one for one in run.tasks}
    _remark(_INTERACTIVE_HELP)
    while True:
        _remark(f"{task}> ")
        line = source.readline()
        if not line:
            _remark("\n")
            return
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if text.startswith("/"):
            task = _command(run, text, task)
            continue
        try:
            _check_kind(text_input.Item(text, task, "-"), known[task], write)
        except ConfigError as error:
            _remark(f"{error}\n")
            continue
        _write(output, map(write, _answers(run, [task], [text], 1)))


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


def _check_kind(item: text_input.Item, task: Mapping, write: Writer) -> None:
    """Raises `ConfigError` where only a task of another kind would do."""
    columns, text = write is as_columns, write is as_text
    for wanted, kind, what in (
        (item.tokens is not None, "tagging", "takes texts, not tokens"),
        (columns, "tagging", "has no tags that columns could show"),
        (text, "translation", "has no translation for a line"),
    ):
        if wanted and task["kind"] != kind:
            raise ConfigError(
                f"{item.where}: the task {task['name']} is of kind "
                f"{task['kind']}: it {what}"
            )


def _answers(
    run: Any,
    tasks: Sequence[str],
    texts: Sequence[str | list[str]],
    batch_size: int,
) -> list[dict[str, Any]]:
    """The answers in the order of the texts, with a call for each task."""
    answers: list[dict[str, Any]] = [{}] * len(texts)
    for task in dict.fromkeys(tasks):
        places = [place for place, name in enumerate(tasks) if name == task]
        chosen = [texts[place] for place in places]
        predictions = run.predict(task, chosen, batch_size=batch_size)
        for place, text, answer in zip(places, chosen, predictions):
            given = {"text": text} if isinstance(text, str) else {}
            answers[place] = {**given, **answer}
    return answers


def as_json(answer: Mapping[str, Any]) -> str:
    """An answer as a line of JSON."""
    return json.dumps(answer, ensure_ascii=False) + "\n"


def as_columns(answer: Mapping[str, Any]) -> str:
    """The answer of a tagging task as lines of token and tag.

    Tags are the run's own, in the scheme that it was trained in.
    """
    from mtl_tf.evaluation import tagging_metrics

    return tagging_metrics.conll_sentence(answer["tokens"], answer["tags"])


def as_text(answer: Mapping[str, Any]) -> str:
    """The best translation as a line."""
    return f"{answer['translation']}\n"


_WRITERS = {"jsonl": as_json, "conll": as_columns, "text": as_text}


def _write(output: BinaryIO, answers: Iterable[str]) -> None:
    output.write("".join(answers).encode())
    output.flush()


PROGRAM = runner.Program(
    name="predict",
    summary="""
    Labels texts with a trained run, tags their tokens or translates them. Each
    answer is a line of JSON: text, task, label and the score of every label;
    of a tagging task text, task, tokens, tags, the tokens' offsets in
    characters and the confidence of each tag; tokens that the run's
    text.max_length cuts off are left out; of a pair of languages text, task,
    translation and score. It is written as soon as the text has been read, so
    the program can stand in a pipe. Tokens may also be given: they are then
    not split, and have no offsets.
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
            "--output=answers.jsonl",
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
            "Translations with a beam of 4, a line for each line",
            "--model_dir=runs/multi30k --task=en-de --input=texts.en "
            "--output=texts.de --output_format=text --beam=4",
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
