"""From raw strings to the word pieces of a pretrained encoder."""

import copy
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from mtl_tf.core import checks, files
from mtl_tf.core.errors import ConfigError, RunError
from mtl_tf.text.encoding.encoder import TOKENIZER_FILE
from mtl_tf.text.pretrained import preset_layers, presets
from mtl_tf.text.pretrained.presets import Specials
from mtl_tf.text.tokenizers.base_tokenizer import Tokenizer, valid_utf8
from mtl_tf.text.tokenizers.joining import cut_longest_first, cut_rows
from mtl_tf.text.tokenizers.piece_tokenizers import in_graph
from mtl_tf.text.tokenizers.tokenizers import make_tokenizer

#: Folder of the preset without weights, inside that of the vocabulary.
FOLDER = "encoder"
PIECES_FILE = "pieces.json"


class PieceEncoder:
    """Turns texts into ids of pieces, in Python, in `tf.data` and in exports.

    Ids are those of the preset plus 1, because 0 is padding everywhere here
    (`PretrainedEncoder` subtracts the 1). Special pieces are placed as in the
    preset: `[CLS] a [SEP]`, `[CLS] a [SEP] b [SEP]` for BERT.

    Args:
        tokenizer: the preset's tokenizer.
        specials: the preset's special pieces.
        backbone: config of the preset's backbone.
        words: splits texts into words, for tasks that need them.
        max_length: maximum number of pieces kept per text, including special
            ones, and of words kept per text that is given in words; 0 keeps
            all.
        reads_words: whether a task of the run needs words.

    Example:

    >>> encoder = PieceEncoder.load("run/vocabulary", max_length=400)
    >>> encoder.of_texts(tf.constant(["a good book"]))["tokens"].to_list()
    [[102, 1038, 2205, 2339, 103]]
    """

    characters = None
    casing = False
    rare_from = None

    def __init__(
        self,
        tokenizer: Any,
        specials: Specials,
        backbone: Mapping[str, Any],
        words: Tokenizer,
        max_length: int = 0,
        reads_words: bool = False,
    ):
        self.pieces_of = in_graph(tokenizer)
        self.specials, self.backbone = specials, dict(backbone)
        self.tokenizer = words
        self.max_length = checks.not_negative_integer("max_length", max_length)
        self.reads_words = reads_words
        self._preset_tokenizer = tokenizer
        least = self._reserved(2) + 2
        if 0 < max_length < least:
            raise ConfigError(
                f"text.max_length must be at least {least} with this "
                "model.encoder, which puts special pieces around texts, got "
                f"{max_length}"
            )
        if reads_words:
            words.check_words()

    def of_texts(self, texts: tf.Tensor) -> dict[str, tf.RaggedTensor]:
        """Returns the inputs that a model reads for texts; see `packed`.

        Args:
            texts: string [n], of any bytes.
        """
        return {"tokens": self.packed([texts])}

    def packed(self, texts: Sequence[tf.Tensor]) -> tf.RaggedTensor:
        """The pieces of texts that are joined to one input.

        Args:
            texts: string [n], of any bytes: the first text of each example, the
                second of each, ...

        Returns:
            int32 [n, None], never 0, `max_length` at most: the longest text is
            cut first.
        """
        parts = [self.pieces_of(valid_utf8(text)) for text in texts]
        if self.max_length:
            lengths = [part.row_lengths() for part in parts]
            room = self.max_length - self._reserved(len(texts))
            counts = cut_longest_first(lengths, room)
            parts = [cut_rows(part, n) for part, n in zip(parts, counts)]
        rows = parts[0].nrows()
        joined = [_repeated(self.specials.start, rows)]
        for number, part in enumerate(parts):
            if number:
                joined.append(_repeated(self.specials.separator, rows))
            joined.append(part)
        joined.append(_repeated(self.specials.end, rows))
        return tf.concat(joined, axis=1) + 1

    def of_words(self, words: tf.RaggedTensor) -> dict[str, tf.RaggedTensor]:
        """Returns the inputs that a model reads for given words.

        Every word is split separately. A word without a piece becomes the
        unknown piece. No piece is cut, however long the text is.

        Args:
            words: string [n, None], of any bytes.

        Returns:
            For each text's first `max_length` words, W of them: "words" int32
            [n, W], the position of each one's first piece, never 0; and
            "tokens" int32 [n, T], all their pieces.
        """
        if self.max_length:
            words = words[:, : self.max_length]
        pieces = self.pieces_of.of_words(valid_utf8(words.flat_values))
        empty = tf.equal(pieces.row_lengths(), 0)
        # At most one piece per row, only where there is no other piece.
        filler = tf.RaggedTensor.from_row_lengths(
            tf.fill([tf.reduce_sum(tf.cast(empty, tf.int32))], self._unknown),
            tf.cast(empty, tf.int64),
            validate=False,
        )
        pieces = tf.concat([pieces, filler], axis=1)
        ends = tf.cast(tf.cumsum(pieces.row_lengths()), tf.int32)
        starts = ends - tf.cast(pieces.row_lengths(), tf.int32)
        splits = words.row_splits
        before = tf.gather(tf.pad(ends, [[1, 0]]), splits[:-1])
        offset = len(self.specials.start)
        first = starts - tf.repeat(before, words.row_lengths()) + offset
        nested = tf.RaggedTensor.from_row_splits(pieces, splits, validate=False)
        rows = words.nrows()
        tokens = tf.concat(
            [
                _repeated(self.specials.start, rows),
                nested.merge_dims(1, 2),
                _repeated(self.specials.end, rows),
            ],
            axis=1,
        )
        return {"words": words.with_flat_values(first), "tokens": tokens + 1}

    def written(self, values: tf.Tensor | tf.RaggedTensor) -> tf.RaggedTensor:
        """The pieces of `packed` and `of_words`, without cutting.

        Args:
            values: texts, string [n], or words, string [n, None].

        Returns:
            string [n, None], without the special pieces around texts.
        """
        whole = copy.copy(self)
        whole.max_length = 0
        if isinstance(values, tf.RaggedTensor):
            ids = whole.of_words(values)["tokens"]
        else:
            ids = whole.packed([values])
        first, last = len(self.specials.start), -len(self.specials.end)
        ids = ids[:, first : last or None]
        return ids.with_flat_values(tf.gather(self.pieces, ids.flat_values))

    @property
    def unknown(self) -> int:
        """The id of the unknown piece; -1 if every text has pieces."""
        special = (*self.specials.start, *self.specials.end)
        return -1 if self._unknown in special else self._unknown + 1

    @property
    def _unknown(self) -> int:
        return self.specials.unknown

    def _reserved(self, texts: int) -> int:
        """The number of special pieces around `texts` joined texts."""
        between = (texts - 1) * len(self.specials.separator)
        return len(self.specials.start) + between + len(self.specials.end)

    @functools.cached_property
    def locate(self) -> Callable[[tf.Tensor], tuple[tf.RaggedTensor, ...]]:
        """Finds words and their positions; see `Tokenizer.locate`."""
        specs = [tf.TensorSpec([None], tf.string)]
        return tf.function(
            self.tokenizer.locate, input_signature=specs, autograph=False
        )

    @property
    def size(self) -> int:
        """The number of ids, including padding."""
        return int(self._preset_tokenizer.vocabulary_size()) + 1

    @functools.cached_property
    def pieces(self) -> list[str]:
        """The piece of each id; "" for padding."""
        return ["", *self.pieces_of.names]

    @property
    def tables(self) -> list[Any]:
        """The objects that an export must track."""
        return self.pieces_of.trackables

    def save(self, directory: str) -> None:
        """Writes the files of an encoder into `directory`.

        They are `tokenizer.json`, for the words, `pieces.json` and the folder
        `encoder`, a preset without weights.
        """
        files.make_directory(directory)
        config = self.tokenizer.get_config()
        files.write_json(os.path.join(directory, TOKENIZER_FILE), config)
        about = {**self.specials.to_json(), "reads_words": self.reads_words}
        files.write_json(os.path.join(directory, PIECES_FILE), about)
        folder = os.path.join(directory, FOLDER)
        files.make_directory(folder)
        presets.save(folder, self.backbone, self._preset_tokenizer)

    @classmethod
    def load(cls, directory: str, max_length: int = 0) -> "PieceEncoder":
        """Reads a saved encoder.

        Raises:
            MtlError: a file is missing or damaged.
        """
        path = os.path.join(directory, PIECES_FILE)
        about = files.read_json(path)
        try:
            reads_words = about.pop("reads_words")
            specials = Specials.of_json(about)
        except (AttributeError, KeyError, TypeError):
            raise RunError(f"{path} must hold the special pieces of an encoder")
        folder = os.path.join(directory, FOLDER)
        words = files.read_json(os.path.join(directory, TOKENIZER_FILE))
        return cls(
            presets.load_tokenizer(folder),
            specials,
            presets.read_config(folder),
            make_tokenizer(words, directory),
            max_length,
            reads_words,
        )


def of_preset(
    preset: str,
    words: Tokenizer,
    max_length: int = 0,
    reads_words: bool = False,
) -> PieceEncoder:
    """The encoder of a preset's pieces.

    Args:
        preset: see `mtl_tf.text.pretrained.presets`.
        words, max_length, reads_words: as in `PieceEncoder`.

    Raises:
        MtlError: the preset cannot be read.
    """
    tokenizer = presets.load_tokenizer(preset)
    specials = presets.specials_of(preset, tokenizer)
    # With the weights, so that unreadable weights or wrong sizes are reported
    # before anything is made for the encoder.
    backbone = presets.load_backbone(preset)
    preset_layers.warn_of_unread(preset, backbone)
    config = presets.serialized(backbone)
    presets.check_pieces(preset, config, int(tokenizer.vocabulary_size()))
    return PieceEncoder(
        tokenizer, specials, config, words, max_length, reads_words
    )


def _repeated(ids: Sequence[int], rows: tf.Tensor) -> tf.RaggedTensor:
    """The same ids in every row, int32 [rows, len(ids)]."""
    tiled = tf.tile(tf.constant(ids, tf.int32)[None], [rows, 1])
    return tf.RaggedTensor.from_tensor(tiled)
