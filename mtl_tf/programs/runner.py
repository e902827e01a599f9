"""The runner of all programs: flags, help, errors, exit status.

A program module defines no flags on import. It describes itself as a `Program`
and passes that to `run`:

    PROGRAM = runner.Program(name="train", ...)


    def run() -> None:
        runner.run(PROGRAM)


    if __name__ == "__main__":
        run()

`run` is also the entry point of the console script, so `python -m launch.train`
and `mtl-train` behave the same. Each call has its own flag values, so several
programs can be imported and run in one process.
"""

import contextlib
import dataclasses
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import NoReturn

from absl import app, flags, logging

from mtl_tf.config_fields import fields, fields_page
from mtl_tf.core import own_functions, renewal
from mtl_tf.core.errors import (
    LOST_WORKER,
    ConfigError,
    Interrupted,
    LostWorker,
    MtlError,
)
from mtl_tf.core.names import hint
from mtl_tf.core.version import __version__
from mtl_tf.programs import (
    common_flags,
    completion,
    config_argument,
    config_files,
    console,
    freed_memory,
    lost_interrupts,
    quiet,
    usage,
)
from mtl_tf.programs.machine_errors import machine_error

# The modules of absl flags that every program takes.
_ABSL_MODULES = ("absl.app", "absl.flags", "absl.flags._flagvalues")
_ABSL_LOGGING = "absl.logging"
_HELP = ("help", "h", "?", "helpshort", "helpfull")
INTERRUPTED = 128 + signal.SIGINT
PIPE_CLOSED = 128 + signal.SIGPIPE
_SECONDS_TO_END = 15.0


@dataclasses.dataclass(frozen=True)
class Program:
    """The description of a program for the runner.

    Attributes:
        name: the module's name, such as `train`.
        summary: one or more sentences on what it does, for `--help`.
        main: called with the parsed flags; returns the exit status or None.
        define_flags: defines the program's flags on given flag values.
        examples: pairs (what it does, arguments) for `--help`.
        required: the names of required flags.
        takes_config: whether the program has `--config` and its overrides;
            `main` finds the locked `ConfigDict` as `flags.config`.
        config_optional: whether the default config is used without `--config`.
        arguments: the name of the list flag that takes positional arguments; ""
            if there are none.
        package: the package of the module in a checkout.
        script: the console script's name; `mtl-<name>` by default.
        tensorflow: whether to import TensorFlow (quietly) before `main`.
    """

    name: str
    summary: str
    main: Callable[[flags.FlagValues], int | None]
    define_flags: Callable[[flags.FlagValues], None]
    examples: Sequence[tuple[str, str]] = ()
    required: Sequence[str] = ()
    takes_config: bool = False
    config_optional: bool = False
    arguments: str = ""
    package: str = "launch"
    script: str = ""
    tensorflow: bool = True

    def installed_as(self) -> str:
        """The name of the console script."""
        return self.script or f"mtl-{self.name.replace('_', '-')}"

    def command(self) -> str:
        """The command that started this process, for messages and examples."""
        script = self.installed_as()
        started_as = os.path.basename(sys.argv[0])
        if started_as == script:
            return script
        return f"python -m {self.package}.{self.name}"


def run(program: Program, argv: Sequence[str] | None = None) -> NoReturn:
    """Parses the flags, runs the program and exits.

    The exit status is what `main` returns (None means 0); 1 after a mistake of
    the user's (one line on standard error, no traceback); 75 if another worker
    of the training was lost; 130 after Ctrl-C; 143 after SIGTERM; and 141 if
    the reader of standard output has gone.

    Args:
        program: the program to run.
        argv: the command line with the program's name; default `sys.argv`.
    """
    # A caller with its own command line continues in this process afterwards.
    may_renew = renewal.allowed if argv is None else contextlib.nullcontext
    if argv is None:
        freed_memory.keep()
    argv = list(sys.argv if argv is None else argv)
    with _user_errors_exit(program), may_renew():
        app.run(
            lambda values: _main(program, values),
            argv=argv,
            flags_parser=lambda arguments: parse(program, arguments),
        )
    raise AssertionError("app.run returned")


