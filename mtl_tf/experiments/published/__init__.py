"""The papers' published figures by table: pure data, one file per paper."""

from collections.abc import Mapping

from mtl_tf.experiments.published.decanlp import DECANLP_2, DECANLP_3
from mtl_tf.experiments.published.meta_mtl import META_MTL_3, META_MTL_5
from mtl_tf.experiments.published.multi_target_nmt import (
    MULTI_TARGET_NMT_3,
    MULTI_TARGET_NMT_3_MULTI30K,
    MULTI_TARGET_NMT_4,
    MULTI_TARGET_NMT_4_MULTI30K,
)
from mtl_tf.experiments.published.rows import (
    BASELINE,
    COLUMNS,
    MULTI,
    PAPER,
    QUOTED,
    SINGLE,
    TRANSFER,
    PublishedRow,
    PublishedTable,
    PublishedTask,
)
from mtl_tf.experiments.published.shared_memory import (
    SHARED_MEMORY_3,
    SHARED_MEMORY_4,
)
from mtl_tf.experiments.published.transformer_sharing import (
    TRANSFORMER_SHARING_4_3,
)

__all__ = [
    "BASELINE",
    "COLUMNS",
    "MULTI",
    "PAPER",
    "QUOTED",
    "SINGLE",
    "TABLES",
    "TRANSFER",
    "PublishedRow",
    "PublishedTable",
    "PublishedTask",
]

TABLES: Mapping[str, PublishedTable] = {
    table.name: table
    for table in (
        SHARED_MEMORY_3,
        SHARED_MEMORY_4,
        META_MTL_3,
        META_MTL_5,
        TRANSFORMER_SHARING_4_3,
        MULTI_TARGET_NMT_3,
        MULTI_TARGET_NMT_4,
        MULTI_TARGET_NMT_3_MULTI30K,
        MULTI_TARGET_NMT_4_MULTI30K,
        DECANLP_2,
        DECANLP_3,
    )
}
