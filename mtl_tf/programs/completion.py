"""Command-line completion in bash."""

import re
from collections.abc import Sequence

from absl import flags

from mtl_tf.config_fields import choices, field, fields
from mtl_tf.programs import config_files

#: The flag that prints the script.
FLAG = "bash_completion"

_SCRIPT = """\
# Completes {command}: source <({command} --{flag})
{function}() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" flag=""
  # To bash, = is a word of its own.
  if [[ $word == "=" ]]; then
    flag="${{COMP_WORDS[COMP_CWORD-1]}}" word=""
  elif [[ ${{COMP_WORDS[COMP_CWORD-1]}} == "=" ]]; then
    flag="${{COMP_WORDS[COMP_CWORD-2]}}"
  fi
  case "$flag" in
    "") COMPREPLY=($(compgen -W "{offered}" -- "$word")) ;;
{cases}
    *) COMPREPLY=() ;;
  esac
  [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2> /dev/null
}}
complete -o default -F {function} {command}
"""


def script(
    command: str, defined: Sequence[flags.Flag], takes_config: bool
) -> str:
    """The script that completes a program's flags and their values in bash.

    For flags without a list of values it completes file names.

    Args:
        command: the installed name, such as `mtl-train`.
        defined: the program's flags.
        takes_config: whether it has `--config` and overrides.
    """
    values = {flag.name: _values(flag) for flag in defined}
    offered = [f"--{flag.name}" + "=" * (not flag.boolean) for flag in defined]
    offered += ["--help", "--version"]
    if takes_config:
        paths = [
            path
            for path, setting in fields.every().items()
            if isinstance(setting, field.Field)
        ]
        offered += ["--config=", *(f"--config.{path}=" for path in paths)]
        values["config"] = sorted(config_files.shipped())
        for path in choices.fields():
            values[f"config.{path}"] = list(choices.names(path))
    cases = [
        f'    "--{name}") COMPREPLY=($(compgen -W "{" ".join(words)}" -- '
        '"$word")) ;;'
        for name, words in sorted(values.items())
        if words
    ]
    return _SCRIPT.format(
        command=command,
        flag=FLAG,
        function="_" + re.sub(r"\W", "_", command),
        offered=" ".join(sorted(offered)),
        cases="\n".join(cases),
    )


def _values(flag: flags.Flag) -> list[str]:
    return list(getattr(flag.parser, "enum_values", None) or [])
