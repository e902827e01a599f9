r"""Subwords learnt from a run's own training texts, by SentencePiece.

Why SentencePiece and not the byte pairs of keras_nlp: it learns offline in
seconds with nothing but its own package, equal texts give equal models, it
joins pieces to real text by itself, and TF-Text runs it in the graph by two
ops without state. The tokenizer of keras_nlp learns nothing, and keeps a
mutable table in the graph, which an export cannot have. We call the package
itself, since `keras_nlp.tokenizers.compute_sentence_piece_proto` cannot be told
that few texts give fewer pieces than asked for.
"""

import functools
import io
import itertools
import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks, files, standard_error
from mtl_tf.core.errors import ConfigError, DataError
from mtl_tf.text import escaping
from mtl_tf.text.base_tokenizer import Tokenizer
from mtl_tf.text.escaping import CARRIED_SPACE

MODELS = ("bpe", "unigram")
MODEL_FILE = "sentencepiece.model"
#: Pieces where `text.max_size` sets no limit.
DEFAULT_SIZE = 8000


class SentencePieceTokenizer(Tokenizer):
    """Splits texts into subwords; `▁` before a piece is a carried space.

    It has to be trained before it is called. Runs of ASCII white space are
    one space to it, and so is U+2581; otherwise `detokenize` gives the text
    back, without the space at its ends.

    Args:
        lowercase: lower-case the texts first.
        model: "bpe" (Sennrich et al. 2016) or "unigram" (Kudo 2018).
        proto: the trained model; b"" before training.

    Paper: T. Kudo and J. Richardson (2018), SentencePiece.
    """

    name = "sentencepiece"

    def __init__(
        self, lowercase: bool = False, model: str = "bpe", proto: bytes = b""
    ):
        super().__init__(lowercase)
        self.model = checks.one_of("tokenizer.model", model, MODELS)
        self._proto = proto
        self._graph = None
        if proto:
            # Made here and now, as tables are: a resource that is made while
            # a graph is traced would be lost to the export.
            with tf.init_scope():
                self._graph = _graph_of(proto)

    @property
    def needs_training(self) -> bool:
        """Whether `trained` has to come first."""
        return not self._proto

    def trained(
        self, batches: Iterable[tf.Tensor], size: int
    ) -> "SentencePieceTokenizer":
        """An equal tokenizer that has learnt its pieces.

        Args:
            batches: the training texts, strings [n].
            size: pieces at most, fewer if the texts do not have as many; 0
                for 8,000.

        Raises:
            ConfigError: `size` is too small for the characters of the texts.
            DataError: there is no text.
        """
        import sentencepiece

        size = checks.positive_integer("size", size or DEFAULT_SIZE)
        written = io.BytesIO()
        texts = _Guarded(self._plain(batches))
        rest = iter(texts)
        first = next(rest, None)
        texts.check()
        if first is None:
            raise DataError("there is no text to learn subwords from")
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=itertools.chain([first], rest),
                model_writer=written,
                model_type=self.model,
                vocab_size=size + 1,
                hard_vocab_limit=False,
                character_coverage=1.0,
                normalization_rule_name="identity",
                unk_id=0,
                pad_id=-1,
                bos_id=-1,
                eos_id=-1,
                # In bytes, the most it takes; longer texts are left out
                # without a word, by default those above 4,192.
                max_sentence_length=2**30,
                num_threads=1,  # else equal texts may differ in their models
                minloglevel=2,
            )
        except RuntimeError as error:
            texts.check()
            raise ConfigError(_too_few(size, str(error)))
        texts.check()
        return type(self)(self.lowercase, self.model, written.getvalue())

    def _plain(self, batches: Iterable[tf.Tensor]) -> Iterator[str]:
        for batch in batches:
            for text in _spaced(self.normalize(batch)).numpy().tolist():
                if text.strip():
                    yield text.decode()

    @functools.cached_property
    def pieces(self) -> list[str]:
        """The written pieces that a vocabulary has to hold."""
        import sentencepiece

        self._check_trained()
        model = sentencepiece.SentencePieceProcessor(model_proto=self._proto)
        count = model.get_piece_size()
        names = [model.id_to_piece(i) for i in range(count)]
        return [
            name.replace("\\", "\\\\")
            for i, name in enumerate(names)
            if not (model.is_unknown(i) or model.is_control(i))
        ]

    @property
    def trackables(self) -> list[Any]:
        """What an export has to track."""
        return [] if self._graph is None else [self._graph]

    def get_config(self) -> dict[str, Any]:
        """Returns what `make_tokenizer` needs, beside the model's file."""
        return {**super().get_config(), "model": self.model}

    def save(self, directory: str) -> None:
        """Writes the model's file into `directory`."""
        self._check_trained()
        path = os.path.join(directory, MODEL_FILE)
        with files.replacing(path) as temporary, open(temporary, "wb") as file:
            file.write(self._proto)

    def loaded(self, directory: str) -> "SentencePieceTokenizer":
        """An equal tokenizer with the model that was saved in `directory`.

        Raises:
            DataError: the file is missing or damaged.
        """
        path = os.path.join(directory, MODEL_FILE)
        try:
            with open(path, "rb") as file:
                proto = file.read()
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror}")
        _check_proto(path, proto)
        return type(self)(self.lowercase, self.model, proto)

    def check_words(self) -> None:
        """Raises `ConfigError`: tokens are parts of words."""
        raise ConfigError(
            "the sentencepiece tokenizer makes parts of words: tagging, "
            "characters and casing need the whitespace or the regex tokenizer"
        )

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words that stand between spaces."""
        return CARRIED_SPACE + escaping.write_in_graph(words, "\\")

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n].

        As when splitting, a run of spaces is one, and none is at an end:
        models write pieces that are but a space, or copy them.
        """
        joined = tf.strings.reduce_join(tokens, axis=-1)
        joined = tf.strings.regex_replace(joined, f"{CARRIED_SPACE}+", " ")
        joined = tf.strings.regex_replace(joined, "^ | $", "")
        return escaping.read_in_graph(joined)

    def _split(self, texts: tf.Tensor) -> tf.RaggedTensor:
        self._check_trained()
        pieces = self._graph.tokenize(_spaced(texts))
        written = escaping.write_in_graph(pieces.flat_values, "\\")
        return pieces.with_flat_values(written)

    def _check_trained(self) -> None:
        if self.needs_training:
            raise ConfigError(
                "the sentencepiece tokenizer knows no pieces before it is "
                "trained: here it takes another one (text.tokenizer)"
            )


