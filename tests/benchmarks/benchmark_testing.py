"""Sizes with which every case of the benchmark runs in seconds."""

import math

from mtl_tf.benchmarks import contestants as contestants
from mtl_tf.benchmarks.sizes import Sizes

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
    encoder_units=6,
    encoder_layers=2,
    encoder_heads=2,
    encoder_length=7,
    encoder_batch=3,
    translation_units=4,
    translation_vocabulary=20,
    translation_batch=6,
    translation_length=3,
    translation_sentences=70,
    mqan_vocabulary=60,
    mqan_generative=40,
    mqan_embedding=6,
    mqan_units=4,
    mqan_feed_forward=5,
    mqan_heads=2,
    mqan_blocks=2,
    mqan_batch=4,
    mqan_context=7,
    mqan_question=3,
    mqan_answer=4,
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
    round_seconds=0.0,
    scaled=((1, 3), (2, 5), (10, 30), (4, 9), (1, 2)),
)


def numbers(result):
    for row in result["rows"]:
        for name, value in row.items():
            if not isinstance(value, (str, list)):
                yield name, value


def check_form(result):
    assert set(result) == {"rows", "targets", "notes"}
    assert all(row.keys() == result["rows"][0].keys() for row in result["rows"])
    for name, value in numbers(result):
        assert math.isfinite(value), name
        assert value > 0, name
    for target in result["targets"]:
        least = target["rule"] == "at least"
        difference = target["value"] - target["limit"]
        assert target["met"] == ((difference if least else -difference) >= 0)


def column(result, name):
    return [row[name] for row in result["rows"]]
