"""Multi30k as question answering, as decaNLP casts translation."""

from mtl_tf.datasets.multi30k import CONFIGS as CONFIGS
