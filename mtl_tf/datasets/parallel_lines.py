r"""Line-aligned files: line n of one translates line n of the other.

Lines end at `\n` and nowhere else, as in all our files. Files of unequal
length are an error, since nobody can say where they part. A pair with an empty
line on a side says nothing about translation: it is skipped and counted.
"""

from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, count

TextPair = tuple[str, str]


class AlignedLines(NamedTuple):
    """The pairs of two files.

    Attributes:
        pairs: source and target text, in the order of the lines.
        warnings: what was odd, counted, a sentence each.
    """

    pairs: list[TextPair]
    warnings: list[str]


def read_aligned(source: LineFile, target: LineFile) -> AlignedLines:
    """Reads the pairs of two files.

    Args:
        source, target: the files.

    Raises:
        DataError: they have not equally many lines, or no pair.
    """
    check_aligned(source, target)
    texts = [_texts(source), _texts(target)]
    pairs = [pair for pair in zip(*texts) if all(pair)]
    if not pairs:
        raise DataError(
            f"{source.path} and {target.path}: in no line both have a text"
        )
    warnings = [*source.warnings, *target.warnings]
    skipped = len(texts[0]) - len(pairs)
    if skipped:
        first = next(
            n for n, pair in enumerate(zip(*texts), 1) if not all(pair)
        )
        empty = [sum(not text for text in side) for side in texts]
        warnings.append(
            f"{source.name} and {target.name}: {count(skipped, 'pair')} with "
            f"an empty text skipped ({empty[0]:,} empty in the first file, "
            f"{empty[1]:,} in the second; first: line {first})"
        )
    return AlignedLines(pairs, warnings)


def check_aligned(source: LineFile, target: LineFile) -> None:
    """Raises `DataError` unless two files have equally many lines."""
    if len(source) != len(target):
        raise DataError(
            f"{source.path} has {count(len(source), 'line')}, but "
            f"{target.path} has {len(target):,}: they are not aligned; line n "
            "of one must be the translation of line n of the other"
        )


def _texts(file: LineFile) -> list[str]:
    first, *others = file.lines
    return [line.strip() for line in (first.removeprefix("\ufeff"), *others)]
