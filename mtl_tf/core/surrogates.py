"""Halves of surrogate pairs, which JSON can contain and UTF-8 cannot."""


def first_half(text: str) -> str:
    r"""The first half of a pair that stands alone, such as "\ud83d"; or ""."""
    # Most texts are ASCII, and for these this test is enough.
    if text.isascii():
        return ""
    found = (c for c in text if "\ud800" <= c <= "\udfff")
    return next((f"\\u{ord(c):04x}" for c in found), "")


def rule(half: str) -> str:
    """What is wrong with a text that has this half."""
    return (
        f"half of a surrogate pair ({half}) stands alone; write the whole "
        "character"
    )
