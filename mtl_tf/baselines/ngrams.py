"""Sparse TF-IDF features of encoded texts, shared between tasks or not."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mtl_tf.core.errors import ConfigError
from mtl_tf.pipelines.examples.encoded_split import Column, EncodedSplit

#: The column of a text's words; of further texts its name's ending.
TOKENS = "tokens"
_LAST_SPECIAL = 1  # 0 is padding, 1 every word that training does not have


class Counted(NamedTuple):
    """The n-grams of a split, one entry for each occurrence.

    Attributes:
        rows: int64 [n], the example of each.
        codes: int64 [n], a number for each kind of n-gram.
        examples: number of examples, also those without any.
    """

    rows: np.ndarray
    codes: np.ndarray
    examples: int


def scikit_learn() -> Any:
    """Imports scikit-learn, with the modules that this package uses.

    Raises:
        ConfigError: it is not installed.
    """
    try:
        import sklearn
        import sklearn.dummy
        import sklearn.feature_extraction.text
        import sklearn.linear_model
        import sklearn.multiclass
        import sklearn.svm
    except ImportError as error:
        raise ConfigError(
            "the linear baseline needs scikit-learn: "
            f"pip install 'mtl_tf[baselines]' ({error})"
        )
    return sklearn


def ngrams(split: EncodedSplit, vocabulary_size: int) -> Counted:
    """The words and the pairs of neighbouring words of all texts.

    Pairs with a word that is not in the vocabulary are left out like the
    word: it is known only of texts that nobody trains on. Where an example
    has several texts, each has n-grams of its own, and what the first one
    shares with another is there once more: under its own code, and under one
    that all such n-grams have.

    Args:
        split: the encoded texts.
        vocabulary_size: the word ids are below it.
    """
    texts = _by_text(split, vocabulary_size)
    kinds = vocabulary_size * (vocabulary_size + 1)
    parts = [(t.rows, t.codes + n * kinds) for n, t in enumerate(texts)]
    (first, *others), end = texts, len(texts) * kinds
    for other in others:
        keys = [text.rows * kinds + text.codes for text in (first, other)]
        rows, codes = np.divmod(np.intersect1d(*keys), kinds)
        parts += [(rows, end + codes), (rows, np.full(len(rows), end + kinds))]
        end += kinds + 1
    rows, codes = zip(*parts)
    return Counted(np.concatenate(rows), np.concatenate(codes), first.examples)


def _texts(split: EncodedSplit) -> list[Column]:
    """The words of each text of the examples, those of the first one first."""
    names = [name for name in split.columns if name.endswith(TOKENS)]
    names.sort(key=lambda name: (name != TOKENS, name))
    return [split.columns[name] for name in names]


def _by_text(split: EncodedSplit, vocabulary_size: int) -> list[Counted]:
    """The n-grams of each text of the examples; equal ones have one code."""
    return [_of_text(tokens, vocabulary_size) for tokens in _texts(split)]


def _of_text(tokens: Column, vocabulary_size: int) -> Counted:
    """The n-grams of one text of each example, with codes below V (V + 1)."""
    words = tokens.values.astype(np.int64)
    rows = np.repeat(np.arange(len(tokens)), tokens.lengths)
    known = words > _LAST_SPECIAL
    pairs = known[:-1] & known[1:] & (rows[:-1] == rows[1:])
    codes = vocabulary_size * (1 + words[:-1]) + words[1:]
    return Counted(
        np.concatenate([rows[known], rows[:-1][pairs]]),
        np.concatenate([words[known], codes[pairs]]),
        len(tokens),
    )


class _Columns:
    """Numbers codes in their order; codes never seen have no number."""

    def __init__(self, codes: np.ndarray):
        self.codes = np.unique(codes)

    def __len__(self) -> int:
        return len(self.codes)

    def counts(self, counted: Counted):
        """How often each example has each code, sparse [examples, columns]."""
        ones = np.ones(len(counted.codes))
        return self.matrix(counted.rows, counted.codes, ones, counted.examples)

    def matrix(self, rows: np.ndarray, codes: np.ndarray, values, examples):
        """A sparse matrix [examples, columns] that sums `values`."""
        from scipy import sparse

        columns = np.searchsorted(self.codes, codes)
        columns = np.minimum(columns, max(len(self) - 1, 0))
        seen = self.codes[columns] == codes if len(self) else codes < 0
        entries = (values[seen], (rows[seen], columns[seen]))
        return sparse.csr_matrix(entries, (examples, len(self)))


class _Likeness:
    """The cosines of the TF-IDF vectors of an example's texts.

    Args:
        train: the training split of each task.
        vocabulary_size: of the encoder.

    Attributes:
        columns: how many cosines an example has: of the first text with each
            other one.
    """

    def __init__(self, train: Sequence[EncodedSplit], vocabulary_size: int):
        self._vocabulary_size = vocabulary_size
        self.columns = max(len(_texts(split)) for split in train) - 1
        if not self.columns:
            return
        counted = [
            t for split in train for t in _by_text(split, vocabulary_size)
        ]
        self._shared = _Columns(np.concatenate([c.codes for c in counted]))
        if len(self._shared):
            self._weights = _tf_idf()
            self._weights.fit(stack([self._shared.counts(c) for c in counted]))

    def __call__(self, split: EncodedSplit):
        """The cosines of a split's examples, sparse [n, columns]."""
        from scipy import sparse

        texts = _by_text(split, self._vocabulary_size)
        cosines = np.zeros((texts[0].examples, self.columns))
        if len(self._shared) and len(cosines) and len(texts) > 1:
            first, *others = (
                self._weights.transform(self._shared.counts(text))
                for text in texts
            )
            for number, other in enumerate(others):
                products = first.multiply(other).sum(1)
                cosines[:, number] = np.asarray(products).ravel()
        return sparse.csr_matrix(cosines)


