"""The text of `--help`: only what a newcomer needs."""

import ast
import os
import re
import textwrap
from collections.abc import Sequence

from absl import flags

from mtl_tf.programs import config_argument, config_files

#: The flag that lists the config fields, for programs with a config.
CONFIG_HELP = "help_config"
_WIDTH = 79
_INDENT = " " * 6
# The beginning of a list item.
_ITEM = re.compile(r"\n(?=\* )")
# absl's addition to repeatable flags, whose own help says so already.
_REPETITION = re.compile(r";\s+repeat this option to specify a list of values$")
_VERBOSITY = (
    "how much is logged: -1 warnings, 0 also progress (default), 1 "
    "everything. If you give this flag, TensorFlow's own messages are shown, "
    "too, and log lines have level, time, thread and place in the code"
)
_ABOUT_COMPLETION = (
    "print a bash script that completes the flags of the installed command. "
    "To use it: source <(mtl-train --bash_completion)"
)
_ABOUT_CONFIG_HELP = "show all config fields: defaults and meaning"


def text(program, own_flags: Sequence[flags.Flag]) -> str:
    """The help text of a program.

    Args:
        program: a `runner.Program`.
        own_flags: the flags to list.

    Returns:
        Summary, usage line, examples, flags and, for programs that take a
        config, the shipped configs and how to list the config's fields.
    """
    command = program.command()
    needed = [f"--{name}=..." for name in program.required]
    if program.takes_config:
        optional = program.config_optional
        needed.insert(0, "[--config=...]" if optional else "--config=...")
    parts = [
        _paragraphs(program.summary),
        f"Usage: {' '.join([command, *needed, '[flags]'])}",
        _examples(command, program.examples),
        _flags(own_flags, program.takes_config),
    ]
    if program.takes_config:
        parts += [
            _configs(),
            f"{command} --{CONFIG_HELP} lists all config fields.",
        ]
    return "\n\n".join(part for part in parts if part)


def _paragraphs(summary: str) -> str:
    paragraphs = textwrap.dedent(summary).strip().split("\n\n")
    return "\n\n".join("\n".join(_wrapped(part, "")) for part in paragraphs)


def _examples(command: str, examples: Sequence[tuple[str, str]]) -> str:
    if not examples:
        return ""
    lines = ["Examples:"]
    for purpose, arguments in examples:
        line = arguments.replace("{command}", command)
        line = line if "{command}" in arguments else f"{command} {line}"
        lines += [f"  {purpose}:", f"    {line}"]
    return "\n".join(lines)


def _flags(own_flags: Sequence[flags.Flag], takes_config: bool) -> str:
    lines = ["Flags:"]
    if takes_config:
        lines += ["  --config", *_wrapped(config_argument.HELP)]
        lines += ["  --config.FIELD", *_wrapped(config_argument.OVERRIDE_HELP)]
    for flag in sorted(own_flags, key=lambda flag: flag.name):
        name = f"[no]{flag.name}" if flag.boolean else flag.name
        lines += [f"  --{name}", *_wrapped(_describe(flag))]
    lines += ["  --help", *_wrapped("show this text (--helpfull: more flags)")]
    lines += ["  --bash_completion", *_wrapped(_ABOUT_COMPLETION)]
    lines += ["  --version", *_wrapped("show the version of mtl_tf")]
    if takes_config:
        lines += [f"  --{CONFIG_HELP}", *_wrapped(_ABOUT_CONFIG_HELP)]
    return "\n".join(lines)


def _describe(flag: flags.Flag) -> str:
    if flag.name == "verbosity":
        return _VERBOSITY
    description = _REPETITION.sub("", (flag.help or "").strip())
    intro, *items = _ITEM.split(description)
    options = getattr(flag.parser, "enum_values", None)
    if options:
        intro = re.sub(r"^<[^>]*>:\s*", "", intro)
        if not items:  # Otherwise the items are the options.
            intro += f". One of {', '.join(options)}"
    if flag.default not in (None, "", [], False):
        default = flag.default_as_str.strip("'")
        if isinstance(flag.default, list):
            default = ", ".join(flag.default)
        intro = intro.removesuffix(":") + f" (default: {default})"
        intro += ":" if items else ""
    return "\n".join([intro, *items])


def _wrapped(description: str, indent: str = _INDENT) -> list[str]:
    """Wraps a paragraph with its list items, "* ..."."""
    lines = []
    for part in _ITEM.split(description):
        hanging = "  " if part.startswith("* ") else ""
        lines += textwrap.wrap(
            " ".join(part.split()),
            _WIDTH,
            initial_indent=indent,
            subsequent_indent=indent + hanging,
            break_on_hyphens=False,
        )
    return lines


def _configs() -> str:
    lines = ["Shipped configs (--config=NAME):"]
    for name, path in sorted(config_files.shipped().items()):
        lines += [f"  {name}", *_wrapped(_first_line(path))]
    return "\n".join(lines)


def _first_line(path: str) -> str:
    # Read, not imported, as help must not depend on what configs import.
    try:
        with open(path, encoding="utf-8") as file:
            docstring = ast.get_docstring(ast.parse(file.read())) or ""
    except (OSError, SyntaxError):
        return "(cannot be read)"
    first = docstring.strip().split("\n\n")[0]
    return " ".join(first.split()) or os.path.basename(path)
