r"""Subwords learnt from a run's training texts, by SentencePiece.

Why SentencePiece and not the byte pairs of keras_nlp: it learns offline in
seconds with only its own package, equal texts give equal models, it joins
pieces to text by itself, and TF-Text runs it in the graph by two ops without
state. The tokenizer of keras_nlp does not learn, and keeps a mutable table in
the graph, which cannot be exported. We call the package itself, because
`keras_nlp.tokenizers.compute_sentence_piece_proto` has no option to accept that
few texts give fewer pieces than requested.
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
from mtl_tf.text.tokenizers import escaping
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer
from mtl_tf.text.tokenizers.escaping import CARRIED_SPACE

MODELS = ("bpe", "unigram")
MODEL_FILE = "sentencepiece.model"
#: Number of pieces if `text.max_size` sets no limit.
DEFAULT_SIZE = 8000


class SentencePieceTokenizer(Tokenizer):
    """Splits texts into subwords; `▁` before a piece is a carried space.

    It must be trained before it is called. It reads any run of ASCII white
    space, and U+2581, as one space. Apart from this and from spaces at its
    ends, `detokenize` restores the text.

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
            # Made at once, like tables. A resource that is made while a graph
            # is traced would be missing from the export.
            with tf.init_scope():
                self._graph = _graph_of(proto)

    @property
    def needs_training(self) -> bool:
        """Whether `trained` must be called first."""
        return not self._proto

    def trained(
        self, batches: Iterable[tf.Tensor], size: int
    ) -> "SentencePieceTokenizer":
        """Returns an equal tokenizer that has learnt its pieces.

        Args:
            batches: the training texts, strings [n].
            size: maximum number of pieces; fewer if the texts do not have as
                many. 0 means 8,000.

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
                # The maximum, in bytes. Longer texts, by default those above
                # 4,192, are silently left out.
                max_sentence_length=2**30,
                num_threads=1,  # otherwise equal texts may give unequal models
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
        """The written pieces that a vocabulary must contain."""
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
        """The objects that an export must track."""
        return [] if self._graph is None else [self._graph]

    def get_config(self) -> dict[str, Any]:
        """Returns the config for `make_tokenizer`, without the model's file."""
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
        """Raises `ConfigError`, because tokens are parts of words."""
        raise ConfigError(
            "the sentencepiece tokenizer makes parts of words: tagging, "
            "characters and casing need the whitespace or the regex tokenizer"
        )

    def alone(self, words: tf.Tensor) -> tf.Tensor:
        """The written tokens of words with a space on each side."""
        return CARRIED_SPACE + escaping.write_in_graph(words, "\\")

    def detokenize(self, tokens: tf.RaggedTensor) -> tf.Tensor:
        """Joins the written tokens [n, None] of each text: string [n].

        As in splitting, a run of spaces becomes one, and spaces at the ends are
        removed, because models can generate or copy pieces that are only a
        space.
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
    """Texts that end where reading them fails; `check` raises the error.

    SentencePiece would wrap the error in one of its own.
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
        """Raises the error that ended the texts early, if there was one."""
        if self._error is not None:
            raise self._error


def _spaced(texts: tf.Tensor) -> tf.Tensor:
    """The texts with each run of ASCII white space as one space."""
    return tf.strings.regex_replace(texts, r"[\t\n\v\f\r ]+", " ")


def _too_few(size: int, error: str) -> str:
    """The error message if SentencePiece cannot learn this many pieces."""
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

    # Hides its repeated message that it does not normalise, as configured.
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
