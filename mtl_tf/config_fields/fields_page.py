"""The page of all config fields, from what `fields` declares.

python -m mtl_tf.config_fields.fields_page > docs/config_fields.md
"""

import textwrap
from collections.abc import Iterable, Iterator

from mtl_tf.config_fields import fields
from mtl_tf.config_fields.field import Group

_WIDTH = 79
_ABOUT = (
    "Every field that a config can have, with its default. A config file "
    "starts from `mtl_tf.configs.base.default_config()` and changes what it "
    "needs. On the command line, `--config.FIELD=VALUE` changes one field."
)
_OPEN = (
    "The fields of an open group depend on its choice, such as `name`. For "
    "another choice, replace the whole group: in a file by "
    '`config.model.scheme = config_dict.ConfigDict({"name": ...})`, on the '
    "command line by `--config.model.scheme=\"{'name': ...}\"`."
)


def text() -> str:
    """All fields for a terminal: name, default and sentence, by group."""
    lines = [*_wrapped(_ABOUT, 0), "", *_wrapped(_OPEN, 0)]
    for path in _below(""):
        field = fields.every()[path]
        if isinstance(field, Group):
            lines += ["", f"{path}{' (open)' if field.open else ''}:"]
            lines += _wrapped(_about(path), 2)
        else:
            lines.append(f"  {path} = {field.default!r}")
            lines += _wrapped(_about(path), 6)
    return "\n".join(lines).replace("`", "")


def markdown() -> str:
    """All fields as the page docs/config_fields.md."""
    top = [path for path in _below("") if "." not in path]
    groups = [path for path in top if isinstance(fields.every()[path], Group)]
    parts = [
        "# Config fields",
        "<!-- Made by `python -m mtl_tf.config_fields.fields_page`: change "
        "mtl_tf/config_fields/fields.py. -->",
        _filled(f"{_ABOUT} `--help_config` prints the same list."),
        _filled(_OPEN),
        _table(path for path in top if path not in groups),
    ]
    for group in groups:
        parts += [f"## {group}", _about(group), _table(_below(group))]
    return "\n\n".join(parts) + "\n"


def _below(group: str) -> Iterator[str]:
    """The paths in a group: its fields, then each group with what it has."""
    paths = [path for path in fields.every() if _parent(path) == group]
    for path in paths:
        if not isinstance(fields.every()[path], Group):
            yield path
    for path in paths:
        if isinstance(fields.every()[path], Group):
            yield path
            yield from _below(path)


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _about(path: str) -> str:
    """The sentence, what it needs, and of which task type it is.

    A type that its group names is not repeated.
    """
    field, task_type = fields.every()[path], _task_type(path)
    sentences = [field.doc]
    if field.needs:
        sentences.append(f"Needs {' or '.join(field.needs)}.")
    if unless := getattr(field, "unless", ()):
        sentences.append(f"Not with {' or '.join(unless)}.")
    if task_type and task_type != _task_type(_parent(path)):
        sentences.append(f"For {task_type} tasks only.")
    return " ".join(sentences)


def _task_type(path: str) -> str:
    parts = fields.by_task_type().items()
    return next((name for name, part in parts if path in part), "")


def _table(paths: Iterable[str]) -> str:
    head = ["| field | default | must be | what it does |", "|---|---|---|---|"]
    return "\n".join([*head, *map(_row, paths)])


def _row(path: str) -> str:
    field, about = fields.every()[path], _about(path).replace("|", "\\|")
    if isinstance(field, Group):
        kind = "open group" if field.open else "group"
        return f"| **`{path}`** | | *{kind}* | {about} |"
    return f"| `{path}` | `{field.default!r}` | {field.rule.words} | {about} |"


def _filled(paragraph: str) -> str:
    return textwrap.fill(paragraph, _WIDTH, break_on_hyphens=False)


def _wrapped(paragraph: str, indent: int) -> list[str]:
    space = " " * indent
    return textwrap.wrap(
        paragraph,
        _WIDTH,
        initial_indent=space,
        subsequent_indent=space,
        break_on_hyphens=False,
    )


if __name__ == "__main__":
    print(markdown(), end="")
