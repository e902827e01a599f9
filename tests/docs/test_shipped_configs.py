"""The page of the configs has all that are shipped."""

import pathlib
import re

from mtl_tf.programs import config_files

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "configs.md"


def test_the_page_lists_every_shipped_config():
    page = PAGE.read_text(encoding="utf-8")
    listed = re.findall(r"^\| .*", page, re.MULTILINE)
    named = set(re.findall(r"`(\w+)[:`]", "\n".join(listed)))
    shipped = set(config_files.shipped())
    assert "quickstart" in shipped
    assert shipped <= named
