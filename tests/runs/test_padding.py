"""How much of an epoch is padding, with the pipelines of shipped configs."""

import numpy as np

from mtl_tf.configs import transformer_sharing_4_3
from mtl_tf.models.schemes.transformer import TransformerScheme
from mtl_tf.pipelines.batches import BatchPlan
from mtl_tf.pipelines.schedule.buckets import make_boundaries
from tests.pipelines.helpers import make_split, padding_share


def test_the_lengths_of_reviews_leave_little_padding():
    """Long-tailed lengths like those of FDU-MTL, with the shipped pipeline."""
    config = transformer_sharing_4_3.get_config()
    pipeline, longest = config.pipeline, config.text.max_length
    draw = np.random.default_rng(0)
    splits = []
    # No multiples of the batch: each task's last one is smaller.
    sizes = {"camera": 1397, "magazines": 1370, "software": 1315}
    for name, size in sizes.items():
        lengths = np.clip(draw.lognormal(4.5, 0.8, size), 1, longest)
        splits.append(make_split(name, lengths.astype(int)))
    every = np.concatenate([split.lengths for split in splits])
    boundaries = make_boundaries(
        pipeline.buckets, every, longest, pipeline.bucket_multiple
    )
    for trained in (splits, *([split] for split in splits)):
        plan = BatchPlan(
            trained,
            batch_size=pipeline.batch_size,
            boundaries=boundaries,
            mixing_config=pipeline.mixing.to_dict(),
            seed=0,
            static_shapes=TransformerScheme.static_shapes,
        )
        assert padding_share(plan) < 0.15
        steps = [-(-len(split) // pipeline.batch_size) for split in trained]
        assert plan.steps_per_epoch == sum(steps)