def parse(program: Program, argv: Sequence[str]) -> flags.FlagValues:
    """Parses a command line into new flag values.

    Args:
        program: the program.
        argv: the command line, starting with the program's name.

    Returns:
        The program's flags. With `takes_config`, `.config` is the config.

    Raises:
        ConfigError: the command line is wrong.
        SystemExit: status 0, after printing what `--help`, `--version`,
            `--bash_completion` or `--help_config` ask for.
    """
    argv = _read_flag_files(argv)
    values = _define(program)
    if _asks(argv, _HELP):
        _print_help(program, values, full="--helpfull" in argv)
        raise SystemExit(0)
    if _asks_version(argv, values):
        print(f"{program.command()} of mtl_tf {__version__}", flush=True)
        raise SystemExit(0)
    if _asks(argv, [completion.FLAG]):
        print(
            completion.script(
                program.installed_as(),
                _own_flags(values),
                program.takes_config,
            ),
            end="",
            flush=True,
        )
        raise SystemExit(0)
    if program.takes_config and _asks(argv, [usage.CONFIG_HELP]):
        print(fields_page.text(), flush=True)
        raise SystemExit(0)
    if program.takes_config:
        argv = _parse_config(program, argv, values)
    rest = _parse_flags(program, argv, values)
    if program.arguments and len(rest) > 1:
        named = values[program.arguments].value or []
        values[program.arguments].value = [*named, *rest[1:]]
    elif len(rest) > 1:
        raise ConfigError(
            f"unexpected argument {rest[1]!r}: flags are given as --name=value"
        )
    _check_required(program, values)
    flags.FLAGS.mark_as_parsed()
    if not _is_verbose(values):
        quiet.lower_log_level()
    return values


def _parse_flags(
    program: Program, argv: Sequence[str], values: flags.FlagValues
) -> list[str]:
    """Parses flags, and returns the positional arguments."""
    try:
        return values(argv)
    except flags.UnrecognizedFlagError as error:
        known = list(values) + (
            ["config", usage.CONFIG_HELP] if program.takes_config else []
        )
        raise ConfigError(
            f"unknown flag --{error.flagname}; "
            f"{_flag_hint(error.flagname, known, program.takes_config)} "
            f"({program.command()} --help lists all)"
        )
    except flags.Error as error:
        raise ConfigError(_one_line(str(error)))


def _parse_config(
    program: Program, argv: Sequence[str], values: flags.FlagValues
) -> list[str]:
    """Loads the config; returns the command line without `--config`."""
    specified, rest = config_argument.split(argv)
    if specified is None and not program.config_optional:
        # A mistyped --config is the likeliest cause, so check for it first.
        _parse_flags(program, config_argument.without_overrides(rest), values)
        names = ", ".join(sorted(config_files.shipped()))
        raise ConfigError(
            f"--config is missing: give one of {names}, or FILE.py"
        )
    return config_argument.define(specified, rest, values)


def _define(program: Program) -> flags.FlagValues:
    values = flags.FlagValues()
    for module, defined in flags.FLAGS.flags_by_module_dict().items():
        if module in (*_ABSL_MODULES, _ABSL_LOGGING):
            for flag in defined:
                if flag.name not in (*_HELP, "helpxml"):
                    flags.DEFINE_flag(flag, values, module_name=module)
    program.define_flags(values)
    return values


def _read_flag_files(argv: Sequence[str]) -> list[str]:
    try:
        return flags.FLAGS.read_flags_from_files(list(argv), force_gnu=False)
    except flags.Error as error:
        raise ConfigError(_one_line(str(error)))


def _asks(argv: Sequence[str], names: Sequence[str]) -> bool:
    """Whether a flag of these names, without a value, is given."""
    spellings = {f"{dash}{name}" for name in names for dash in ("-", "--")}
    end = argv.index("--") if "--" in argv else len(argv)
    return any(argument in spellings for argument in argv[1:end])


def _asks_version(argv: Sequence[str], values: flags.FlagValues) -> bool:
    # The version of an export is also a flag, but never given alone.
    alone = len(argv) == 2
    return _asks(argv, ["version"]) and ("version" not in values or alone)


def _print_help(program: Program, values: flags.FlagValues, full: bool) -> None:
    listed_flags = _own_flags(values, full)
    print(usage.text(program, listed_flags))
    sys.stdout.flush()


def _own_flags(values: flags.FlagValues, full: bool = False) -> list:
    """The flags in the help; with `full`, also all of absl's."""
    listed = [
        flag
        for module, defined in values.flags_by_module_dict().items()
        if module not in (*_ABSL_MODULES, _ABSL_LOGGING) or full
        for flag in defined
    ]
    return listed if full else [*listed, values["verbosity"]]


