"""Previews of tasks as lines of text."""

from collections.abc import Iterator, Sequence

import numpy as np

from mtl_tf.evaluation.tables import folding
from mtl_tf.runs.data.task_preview import ShownExample, TaskPreview
from mtl_tf.text.encoding.token_columns import CUT, SPECIAL, UNKNOWN, ShownToken

HEAD = (
    "task",
    "split",
    "read as",
    "examples",
    "mean",
    "95 %",
    "longest",
    "unknown %",
    "cut %",
    "left out",
)
LEGEND = (
    "[?word] is not in the vocabulary, <name> a special token, and [cut 3] "
    "stands where 3 tokens of a text are left out. Lengths are those of whole "
    "texts in tokens."
)


def rows(previews: Sequence[TaskPreview]) -> Iterator[tuple[str, ...]]:
    """The rows of a table below `HEAD`, one for each split and text."""
    for preview in previews:
        for texts in preview.texts:
            lengths = texts.lengths
            if not len(lengths):
                lengths = np.zeros([1], np.int64)
            high = np.quantile(lengths, 0.95, method="inverted_cdf")
            yield (
                preview.name,
                texts.split,
                _joined(texts.texts),
                f"{len(texts.lengths):,}",
                f"{lengths.mean():.1f}",
                f"{high:,.0f}",
                f"{lengths.max():,}",
                f"{100 * texts.unknown:.1f}",
                "-" if texts.cut is None else f"{100 * texts.cut:.1f}",
                ", ".join(f"{k} {n:,}" for k, n in texts.left_out.items())
                or "-",
            )


def examples(
    previews: Sequence[TaskPreview], columns: int | None = None
) -> Iterator[str]:
    """Lines of the examples, followed by a legend of the marks.

    Args:
        previews: previews of the tasks.
        columns: the largest line length; None for no limit.
    """
    for preview in previews:
        for example in preview.examples:
            yield f"{preview.name}: {example.place}"
            for line in _lines(example):
                yield from ("  " + part for part in _fold(line, columns))
            yield ""
    yield from folding.wrapped(LEGEND, columns)


def _fold(line: str, columns: int | None) -> list[str]:
    return folding.wrapped(line, columns and max(columns - 2, 20))


def _lines(example: ShownExample) -> Iterator[str]:
    for name, text in example.raw.items():
        # A text with line breaks is also printed as one line.
        yield f"{name}: {' '.join(text.split())}"
    for names, tokens in example.tokens.items():
        read = " ".join(map(_mark, tokens))
        yield f"{_joined(names)} as read: {read}"
    for name, target in example.targets.items():
        yield f"{name}: {target}"


def _joined(names: Sequence[str]) -> str:
    return " + ".join(names)


def _mark(token: ShownToken) -> str:
    if token.kind == UNKNOWN:
        return f"[?{token.text}]"
    if token.kind == CUT:
        return f"[cut {token.text}]"
    if token.kind == SPECIAL and not token.text.startswith(("<", "[")):
        return f"<{token.text}>"
    return token.text
