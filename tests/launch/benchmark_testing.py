"""Sizes with which every case of the benchmark runs in seconds."""

from launch.benchmark_sizes import Sizes

SMALL = Sizes(
    tasks=3,
    embedding=4,
    units=3,
    meta_units=2,
    meta_vector=2,
    memory_tasks=2,
    memory_embedding=4,
    memory_slots=3,
    memory_width=2,
    transformer_units=6,
    transformer_layers=2,
    transformer_heads=2,
    transformer_feed_forward=5,
    transformer_length=7,
    transformer_batch=3,
    vocabulary=20,
    length=5,
    batches=(16,),
    corpus_vocabulary=30,
    corpus_examples=40,
    corpus_length=4,
    corpus_longest=9,
    corpus_batch=4,
    buckets=2,
    pipeline_steps=3,
    latency_calls=2,
    optimizer_vocabularies=(20, 30),
    round_seconds=0.0,
)
