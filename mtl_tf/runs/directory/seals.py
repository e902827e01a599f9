"""Digests, in a run's directory, of what its weights depend on.

Rows of weights belong to words, slices to tasks, outputs to labels. They are
matched by position, and the files with these names can be edited, as can the
fields of the config that say what the model computes with the weights.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from typing import Any

from absl import logging

from mtl_tf.core import digests, files, own_functions
from mtl_tf.core.errors import RunError
from mtl_tf.runs.directory import own_files
from mtl_tf.runs.directory.run_directory import CODE, CODE_FOLDER, RunDirectory

FILE = digests.FILE
# The fields of the config that weights depend on, and their digest's name.
_FIELDS = ("model", "text")
_CONFIG = "config.json"
_OF_FIELDS = f"{_CONFIG}: {', '.join(_FIELDS)}"


def check(run: RunDirectory) -> None:
    """Refuses a run whose vocabulary, labels or thresholds were changed.

    So were the fields of its config that describe the model and its texts.

    For changed code of the user's own there is only a warning, as most changes
    do not affect the weights. Runs of older versions have no digests.

    Raises:
        RunError: a file has changed; the message names it.
    """
    if run.has(FILE):
        known = digests.read(run.file(FILE))
        digests.check(run.path, known, "the run was trained with")
        check_config(run)
    for path, digest in run.known_code().items():
        copy = _copy(run, path, digest)
        if not os.path.exists(path):
            if os.path.exists(copy) and digests.of_file(copy) == digest:
                logging.info("%s is gone; its copy %s is read.", path, copy)
                own_functions.stand_in(path, copy)
        elif digests.of_file(path) != digest:
            hint = f" What it was is in {copy}." if os.path.exists(copy) else ""
            logging.warning(
                "%s has changed since the run in %s began: what was trained "
                "with it may not fit any more.%s",
                path,
                run.path,
                hint,
            )


def check_config(run: RunDirectory) -> None:
    """Refuses a run whose config has another model or other text fields.

    Raises:
        RunError: it was changed after training began.
    """
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    if _OF_FIELDS in known and known[_OF_FIELDS] != _of_config(run):
        raise RunError(
            f"{run.file(_CONFIG)}: {' or '.join(_FIELDS)} has changed and is "
            "no longer what the run was trained with: answers would be wrong "
            "without a word. Restore it from a copy"
        )


def _of_config(run: RunDirectory) -> str:
    """The digest of the config's `_FIELDS` as they are in the file."""
    config = files.read_json(run.file(_CONFIG))
    known = config if isinstance(config, dict) else {}
    chosen = {name: _without_folders(known.get(name)) for name in _FIELDS}
    return digests.of_bytes(json.dumps(chosen, sort_keys=True).encode())


def _without_folders(value: Any) -> Any:
    """A value with paths of which only the last part is left.

    Files may move.
    """
    if isinstance(value, dict):
        return {name: _without_folders(part) for name, part in value.items()}
    if isinstance(value, list):
        return list(map(_without_folders, value))
    return os.path.basename(value) if isinstance(value, str) else value


def _copy(run: RunDirectory, path: str, digest: str) -> str:
    """The path of the run's copy of a user's code file."""
    return run.file(CODE_FOLDER, digest, os.path.basename(path))


def note_code(run: RunDirectory, config: Mapping[str, Any]) -> None:
    """Records digests of the user's own code files, and keeps copies.

    For files that have moved, the new paths are recorded.
    """
    known = run.known_code()
    of_name = {(os.path.basename(p), known[p]) for p in known}
    noted = {}
    for path in sorted(filter(os.path.isfile, own_files.code(config))):
        digest = digests.of_file(path)
        if known and (os.path.basename(path), digest) not in of_name:
            return  # the old record stays, and `check` warns
        noted[path] = digest
        copy = _copy(run, path, digest)
        if not os.path.exists(copy):
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with files.replacing(copy) as temporary:
                shutil.copyfile(path, temporary)
    if noted and noted != known:
        run.write(CODE, noted)


def has(run: RunDirectory, name: str) -> bool:
    """Whether the digest of a file is recorded."""
    return run.has(FILE) and name in digests.read(run.file(FILE))


def seal_config(run: RunDirectory) -> None:
    """Records the digest of the config's fields that weights depend on.

    A directory of prepared data alone, as that of a baseline, has no config.
    """
    if not run.has(_CONFIG):
        return
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    run.write(FILE, known | {_OF_FIELDS: _of_config(run)})


@contextlib.contextmanager
def renewed(run: RunDirectory, name: str) -> Iterator[None]:
    """Records the digest again of a file that the block writes anew.

    A run that is killed in between has none: with the old one, nothing could
    load it any more.
    """
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    if name in known:
        run.write(FILE, {n: known[n] for n in known if n != name})
    yield
    seal(run, name)


@contextlib.contextmanager
def config_renewed(run: RunDirectory) -> Iterator[None]:
    """Records the digest again of a config that the block may write anew.

    A run that is killed in between has none until it continues: its files may
    have moved, and the old digest would refuse it for good.
    """
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    if _OF_FIELDS in known:
        run.write(FILE, {n: known[n] for n in known if n != _OF_FIELDS})
    try:
        yield
    except Exception:  # The config was refused, and is as it was.
        if run.has(FILE):
            run.write(FILE, known)
        raise
    if run.has(FILE):
        seal_config(run)


def seal(run: RunDirectory, *names: str) -> None:
    """Records the digests of files, also of all files in folders.

    Args:
        run: the run's directory.
        *names: names of files or folders in it.
    """
    files = []
    for name in names:
        below = digests.files_below(run.file(name))
        files += [f"{name}/{path}" for path in below] or [name]
    known = digests.read(run.file(FILE)) if run.has(FILE) else {}
    run.write(FILE, known | digests.of_files(run.path, files))
