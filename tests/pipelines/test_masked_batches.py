"""Which pieces are masked, and how."""

import numpy as np
import tensorflow as tf

from mtl_tf.core.random import generator
from mtl_tf.pipelines.unlabelled import masked_batches
from mtl_tf.pipelines.unlabelled.masked_batches import Masking
from mtl_tf.text.pretrained.presets import Specials

SPECIALS = Specials((1,), (2,), (2,), 0, 3)
ORDINARY = np.arange(5, 500, dtype=np.int32)
MASKING = Masking(4, frozenset(range(5)), ORDINARY, seed=7)


def pieces_of(texts):
    """Texts of numbers."""
    return tf.strings.to_number(tf.strings.split(texts), tf.int32)


def test_blocks_hold_every_text_once_between_special_pieces():
    texts = ["11 12 13", "21", "", "31 32 33 34 35 36 37 38 39"]
    blocks = masked_batches.cut_into_blocks(texts, pieces_of, SPECIALS, 7, 0)
    assert blocks.shape == (4, 7)
    inside = []
    for block in blocks - 1:
        real = block[block >= 0].tolist()
        assert real[0] == 1 and real[-1] == 2
        inside += real[1:-1]
    assert (blocks[:-1] > 0).all()
    found = " ".join(map(str, inside)).split(" 2")
    assert sorted(f.strip() for f in found) == sorted(
        [*filter(None, texts), ""]
    )
    again = masked_batches.cut_into_blocks(texts, pieces_of, SPECIALS, 7, 0)
    np.testing.assert_array_equal(blocks, again)


def test_pieces_are_masked_as_devlin_et_al_have_it():
    """15 %, of which 80 % masked, 10 % another piece, 10 % as they were."""
    rng = np.random.default_rng(0)
    blocks = 1 + rng.choice(ORDINARY, (400, 62)).astype(np.int32)
    blocks[:, 0], blocks[:, -1] = 1 + 1, 2 + 1
    found = masked_batches.masked(blocks, MASKING, generator(1))
    assert found["counted"].all() and found["places"].shape == (400, 9)
    old = np.take_along_axis(blocks, found["places"], 1) - 1
    new = np.take_along_axis(found["tokens"], found["places"], 1) - 1
    np.testing.assert_array_equal(old, found["pieces"])
    assert old.min() >= 5
    assert abs(np.mean(new == 4) - 0.8) < 0.02
    assert abs(np.mean(new == old) - 0.1) < 0.02
    changed = (new != 4) & (new != old)
    assert abs(changed.mean() - 0.1) < 0.02 and new[changed].min() >= 5
    rest = found["tokens"] != blocks
    assert rest.sum() == (new != old).sum()


def test_short_and_empty_blocks_have_what_they_can():
    blocks = np.zeros([2, 20], np.int32)
    blocks[0, :4] = [2, 50, 60, 3]
    blocks[1, :2] = [2, 3]
    found = masked_batches.masked(blocks, MASKING, generator(1))
    assert found["counted"].sum(1).tolist() == [1, 0]
    assert found["places"][0, 0] in (1, 2)
    np.testing.assert_array_equal(found["tokens"][1], blocks[1])
    assert (found["tokens"][:, 4:] == 0).all()


def test_batches_are_functions_of_the_step_and_see_each_block_once():
    blocks = 1 + np.arange(5, 65, dtype=np.int32).reshape(6, 10)
    plain = masked_batches.step_batch(blocks, 3, 4, MASKING)
    seen = [
        masked_batches.step_batch(blocks, step, 4, MASKING) for step in range(3)
    ]
    rows = np.concatenate([one["pieces"][:, 0] for one in seen])
    assert np.bincount((rows - 5) // 10).tolist() == [2] * 6
    later = iter(masked_batches.training_batches(blocks, 3, 9, 4, MASKING))
    batch = next(later)
    assert int(batch["step"]) == 3
    for name, value in plain.items():
        np.testing.assert_array_equal(batch[name][0].numpy(), value)
    np.testing.assert_array_equal(
        batch["normalizer"].numpy(), [plain["counted"].sum()]
    )
