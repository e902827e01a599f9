"""Predicts texts that are typed at a prompt."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from mtl_tf.core.names import hint
from mtl_tf.prediction import task_types
from mtl_tf.runs.loaded.loaded_run import Run

#: A line for each task, for people to read; task types have other forms.
PEOPLE = "people"

_HELP = (
    "A line is a text; what else an example has is asked for. /task NAME "
    "changes the task, /all asks all tasks that read the same, /tasks lists "
    "them, Ctrl-D ends. A text that begins with / is typed with //.\n"
)


def interact(
    run: Run,
    task: str,
    source: BinaryIO,
    output: BinaryIO,
    form: str = PEOPLE,
) -> None:
    """Predicts texts typed at a prompt, until the input ends.

    The prompt and remarks go to standard error, predictions to `output`.

    Args:
        run: the return value of `mtl_tf.load`.
        task: the first task. If "", all tasks with the inputs of the run's
            first task (in the form `PEOPLE`), else the run's first task.
        source: the input, read line by line.
        output: the stream that predictions are written to.
        form: the form of predictions: `PEOPLE`, or a form of the tasks' types.
    """
    prompt = _Prompt(run, task, form)
    _remark(_HELP)
    while True:
        _remark(f"{prompt.title}> ")
        line = source.readline()
        if not line:
            _remark("\n")
            return
        text = _typed(line)
        if text.startswith("//"):
            text = text[1:]
        elif text.startswith("/"):
            prompt.command(text)
            continue
        if prompt.refuses(text):
            continue
        for name in prompt.asked[1:] if "\t" not in text else ():
            _remark(f"{name}> ")
            line = source.readline()
            if not line:
                _remark("\n")
                return
            text += "\t" + _typed(line)
        output.write("".join(prompt.answers(text)).encode())
        output.flush()


class _Prompt:
    """The state of the prompt: the current tasks and form."""

    def __init__(self, run: Run, task: str, form: str):
        self.run, self.form = run, form
        self.known = {described["name"]: described for described in run.tasks}
        first = next(iter(self.known))
        together = not task and form == PEOPLE
        self.chosen = self._alike() if together else [task or first]

    @property
    def title(self) -> str:
        """The text before the prompt, which names the tasks."""
        several = len(self.chosen) > 1
        return f"{len(self.chosen)} tasks" if several else self.chosen[0]

    @property
    def asked(self) -> tuple[str, ...]:
        """The tab-separated fields of an example."""
        return self._asked(self.known[self.chosen[0]])

    def _asked(self, task: Mapping[str, Any]) -> tuple[str, ...]:
        return task_types.of(task["type"]).asked(task)

    def _alike(self) -> list[str]:
        """The tasks with the same inputs as the first one."""
        asked = self._asked(next(iter(self.known.values())))
        return [
            n for n, task in self.known.items() if self._asked(task) == asked
        ]

    def command(self, text: str) -> None:
        """Executes a line that begins with a slash."""
        word, _, name = text.partition(" ")
        name = name.strip()
        if word == "/task" and name in self.known:
            self.chosen = [name]
        elif word == "/task":
            _remark(f"unknown task {name!r}; {hint(name, self.known)}\n")
        elif word == "/tasks":
            _remark("\n".join(self.known) + "\n")
        elif word == "/all":
            self.chosen = self._alike()
        else:
            _remark(_HELP)

    def refuses(self, text: str) -> bool:
        """Whether a required one of the fields so far is empty; remarks it."""
        # To a program, every line is an example.
        for_people = self.form in (PEOPLE, "text")
        empty = self._empty(text) if for_people else ""
        if empty:
            _remark(f"{empty} is empty: there is nothing to predict from\n")
        return bool(empty)

    def answers(self, text: str) -> list[str]:
        """The predictions for a text, or a remark why there are none."""
        if self.refuses(text):
            return []
        width = max(map(len, self.chosen))
        return [
            line
            for name in self.chosen
            for line in self._answer(self.known[name], text, width)
        ]

    def _empty(self, text: str) -> str:
        """The name of a required field that is empty, or ""."""
        task = self.known[self.chosen[0]]
        optional = task_types.of(task["type"]).may_be_empty(task)
        # In a single field, and in the last of several, a tab is white space.
        parts = text.split("\t", len(self.asked) - 1)
        missing = [
            name
            for name, part in zip(self.asked, parts)
            if not part.strip() and name not in optional
        ]
        if not missing:
            return ""
        if optional:
            return f"the {missing[0]}"
        return "the text" if len(self.asked) == 1 else "one of the texts"

    def _answer(
        self, task: Mapping[str, Any], text: str, width: int
    ) -> Sequence[str]:
        task_type, name = task_types.of(task["type"]), task["name"]
        if self.form not in (PEOPLE, *task_type.forms):
            _remark(
                f"the task {name} is of type {task['type']}: it is written as "
                f"{' or '.join(task_type.forms)}, not as {self.form}\n"
            )
            return []
        try:
            fields = task_type.fields_of_line(task, text)
        except TypeError as error:
            _remark(f"{error}\n")
            return []
        if task_type.cut(self.run.run_of(name), task, [fields]).any():
            _remark(
                f"{name}: longer than the model reads (text.max_length); the "
                "prediction rests on what stands before the cut\n"
            )
        [prediction] = self.run.predict(name, [fields], batch_size=1)
        if self.form == PEOPLE:
            return [f"{name:{width}}  {task_type.told(prediction)}\n"]
        visible = task_type.fields_to_show(fields)
        return [task_type.forms[self.form]({**visible, **prediction})]


def _typed(line: bytes) -> str:
    return line.decode("utf-8", errors="replace").rstrip("\r\n")


def _remark(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
