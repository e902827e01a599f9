"""Counts what a program imports of the project, lazily or not.

    python build_support/import_closure.py launch/train.py [FOLDER]

prints, for each room, how many of its modules the program reaches through
import statements, those within functions among them, and in all how many
lines they have. FOLDER is the checkout, this one by default.
"""

import ast
import collections
import pathlib
import sys

TOPS = ("mtl_tf", "launch", "export")


def file_of(root: pathlib.Path, module: str) -> pathlib.Path | None:
    """The file of a module or a package; None if there is none."""
    path = root.joinpath(*module.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.is_file():
            return file
    return None


def imported(root: pathlib.Path, file: pathlib.Path) -> set[str]:
    """The project's modules that a file's import statements name."""
    package = list(file.relative_to(root).parts[:-1])
    names = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package[: len(package) - node.level + 1]
                base = ".".join([*above, *filter(None, [node.module])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return {name for name in names if name.split(".")[0] in TOPS}


def closure(root: pathlib.Path, start: pathlib.Path) -> set[pathlib.Path]:
    """The files that a file reaches, itself among them."""
    reached, waiting = set(), [start]
    while waiting:
        file = waiting.pop()
        if file in reached:
            continue
        reached.add(file)
        found = (file_of(root, name) for name in imported(root, file))
        waiting += [one for one in found if one]
    return reached


def main(arguments: list[str]) -> None:
    """Prints the table of a program."""
    default = pathlib.Path(__file__).resolve().parents[1]
    root = pathlib.Path(arguments[1]) if arguments[1:] else default
    files = closure(root, root / arguments[0])
    lines: collections.Counter[str] = collections.Counter()
    counts: collections.Counter[str] = collections.Counter()
    for file in files:
        room = "/".join(file.relative_to(root).parts[:-1][:2])
        counts[room] += 1
        lines[room] += len(file.read_text(encoding="utf-8").splitlines())
    for room, count in sorted(counts.items()):
        print(f"{room:<24}{count:>5} modules {lines[room]:>7} lines")
    print(f"{'in all':<24}{len(files):>5} modules {lines.total():>7} lines")


if __name__ == "__main__":
    main(sys.argv[1:])