def _flag_hint(name: str, known: Sequence[str], takes_config: bool) -> str:
    paths = [path for path in fields.every() if path.split(".")[-1] == name]
    if paths and takes_config:
        flag = " or ".join(f"--config.{path}" for path in paths[:3])
        return f"did you mean {flag}?"
    nearest = hint(name, known)
    if not nearest.startswith("did you mean"):
        return "no flag has a name like it"
    return re.sub(r"'(\w+)'", r"--\1", nearest)


def _check_required(program: Program, values: flags.FlagValues) -> None:
    for name in program.required:
        if values[name].value in (None, "", []):
            help_text = _one_line(values[name].help or "").split(". ")[0]
            raise ConfigError(
                f"--{name} is missing: {help_text} "
                f"({program.command()} --help has examples)"
            )


def _is_verbose(values: flags.FlagValues) -> bool:
    return bool(values["verbosity"].present or values["v"].present)


def _main(program: Program, values: flags.FlagValues) -> int:
    """Runs the main function, and turns exceptions into a status."""
    console.set_up(verbose=_is_verbose(values))
    lost_interrupts.repeat()
    with _user_errors_exit(program, _is_verbose(values)):
        if program.takes_config:
            # Before TensorFlow's import, which takes seconds.
            from mtl_tf.config_fields import validation

            validation.validate(values.config.to_dict())
            for sentence in values["config"].messages:
                logging.info("%s", sentence)
        if program.tensorflow:
            quiet.import_tensorflow(quiet=not _is_verbose(values))
            common_flags.divide_cpu(values)
        status = program.main(values)
        sys.stdout.flush()
        return status or 0


@contextlib.contextmanager
def _user_errors_exit(
    program: Program, verbose: bool = False
) -> Iterator[None]:
    """Turns exceptions that are no defects into messages and a status.

    So it does with errors in the user's own code; with `verbose` these keep
    their tracebacks.
    """
    try:
        yield
    except LostWorker as error:
        # TensorFlow may wait for the lost worker when the process exits.
        _end_after(_SECONDS_TO_END, LOST_WORKER)
        _leave(LOST_WORKER, console.error_line(str(error)))
    except MtlError as error:
        _leave(1, console.error_line(str(error)))
    except app.UsageError as error:
        _leave(error.exitcode, console.error_line(str(error)))
    except Interrupted as stop:
        _leave(128 + stop.signal_number, f"{program.name}: {stop}")
    except KeyboardInterrupt:
        _leave(INTERRUPTED, f"{program.name}: interrupted")
    except BrokenPipeError:
        # Otherwise Python would complain again when it flushes at exit.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(int(PIPE_CLOSED))
    except Exception as error:
        if stop := _stop_behind(error):
            _leave(128 + stop.signal_number, f"{program.name}: {stop}")
        reason = machine_error(error) or _told_in_graph(error)
        if not reason and not verbose:
            reason = own_functions.complaint(error)
            reason += " (--verbosity=0 shows the traceback)" if reason else ""
        if not reason:
            raise
        _leave(1, console.error_line(reason))


def _stop_behind(error: Exception) -> Interrupted | None:
    """The signal behind an error that AutoGraph raised while tracing."""
    if type(error).__name__ != "StagingError":
        return None
    behind = error.__cause__ or error.__context__
    while behind is not None and not isinstance(behind, Interrupted):
        behind = behind.__cause__ or behind.__context__
    return behind


def _told_in_graph(error: Exception) -> str:
    """The message of an error of ours that a TensorFlow graph passes on."""
    if not type(error).__module__.startswith("tensorflow"):
        return ""
    found = re.search(r"\b(?:Config|Data|Run)Error: (.+)", str(error))
    return found[1] if found else ""


def _end_after(seconds: float, status: int) -> None:
    """Ends the process if it has not ended by itself after some time."""
    timer = threading.Timer(seconds, os._exit, [int(status)])
    timer.daemon = True
    timer.start()


def _leave(status: int, message: str) -> NoReturn:
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
    logging.flush()
    with contextlib.suppress(OSError):
        print(message, file=sys.stderr, flush=True)
    raise SystemExit(int(status))


def _one_line(text: str) -> str:
    return " ".join(text.split())
