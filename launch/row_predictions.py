"""What `launch.predict` makes of the examples that it has read, by batches."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

from mtl_tf.core.columns import renamed
from mtl_tf.core.errors import ConfigError, MtlError
from mtl_tf.core.names import look_up
from mtl_tf.programs import input_rows, record_table, text_input

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

# Batches that are read at once, so that texts of similar length can stand in
# one.
_READ_AHEAD = 16
_OTHER_MEANING = "; if the field 'task' names something else, rename it"


def predict(
    run: "Run",
    task: str,
    reader: text_input.TextReader,
    output: BinaryIO,
    batch_size: int,
    form: str = "jsonl",
    score: bool = False,
) -> None:
    """Writes the prediction for each example of `reader`, batch by batch.

    What else a row of the input has stands before its prediction; a field
    that the prediction has, too, is then called `input_NAME`.

    Args:
        run: what `mtl_tf.load` returns.
        task: the task of texts that name none; "" if each has to.
        reader: gives the texts.
        output: where the predictions go; it is flushed after some batches.
            Tables are written at the end, when all their columns are known.
        batch_size: how many texts the model gets at once.
        form: how they are written; one of the forms of the tasks' types.
        score: whether texts that are given are scored.

    Raises:
        DataError: a line of the input is wrong.
        ConfigError: an example has no task, an unknown one, or one that
            cannot take it or be written so.
    """
    from mtl_tf.prediction import task_types

    asked = _Asked(run, score)
    known = {task["name"]: task for task in run.tasks}
    asked.check_columns(reader.columns)
    empty = input_rows.EmptyTexts()
    with contextlib.ExitStack() as resources:
        table = None
        if form in record_table.FORMS:
            table = resources.enter_context(record_table.RecordTable(form))
        for batch in reader.batches(batch_size * _READ_AHEAD):
            tasks = [known[_task_of(item, task, known)] for item in batch]
            columns = [
                _own_columns(item, task, asked, reader.columns)
                for item, task in zip(batch, tasks)
            ]
            fields = [
                _fields(*row, form, asked) for row in zip(batch, tasks, columns)
            ]
            optional = [task_types.of(t["type"]).may_be_empty(t) for t in tasks]
            empty.look(batch, [asked.read_of(x) for x in fields], optional)
            places = [item.location for item in batch]
            predictions = _predictions(asked, tasks, fields, batch_size, places)
            records = [
                input_rows.record({**of_task, **reader.columns}, *row)
                for of_task, *row in zip(columns, batch, fields, predictions)
            ]
            if table:
                for record in records:
                    table.add(record)
            else:
                _write(output, map(_writer(form, asked), tasks, records))
        if table:
            table.write(output)
            output.flush()
            table.tell_altered()
    empty.tell()
    asked.cut.tell()


class _Asked:
    """What is asked of a run: predictions, or scores of given texts.

    Attributes:
        cut: tells at the end which examples were cut.
    """

    def __init__(self, run: "Run", score: bool):
        from mtl_tf.prediction.cut_texts import CutTexts

        self.run, self.score = run, score
        self.cut = CutTexts(run)

    def type_of(self, task: Mapping[str, Any]) -> Any:
        """What reads a task's examples and writes what is told of them."""
        from mtl_tf.prediction import task_types

        if self.score:
            return task_types.given_texts_of(task)
        return task_types.of(task["type"])

    def read_of(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What a model reads of an example: not the text that it scores."""
        scored = list(fields)[-1:] if self.score else ()
        return {k: v for k, v in fields.items() if k not in scored}

    def columns(self, task: Mapping[str, Any]) -> dict[str, str]:
        """What the task's own files call the fields of its examples."""
        from mtl_tf.prediction import labelled_data

        if self.score:
            return labelled_data.given_columns(self.run.config, task)
        return labelled_data.trained_columns(self.run.config, task)

    def check_columns(self, named: Mapping[str, str]) -> None:
        """Refuses columns of fields that no task reads.

        Otherwise a row's column that is called as in the task's own files would
        be read instead, without a word.

        Args:
            named: columns that the user has named, by field.
        """
        if not named:
            return
        from mtl_tf.prediction import task_types

        known = {"task"}
        for task in self.run.tasks:
            of_type = task_types.of(task["type"])
            if not self.score:
                known.update(of_type.input_fields(task))
            elif not of_type.given_texts:
                continue
            known.update(self.type_of(task).column_fields(task))
            # These names are read as well.
            known.update(self.columns(task).values())
        for field in named:
            look_up(field, dict.fromkeys(sorted(known)), "field of --columns")

    def tell(
        self, task: str, examples: list[dict[str, Any]], batch_size: int
    ) -> list[dict[str, Any]]:
        """What the run tells of a task's examples."""
        if self.score:
            return self.run.score(task, examples)
        return self.run.predict(task, examples, batch_size=batch_size)


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
        raise ConfigError(
            f"{item.location}: {error}{_OTHER_MEANING if item.task else ''}"
        )


def _own_columns(
    item: text_input.Item,
    task: Mapping[str, Any],
    asked: _Asked,
    named: Mapping[str, str],
) -> dict[str, str]:
    """The columns of a row that the task was trained with, by field.

    Args:
        item: what was read, its fields named as `named` says.
        task: the task.
        asked: what is asked of it.
        named: columns that the user has named, which come first.
    """
    if not item.row:
        return {}
    trained = asked.columns(task)
    rest = {k: column for k, column in trained.items() if k not in named}
    return asked.type_of(task).columns_in(item.fields, rest)


def _fields(
    item: text_input.Item,
    task: Mapping[str, Any],
    columns: Mapping[str, str],
    form: str,
    asked: _Asked,
) -> dict[str, Any]:
    """The fields of an example of a task.

    Raises:
        ConfigError: the task cannot take it, or be written in that form.
    """
    task_type = asked.type_of(task)
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
        fields = task_type.column_fields(task)
        # Given texts may be several.
        lists = fields[-1:] if asked.score else ()
        advice = input_rows.advice(item, fields, asked.columns(task), lists)
        raise ConfigError(f"{item.location}: {error}{advice}")


def _predictions(
    asked: _Asked,
    tasks: Sequence[Mapping[str, Any]],
    examples: Sequence[dict[str, Any]],
    batch_size: int,
    places: Sequence[str],
) -> list[dict[str, Any]]:
    """What is predicted, in the examples' order; a call for each task."""
    predictions: list[dict[str, Any]] = [{} for _ in examples]
    names = [task["name"] for task in tasks]
    for task in {task["name"]: task for task in tasks}.values():
        task_type = asked.type_of(task)
        numbers = [n for n, name in enumerate(names) if name == task["name"]]
        of_task = [examples[number] for number in numbers]
        read = [asked.read_of(example) for example in of_task]
        asked.cut.look(task, read, [places[number] for number in numbers])
        predicted = asked.tell(task["name"], of_task, batch_size)
        for number, example, prediction in zip(numbers, of_task, predicted):
            fields = task_type.fields_to_show(example)
            predictions[number] = {**fields, **prediction}
    return predictions


def _writer(
    form: str, asked: _Asked
) -> Callable[[Mapping[str, Any], Mapping[str, Any]], str]:
    """From a task and a record to its lines."""
    return lambda task, record: asked.type_of(task).forms[form](record)


def _write(output: BinaryIO, lines: Iterable[str]) -> None:
    output.write("".join(lines).encode())
    output.flush()
