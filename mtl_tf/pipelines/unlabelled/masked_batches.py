"""Blocks of text with masked pieces, which an encoder learns to predict.

Texts are concatenated, each followed by the separator, and cut into blocks of
equal length (Liu et al. 2019, "RoBERTa", section 4.2, FULL-SENTENCES). The
blocks of a step, and their masked pieces, are functions of the seed and the
step.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence

import numpy as np
import tensorflow as tf

from mtl_tf.core import checks
from mtl_tf.core.random import generator
from mtl_tf.pipelines.unlabelled import text_blocks
from mtl_tf.text.pretrained.presets import Specials

#: Devlin et al. (2019), section 3.1: the share of pieces to predict. Of these,
#: the shares that are masked and replaced by another piece; the rest stay.
TOLD, MASKED, CHANGED = 0.15, 0.8, 0.1
_TEXTS_AT_ONCE = 1024


@dataclasses.dataclass(frozen=True)
class Masking:
    """How pieces are masked.

    Attributes:
        mask: the id of the mask piece.
        specials: ids that are never predicted.
        ordinary: int32 [n], the other ids; replacements are drawn from them.
        seed: the seed of all draws.
    """

    mask: int
    specials: frozenset[int]
    ordinary: np.ndarray
    seed: int


def cut_into_blocks(
    texts: Sequence[str],
    pieces_of: Callable[[tf.Tensor], tf.RaggedTensor],
    specials: Specials,
    length: int,
    seed: int,
) -> np.ndarray:
    """Concatenates texts in an order drawn by the seed, and cuts blocks.

    Args:
        texts: strings.
        pieces_of: string [n] -> int32 [n, None].
        specials: the pieces that begin a block, and end each text and block.
        length: the pieces of a block, including special ones.
        seed: the seed of the order.

    Returns:
        int32 [blocks, length], ids plus 1; the last block is padded with 0.
    """
    checks.positive_integer("length", length)
    order = generator(seed, "order of texts").permutation(len(texts))
    end = np.array(specials.end, np.int32)
    stream: list[np.ndarray] = []
    for first in range(0, len(order), _TEXTS_AT_ONCE):
        chosen = [texts[n] for n in order[first : first + _TEXTS_AT_ONCE]]
        pieces = pieces_of(tf.constant(chosen, tf.string))
        values, splits = pieces.values.numpy(), pieces.row_splits.numpy()
        for start, stop in zip(splits, splits[1:]):
            if stop > start:
                stream += [values[start:stop], end]
    whole = np.concatenate([*stream, np.zeros([0], np.int32)])
    before = np.array(specials.start, np.int32)
    room = length - len(before) - len(end)
    count = math.ceil(len(whole) / room)
    blocks = np.zeros([count, length], np.int32)
    blocks[:, : len(before)] = before + 1
    inside = np.full([count * room], -1, np.int32)
    inside[: len(whole)] = whole
    inside = inside.reshape(count, room)
    blocks[:, len(before) : len(before) + room] = inside + 1
    ends = np.sum(inside >= 0, 1) + len(before)
    for offset, piece in enumerate(end):
        blocks[np.arange(count), ends + offset] = piece + 1
    return blocks


def masked(
    blocks: np.ndarray, masking: Masking, draw: np.random.Generator
) -> dict[str, np.ndarray]:
    """Masks pieces of a batch.

    Args:
        blocks: int32 [B, T], ids plus 1, 0 is padding.
        masking: see `Masking`.
        draw: the random generator of the masks.

    Returns:
        "tokens" int32 [B, T], ids plus 1; "places" int32 [B, P], the indices of
        the pieces to predict, 15 % of a block's pieces but at least one;
        "pieces" int32 [B, P], the original pieces; "counted" float32 [B, P].
    """
    rows, length = blocks.shape
    most = max(1, round(TOLD * length))
    never = np.array([0, *(special + 1 for special in masking.specials)])
    ordinary = ~np.isin(blocks, never)
    scores = np.where(ordinary, draw.random(blocks.shape), 2.0)
    places = np.argsort(scores, axis=1, kind="stable")[:, :most]
    available = ordinary.sum(1)
    chosen = np.minimum(np.maximum(np.rint(TOLD * available), 1), available)
    counted = np.arange(most) < chosen[:, None]
    pieces = np.take_along_axis(blocks, places, 1) - 1
    fate = draw.random(places.shape)
    others = draw.choice(masking.ordinary, places.shape)
    new = np.where(fate < MASKED + CHANGED, others, pieces)
    new = np.where(fate < MASKED, masking.mask, new)
    tokens = blocks.copy()
    old = np.take_along_axis(tokens, places, 1)
    np.put_along_axis(tokens, places, np.where(counted, new + 1, old), 1)
    return {
        "tokens": tokens,
        "places": places.astype(np.int32),
        "pieces": np.maximum(pieces, 0).astype(np.int32),
        "counted": counted.astype(np.float32),
    }


def step_batch(
    blocks: np.ndarray, step: int, batch_size: int, masking: Masking
) -> dict[str, np.ndarray]:
    """The masked batch of a training step; each block once an epoch."""
    rows = text_blocks.rows_of_step(len(blocks), step, batch_size, masking.seed)
    draw = generator(masking.seed, "masks", int(step))
    return masked(blocks[rows], masking, draw)


def training_batches(
    blocks: np.ndarray,
    start: int,
    stop: int,
    batch_size: int,
    masking: Masking,
) -> tf.data.Dataset:
    """The batches of steps, one group each; see `MaskedLanguageModel`.

    "normalizer" is the number of predicted pieces, so that a step's loss is the
    mean over them.
    """
    return text_blocks.batches(
        start, stop, lambda step: step_batch(blocks, step, batch_size, masking)
    )
