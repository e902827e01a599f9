"""What a file of word vectors had for a vocabulary, and for each task."""

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Coverage:
    """How much of a task's training text has pretrained vectors.

    Attributes:
        name: the task.
        types: different tokens of the task.
        types_found: those among them that have a vector.
        tokens: running tokens of the task.
        tokens_found: those among them that have a vector.
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
    """What `load_vectors` found.

    Attributes:
        path: the file.
        dimension: numbers per word.
        missing_start: what the other words start from.
        words: vocabulary size without padding and the unknown word.
        found_tokens: vocabulary tokens that have a vector.
        rows: rows of the file, header not counted.
        header_rows: how many rows the header promises; None without header.
        skipped: blank lines.
        duplicates: further rows of vocabulary words, not used.
    """

    path: str
    dimension: int
    missing_start: str
    words: int
    found_tokens: frozenset[str] = dataclasses.field(repr=False)
    rows: int
    header_rows: int | None
    skipped: int
    duplicates: int

    @property
    def words_found(self) -> int:
        """How many words of the vocabulary have a vector."""
        return len(self.found_tokens)

    @property
    def missing(self) -> int:
        """How many words of the vocabulary have none."""
        return self.words - self.words_found

    @property
    def header_lies(self) -> bool:
        """Whether there is a header that promises another number of rows."""
        return self.header_rows is not None and self.header_rows != self.rows

    def coverage(self, name: str, counts: Mapping[str, int]) -> Coverage:
        """Returns what the vectors cover of a task.

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
            f"numbers; the other {self.missing} start from "
            f"{self.missing_start}"
        )

    def warnings(self) -> list[str]:
        """Returns what is odd about the file, one line each."""
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
        """Returns the numbers as a JSON object, without the list of words."""
        value = dataclasses.asdict(self)
        del value["found_tokens"]
        return {**value, "found": self.words_found, "missing": self.missing}


def _share(part: int, whole: int) -> str:
    percent = 100 * part / whole if whole else 0.0
    return f"{part} of {whole} ({percent:.1f} %)"
