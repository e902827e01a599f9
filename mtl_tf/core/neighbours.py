"""Imports of the files next to a config."""

import contextlib
import os
import sys
import types
from collections.abc import Iterator


@contextlib.contextmanager
def importable(folder: str) -> Iterator[None]:
    """Makes modules of a folder importable, as for a script there.

    Afterwards `sys.path` and `sys.modules` are restored. Otherwise files of the
    same name from two configs would be confused.

    Args:
        folder: an absolute path.
    """
    hidden = _pop(_of_other_folders(folder))
    path, before = list(sys.path), set(sys.modules)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path[:] = path
        _pop([name for name in _of_folder(folder) if name not in before])
        sys.modules.update(hidden)


def _pop(names: list[str]) -> dict[str, types.ModuleType]:
    return {name: sys.modules.pop(name) for name in names}


def _of_other_folders(folder: str) -> list[str]:
    """Loaded modules with names of files in `folder`, from elsewhere."""
    names = {entry.removesuffix(".py") for entry in os.listdir(folder)}
    names -= {"mtl_tf", "__main__", *sys.stdlib_module_names}
    inside = set(_of_folder(folder))
    return [
        name
        for name in list(sys.modules)
        if name.partition(".")[0] in names
        and name not in inside
        and _is_local(folder, name.partition(".")[0])
    ]


def _is_local(folder: str, name: str) -> bool:
    """Whether `import name` would find code in `folder`."""
    path = os.path.join(folder, name)
    package = os.path.join(path, "__init__.py")
    return os.path.isfile(path + ".py") or os.path.isfile(package)


def _of_folder(folder: str) -> list[str]:
    """Loaded modules that `folder` has under their own names."""
    shadowed = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        name_parts = name.split(".")
        expected = os.path.join(folder, *name_parts)
        expected_files = (
            expected + ".py",
            os.path.join(expected, "__init__.py"),
        )
        if name_parts[0] != "mtl_tf" and file in expected_files:
            shadowed.append(name)
    return shadowed
