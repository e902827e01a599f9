"""The texts that `export.check` is given."""

import pytest
from absl import flags as absl_flags

from export import check, exported_files
from mtl_tf.core.errors import ConfigError


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (["--text=a", "--text_pair=b\tc"], [("a", "b\tc")]),
        (
            ["--text=a", "--text=b", "--text_pair=c", "--text_pair=d\udce9"],
            [("a", "c"), ("b", "d\ufffd")],
        ),
        (["--text=a", "--text=b", "--text_pair=c"], "1 of --text_pair and 2"),
        (["--text_pair=c"], "1 of --text_pair and 0 of --text"),
    ],
)
def test_second_texts_stand_in_a_flag(monkeypatch, flags, expected):
    asked = []
    monkeypatch.setattr(
        check, "ask", lambda _, task, texts: asked.extend(texts) or []
    )
    values = absl_flags.FlagValues()
    check.define_flags(values)
    values(["check", "--model=m", "--task=pairs", *flags])
    if isinstance(expected, str):
        with pytest.raises(ConfigError, match=expected):
            check.main(values)
    else:
        check.main(values)
        assert asked == expected


@pytest.mark.parametrize(
    ("names", "text", "message"),
    [
        (["text"], ("a", "b"), "takes one text, got 'a"),
        (["text", "text_pair"], "a", r"text and text_pair \(--text, --text_pa"),
    ],
)
def test_texts_that_a_task_does_not_take(monkeypatch, names, text, message):
    for name, value in (
        ("checked_version", "m"),
        ("inputs_of", names),
        ("question_of", ""),
    ):
        monkeypatch.setattr(exported_files, name, lambda *_, v=value: v)
    with pytest.raises(ConfigError, match=message):
        check.ask("m", "task", [text])
