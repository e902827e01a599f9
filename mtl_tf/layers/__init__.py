"""Keras layers, one mechanism per file.

The layers named here also work in Keras models of one's own.
"""

from mtl_tf.layers.attention.transformer_encoder import TransformerEncoder
from mtl_tf.layers.crf.crf import CRF
from mtl_tf.layers.crf.loss import CRFLoss, best_tags
from mtl_tf.layers.dropout import Dropout
from mtl_tf.layers.recurrent.arc_ii import LocalGlobalLSTM
from mtl_tf.layers.recurrent.gru import GRU
from mtl_tf.layers.recurrent.hyper_lstm import HyperLSTM
from mtl_tf.layers.recurrent.lstm import LSTM
from mtl_tf.layers.recurrent.me_lstm import MELSTM
from mtl_tf.layers.recurrent.meta_lstm import MetaLSTM
from mtl_tf.layers.recurrent.shared_private import (
    ParallelSharedPrivate,
    SerialSharedPrivate,
)

__all__ = [
    "CRF",
    "GRU",
    "LSTM",
    "MELSTM",
    "CRFLoss",
    "Dropout",
    "HyperLSTM",
    "LocalGlobalLSTM",
    "MetaLSTM",
    "ParallelSharedPrivate",
    "SerialSharedPrivate",
    "TransformerEncoder",
    "best_tags",
]
