"""Reads the two kinds of IWSLT files: tagged lines, and sets in XML."""

import os
import re
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

from mtl_tf.core.errors import DataError
from mtl_tf.datasets.lines import LineFile, count, short
from mtl_tf.datasets.parallel_lines import TextPair
from mtl_tf.datasets.sources import read_source, unpack

# Metadata of a talk have their own lines, not always in both files.
_META = re.compile(
    r"\s*</?(?:url|keywords|talkid|description|reviewer|translator|title|"
    r"speaker|doc|file|transcript|mteval|srcset|refset)\b.*"
)


class Talks(NamedTuple):
    """The contents of two files.

    Attributes:
        pairs: pairs of source and target text.
        contents: the bytes of both files.
        warnings: warnings with counts.
    """

    pairs: list[TextPair]
    contents: tuple[bytes, bytes]
    warnings: list[str]


def read_tagged(source: str, target: str) -> Talks:
    """The pairs of `train.tags.*`: lines aligned after metadata are dropped.

    Args:
        source, target: the files' paths.

    Raises:
        DataError: the files have different numbers of lines of text.
    """
    files = [LineFile(path) for path in (source, target)]
    sides = [
        [line.strip() for line in file.lines if not _META.fullmatch(line)]
        for file in files
    ]
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{source} has {count(len(sides[0]), 'line')} of text, but "
            f"{target} has {len(sides[1]):,}, without those that are <...> "
            "alone: line n of one must be the translation of line n of the "
            "other"
        )
    warnings = [warning for file in files for warning in file.warnings]
    name = " and ".join(file.name for file in files)
    pairs = _whole_pairs(list(zip(*sides)), name, warnings)
    return Talks(pairs, (files[0].content, files[1].content), warnings)


def read_xml(source: str, target: str) -> Talks:
    """The pairs of `IWSLT16.*.xml`: segments matched by talk and number.

    Args:
        source, target: the files' paths.

    Raises:
        DataError: a file is no XML, or the files have different segments.
    """
    contents = read_source(source), read_source(target)
    sides = [
        _segments(path, content)
        for path, content in zip((source, target), contents)
    ]
    if list(sides[0]) != list(sides[1]):
        alone = [key for key in sides[0] if key not in sides[1]]
        alone += [key for key in sides[1] if key not in sides[0]]
        talk, number = (alone or list(sides[0]))[0]
        raise DataError(
            f"{source} has {count(len(sides[0]), 'segment')} and {target} "
            f"{len(sides[1]):,}: they are not the same or in another order; "
            f"see segment {number} of talk {talk}"
        )
    warnings: list[str] = []
    texts = [(text, sides[1][key]) for key, text in sides[0].items()]
    name = " and ".join(os.path.basename(path) for path in (source, target))
    return Talks(_whole_pairs(texts, name, warnings), contents, warnings)


def _segments(path: str, content: bytes) -> dict[tuple[str, str], str]:
    try:
        root = ElementTree.fromstring(unpack(path, content))
    except ElementTree.ParseError as error:
        line, column = error.position
        raise DataError(f"{path}:{line}: no XML, column {column}: {error}")
    except (LookupError, ValueError) as error:  # an unknown encoding
        raise DataError(f"{path}:1: no XML that can be read: {error}")
    segments: dict[tuple[str, str], str] = {}
    for talk, document in enumerate(root.iter("doc")):
        name = document.get("docid") or str(talk)
        for number, segment in enumerate(document.iter("seg"), 1):
            key = name, segment.get("id") or str(number)
            if key in segments:
                raise DataError(
                    f"{path}: segment {short(key[1])} of talk {short(name)} is "
                    "there twice; ids of segments must differ"
                )
            segments[key] = " ".join("".join(segment.itertext()).split())
    if not segments:
        raise DataError(f"{path}: no <seg> in any <doc>")
    return segments


def _whole_pairs(
    texts: list[TextPair], name: str, warnings: list[str]
) -> list[TextPair]:
    pairs = [pair for pair in texts if all(pair)]
    if not pairs:
        raise DataError(f"{name}: there is no pair in which both have a text")
    if skipped := len(texts) - len(pairs):
        warnings.append(
            f"{name}: {count(skipped, 'pair')} with an empty text skipped"
        )
    return pairs
