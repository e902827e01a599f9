"""The page of a run's files lists all of them."""

import inspect
import re

from mtl_tf.runs.directory import run_directory
from mtl_tf.tasks.reading import given_rows
from tests.source_files import ROOT, python_files

WRITTEN = re.compile(r"\b(?:write|check_or_write)\(\s*\"([a-z_]+\.json)\"")


def listed():
    """What the first column of the page's table names."""
    page = (ROOT / "docs" / "run_files.md").read_text(encoding="utf-8")
    table = page.partition("| file | what |")[2].partition("\n\n")[0]
    cells = re.findall(r"^\| (`.*?) \|", table, re.M)
    return {
        name.rstrip("/")
        for cell in cells
        for name in re.findall(r"`([^`]+)`", cell)
    }


def written():
    """The JSON files that the modules of a run write."""
    sources = [file.read_text() for file in python_files("mtl_tf/runs")]
    return {name for text in sources for name in WRITTEN.findall(text)}


def prepared():
    """What a run removes if it starts again before its first step."""
    source = inspect.getsource(run_directory.RunDirectory._forget)
    names = re.findall(r"\"([a-z_]+(?:\.json)?)\"", source)
    constants = re.findall(r"\b([A-Z_]{4,})\b", source)
    return {*names, *(getattr(run_directory, name) for name in constants)}


def test_all_files_of_a_run_are_listed():
    assert {"config.json", "vectors.json"} <= written()
    assert {"encoded", "own_code", "served"} <= prepared()
    names = written() | prepared() | {given_rows.FOLDER, "analysis.html"}
    assert names - listed() == set()
