"""The page of the config fields is what the code declares."""

import pathlib

from mtl_tf.config_fields import fields, fields_page
from mtl_tf.config_fields.field import Field

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "config_fields.md"


def test_the_page_is_up_to_date():
    """`python -m mtl_tf.config_fields.fields_page > docs/config_fields.md`."""
    assert PAGE.read_text(encoding="utf-8") == fields_page.markdown()


def test_every_field_has_a_row_with_its_default_rule_and_sentence():
    page = fields_page.markdown()
    for path, field in fields.every().items():
        if isinstance(field, Field):
            start = f"| `{path}` | `{field.default!r}` | {field.rule.words} |"
            assert page.count(f"{start} {field.doc}") == 1


def test_fields_of_one_task_type_say_so_once():
    page = fields_page.markdown()
    rows = [line for line in page.splitlines() if "`model.tagging" in line]
    # The first row is the group's; its fields do not repeat it.
    assert len(rows) > 2
    told = ["For tagging tasks only." in row for row in rows]
    assert told == [True] + [False] * (len(rows) - 1)