class _Guarded:
    """Texts that end where reading them fails; `check` raises why.

    SentencePiece would put an error of its own around it.
    """

    def __init__(self, texts: Iterator[str]):
        self._texts = texts
        self._error: BaseException | None = None

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._texts
        except (Exception, KeyboardInterrupt) as error:
            self._error = error

    def check(self) -> None:
        """Raises what ended the texts early, if anything did."""
        if self._error is not None:
            raise self._error


def _spaced(texts: tf.Tensor) -> tf.Tensor:
    """The texts with a space for each run of ASCII white space."""
    return tf.strings.regex_replace(texts, r"[\t\n\v\f\r ]+", " ")


def _too_few(size: int, error: str) -> str:
    """What is wrong when SentencePiece cannot learn so many pieces."""
    too_few = re.search(r"required_chars\D+\d+ vs (\d+)", error)
    start = f"SentencePiece cannot learn {size} pieces from these texts"
    if not too_few:
        return f"{start} (text.max_size): {error}"
    characters = int(too_few[1]) - 1  # Without the unknown piece.
    return (
        f"{start}, which have {characters} different characters, the space "
        "too, and need a piece for each: raise text.max_size by at least "
        f"{characters - size}"
    )


def _graph_of(proto: bytes) -> Any:
    import tensorflow_text

    # That it does not normalise, as it is told, is no news each time.
    with standard_error.captured(rb"LOG\(INFO\)"):
        return tensorflow_text.SentencepieceTokenizer(
            model=proto, out_type=tf.string
        )


def _check_proto(path: str, proto: bytes) -> None:
    import sentencepiece

    try:
        sentencepiece.SentencePieceProcessor(model_proto=proto)
    except RuntimeError as error:
        raise DataError(f"{path} is no model of SentencePiece: {error}")
