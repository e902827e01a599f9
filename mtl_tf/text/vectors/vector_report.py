"""Reports which words a file of vectors covers, also for each task."""

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Coverage:
    """How much of a task's training text has pretrained vectors.

    Attributes:
        name: the task.
        types: number of different tokens of the task.
        types_found: how many of them have a vector.
        tokens: number of running tokens of the task.
        tokens_found: how many of them have a vector.
    """

    name: str
    types: int
    types_found: int
    tokens: int
    tokens_found: int

    def __str__(self) -> str:
        return (
            f"{self.name}: {_share(self.types_found, self.types)} types, "
            f"{_share(self.tokens_found, self.tokens)} tokens"
        )


@dataclasses.dataclass(frozen=True)
class VectorReport:
    """The findings of `load_vectors`.

    Attributes:
        path: the file.
        dimension: numbers per word.
        words: vocabulary size without padding and the unknown word.
        found_tokens: vocabulary tokens that have a vector.
        rows: rows of the file, header not counted.
        header_rows: the header's number of rows; None without header.
        skipped: blank lines.
        duplicates: further rows of vocabulary words, not used.
    """

    path: str
    dimension: int
    words: int
    found_tokens: frozenset[str] = dataclasses.field(repr=False)
    rows: int
    header_rows: int | None
    skipped: int
    duplicates: int

    @property
    def words_found(self) -> int:
        """The number of vocabulary words that have a vector."""
        return len(self.found_tokens)

    @property
    def missing(self) -> int:
        """The number of vocabulary words without a vector."""
        return self.words - self.words_found

    @property
    def header_lies(self) -> bool:
        """Whether there is a header with a wrong number of rows."""
        return self.header_rows is not None and self.header_rows != self.rows

    def coverage(self, name: str, counts: Mapping[str, int]) -> Coverage:
        """Returns how much of a task the vectors cover.

        Args:
            name: the task.
            counts: how often each written token occurs in its training texts,
                as `Vocabulary.count` returns it. Tokens outside of the
                vocabulary count as not covered.
        """
        covered = [token for token in counts if token in self.found_tokens]
        return Coverage(
            name=name,
            types=len(counts),
            types_found=len(covered),
            tokens=sum(counts.values()),
            tokens_found=sum(counts[token] for token in covered),
        )

    def summary(self) -> str:
        """Returns one line for the log."""
        return (
            f"{self.path}: vectors for "
            f"{_share(self.words_found, self.words)} words "
            f"of the vocabulary, from {self.rows} rows of {self.dimension} "
            f"numbers; the other {self.missing} start at random"
        )

    def warnings(self) -> list[str]:
        """Returns oddities of the file, one line each."""
        warnings = []
        if self.header_lies:
            warnings.append(
                f"{self.path}:1: the header promises {self.header_rows} rows, "
                f"the file has {self.rows}"
            )
        if self.skipped:
            warnings.append(f"{self.path}: skipped {self.skipped} blank lines")
        if self.duplicates:
            warnings.append(
                f"{self.path}: {self.duplicates} further rows of words seen "
                "before: the first row of a word counts"
            )
        if self.words and not self.words_found:
            warnings.append(f"{self.path}: no word of the vocabulary is in it")
        return warnings

    def to_json(self) -> dict[str, Any]:
        """Returns the report as a JSON object, without the list of words."""
        value = dataclasses.asdict(self)
        del value["found_tokens"]
        return {**value, "found": self.words_found, "missing": self.missing}


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole if whole else 0.0
    return f"{part} of {whole} ({percent:.1f} %)"