class Features:
    """TF-IDF vectors of 1-grams and 2-grams, learnt from training texts.

    Where examples have several texts, how alike these are is a feature, too:
    no weighted sum of n-grams tells it.

    Each row is (1 + log count) * idf, of length 1 (Salton and Buckley 1988).
    With `copies` each feature is there twice, once for all tasks and once for
    the row's own task (Daume 2007, "Frustratingly easy domain adaptation",
    equation 1), so that a linear model learns what tasks have in common and
    what is each one's own.

    Args:
        train: the training split of each task.
        vocabulary_size: of the encoder.
        copies: whether to add the tasks' own copies.
    """

    def __init__(
        self,
        train: Sequence[EncodedSplit],
        vocabulary_size: int,
        copies: bool,
    ):
        self.vocabulary_size = vocabulary_size
        counted = [ngrams(split, vocabulary_size) for split in train]
        self._shared = _Columns(np.concatenate([c.codes for c in counted]))
        rows = [self._shared.counts(c) for c in counted]
        self._weights, self._tasks = _tf_idf(), len(train) if copies else 0
        self._likeness = _Likeness(train, vocabulary_size)
        if len(self._shared):
            self._weights.fit(stack(rows))
        self._task_columns = None
        if copies:
            pairs = [
                self._own_codes(task, r.indices) for task, r in enumerate(rows)
            ]
            self._task_columns = _Columns(np.concatenate(pairs))

    def __len__(self) -> int:
        own = len(self._task_columns) if self._task_columns else 0
        return (
            len(self._shared) + own + self._likeness.columns * (1 + self._tasks)
        )

    def __call__(self, split: EncodedSplit, task: int):
        """The rows of a split of the `task`-th task, sparse [n, features]."""
        from scipy import sparse

        rows = self._shared.counts(ngrams(split, self.vocabulary_size))
        if rows.shape[0] and rows.shape[1]:
            rows = self._weights.transform(rows)
        parts = [rows]
        if self._likeness.columns:
            cosines = self._likeness(split)
            own = [cosines * (task == number) for number in range(self._tasks)]
            parts += [cosines, *own]
        if self._task_columns is not None:
            parts.append(self._of_task(rows, task))
        return sparse.hstack(parts, format="csr")

    def _of_task(self, rows, task: int):
        """The task's own copies of the features of n-grams."""
        entries = rows.tocoo()
        return self._task_columns.matrix(
            entries.row,
            self._own_codes(task, entries.col),
            entries.data,
            rows.shape[0],
        )

    def _own_codes(self, task: int, columns: np.ndarray) -> np.ndarray:
        return task * len(self._shared) + columns.astype(np.int64)


def _tf_idf() -> Any:
    """Scikit-learn's weighting of counts."""
    text = scikit_learn().feature_extraction.text
    return text.TfidfTransformer(sublinear_tf=True)


def stack(matrices: Sequence[Any]) -> Any:
    """Puts sparse matrices with equal columns one below the other."""
    from scipy import sparse

    return sparse.vstack(matrices, format="csr")
