"""Texts in a page: nothing of them is markup, and long words may be broken."""

import re

from mtl_tf.analysis import html


def test_only_long_words_may_be_broken():
    link = "https://example.org/?a=1&b=2&page=" + "x" * 70
    cell = html.tag("td", f"Labels such as negative stay whole: {link}")
    pieces = cell.removeprefix("<td>").removesuffix("</td>").split("<wbr>")
    assert len(pieces) == 4  # An entity is one letter.
    assert "negative" in pieces[0] and pieces[0].endswith("&amp;b=2&amp;p")
    assert html.tag("td", "a" * 30) == f"<td>{'a' * 30}</td>"


def test_texts_are_escaped_and_markup_is_not():
    row = html.joined([html.tag("b", "<i>&"), "<i>&"], " ")
    assert row == "<b>&lt;i&gt;&amp;</b> &lt;i&gt;&amp;"


def test_a_long_text_is_folded_behind_its_beginning():
    text = " ".join(str(n) for n in range(200))
    folded = html.long_text(text)
    summary, rest = re.fullmatch(
        r"<details><summary>(.*) \u2026</summary>\n(.*)</details>", folded
    ).groups()
    assert text.startswith(summary) and rest == text
    assert html.long_text(text[:300]) == text[:300]
