"""The text of `--help`: wrapping, lists and defaults."""

from absl import flags

from mtl_tf.programs import runner, usage

_SUMMARY = """
Draws figures from runs, each of which has a name that you choose when
you start the program:

* curves: the losses of the runs, which are drawn from the first step to the
  last one
* gates: the gates

They are files.
"""


def help_of(config_optional: bool = False) -> str:
    """The help of a program with flags of each kind."""
    values = flags.FlagValues()
    flags.DEFINE_enum(
        "form",
        "wide",
        ("wide", "deep"),
        "form of the figure:\n* wide: a row.\n* deep: a column.",
        flag_values=values,
    )
    flags.DEFINE_enum(
        "axis", "x", ("x", "y"), "axis to scale", flag_values=values
    )
    flags.DEFINE_list(
        "cases", ["first", "second"], "cases to draw", flag_values=values
    )
    flags.DEFINE_multi_string(
        "text", [], "text; may be repeated", flag_values=values
    )
    program = runner.Program(
        name="draw",
        summary=_SUMMARY,
        main=lambda values: None,
        define_flags=lambda values: None,
        takes_config=True,
        config_optional=config_optional,
    )
    return usage.text(program, [values[name] for name in values])


def test_a_summary_may_have_a_list():
    lines = help_of().splitlines()
    start = lines.index("* gates: the gates")
    assert lines[start - 2 : start + 3] == [
        "* curves: the losses of the runs, which are drawn from the first "
        "step to the",
        "  last one",
        "* gates: the gates",
        "",
        "They are files.",
    ]


def test_options_that_a_flag_explains_are_not_listed_again():
    text = help_of()
    assert (
        "      form of the figure (default: wide):\n"
        "      * wide: a row.\n"
        "      * deep: a column.\n"
    ) in text
    assert "axis to scale. One of x, y (default: x)\n" in text


def test_lists_can_be_wrapped_and_repetition_is_told_once():
    text = help_of()
    assert "cases to draw (default: first, second)\n" in text
    assert "      text; may be repeated\n" in text


def test_a_config_that_can_be_left_out_is_in_brackets():
    assert "draw --config=... [flags]" in help_of()
    assert "draw [--config=...] [flags]" in help_of(config_optional=True)
