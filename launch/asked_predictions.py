"""What is asked of `launch.predict`, and whether it fits together."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from absl import flags

from mtl_tf.core.errors import ConfigError
from mtl_tf.core.names import look_up
from mtl_tf.programs import common_flags, input_rows, record_table

if TYPE_CHECKING:
    from mtl_tf.runs.loaded.loaded_run import Run

# Forms of the output that have a place for more than the best text.
_WITH_FIELDS = ("jsonl", *record_table.FORMS)


def given_tasks(run: "Run", argument: str | None) -> list[str]:
    """The tasks that `--task` names, or the run's only one, or none.

    Args:
        run: what `mtl_tf.load` returns.
        argument: what the flag says.

    Raises:
        ConfigError: the run has no such task, or one is named twice.
    """
    names = _names(run)
    if not argument:
        return names if len(names) == 1 else []
    known = {name: name for name in names}
    tasks = [look_up(n.strip(), known, "task") for n in argument.split(",")]
    for task in tasks:
        if tasks.count(task) > 1:
            raise ConfigError(f"--task names the task {task} twice")
    return tasks


def check_search(form: str, values: flags.FlagValues) -> None:
    """Refuses flags of the search that would change nothing.

    Args:
        form: the form of the output.
        values: of the flags.

    Raises:
        ConfigError: there are such.
    """
    if values.score:
        decoding = common_flags.decoding(values)
        # The penalty is in the score of a text, whoever has written it.
        for name in sorted(set(decoding) - {"length_penalty"}):
            raise ConfigError(
                f"--score takes no --{name}: it looks for no texts, it scores "
                "those that are given"
            )
    if values.interactive:
        form = values.output_format or "lines for people"
    if form in _WITH_FIELDS:
        return
    more = {"alignments": values.alignments, "n_best": (values.n_best or 1) > 1}
    for name, is_asked in more.items():
        if is_asked:
            *others, last = _WITH_FIELDS
            raise ConfigError(
                f"--{name} is for predictions in {', '.join(others)} or {last}"
                f", and these are written as {form}: give --output_format=jsonl"
            )


def check(
    run: "Run",
    tasks: Sequence[str],
    read: str,
    returned: bool,
    form: str,
    values: flags.FlagValues,
) -> None:
    """Refuses several tasks, or none, and forms that do not fit together.

    Args:
        run: what `mtl_tf.load` returns.
        tasks: names of those that are asked for.
        read: the form of the input.
        returned: whether the lines of the input come back.
        form: the form of the output.
        values: of the flags.

    Raises:
        ConfigError: see above.
    """
    if len(tasks) > 1 and (values.interactive or not returned):
        raise ConfigError(
            f"--task names {len(tasks)} tasks: only a file of columns can get "
            "the tags of several, where --format and --output_format are both "
            "conll or both conllu"
        )
    if values.score:
        _check_scored(run, tasks, values.interactive)
    if values.interactive:
        return
    if not tasks and read not in input_rows.NAMED:
        raise ConfigError(
            f"--task is missing: this run has {', '.join(_names(run))}"
        )
    if form == "conllu" and not returned:
        raise ConfigError(
            "--output_format=conllu is for input in conllu, whose lines come "
            f"back, and the input is read as {read}"
        )


def _names(run: "Run") -> list[str]:
    """The names of the tasks of a run."""
    return [task["name"] for task in run.tasks]


def _check_scored(run: "Run", tasks: Sequence[str], interactive: bool) -> None:
    """Refuses tasks whose models write no texts, and a prompt."""
    from mtl_tf.prediction import task_types

    for task in run.tasks:
        if task["name"] in tasks:
            task_types.given_texts_of(task)
    if interactive:
        raise ConfigError("--score takes no --interactive")
